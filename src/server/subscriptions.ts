import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { ListKind } from "../tool.ts";
import { type ClientRequest, metaKeys } from "./client-request.ts";
import { mayUse, type Rights, requireUse } from "./rights.ts";
import type { ServerParts } from "./server.ts";

/** `subscriptions/listen`: a request that stays open and receives notifications until it is cancelled. */
export function listen(
  params: JsonObject,
  request: ClientRequest,
  parts: ServerParts,
): Promise<JsonObject> {
  const { exchange } = request;
  const wanted = params.notifications;
  if (!isObject(wanted)) throw new HallError("INVALID_PARAMS", "notifications must be an object");
  const uris = readUris(wanted.resourceSubscriptions).filter((uri) =>
    isServed(uri, request, parts),
  );
  const kinds = listKinds.filter((kind) => wanted[filterOf[kind]] === true && !parts.isStatic);
  const _meta = { [metaKeys.subscription]: exchange.request.id };

  exchange.keepOpen();
  exchange.notify("notifications/subscriptions/acknowledged", {
    notifications: {
      ...Object.fromEntries(kinds.map((kind) => [filterOf[kind], true])),
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    },
    _meta,
  });
  const leave = [
    parts.onChange((kind) => {
      if (kinds.includes(kind)) exchange.notify(`notifications/${kind}/list_changed`, { _meta });
    }),
    ...uris.map((uri) =>
      watchResource(uri, request.rights, parts, () =>
        exchange.notify("notifications/resources/updated", { uri, _meta }),
      ),
    ),
  ];
  return new Promise((resolve) => {
    exchange.scope.onCancel(() => {
      for (const stop of leave) stop();
      resolve({ _meta });
    });
  });
}

const listKinds: readonly ListKind[] = ["tools", "resources", "prompts"];
const filterOf = {
  tools: "toolsListChanged",
  resources: "resourcesListChanged",
  prompts: "promptsListChanged",
} as const satisfies Record<ListKind, string>;
/** Limit of watched resources per client. */
export const watchedMax = 1_000;

function readUris(uris: unknown): readonly string[] {
  if (uris === undefined) return [];
  if (
    !Array.isArray(uris) ||
    uris.length > watchedMax ||
    !uris.every((uri) => typeof uri === "string")
  ) {
    throw new HallError(
      "INVALID_PARAMS",
      `resourceSubscriptions must be a list of at most ${watchedMax} URIs`,
    );
  }
  return uris;
}

function isServed(uri: string, { rights }: ClientRequest, { registry }: ServerParts): boolean {
  try {
    return mayUse(rights, registry.getResourceOwner(uri).toolkit);
  } catch {
    // Unknown URIs are not acknowledged.
    return false;
  }
}

/** Throws NOT_FOUND for an unknown URI, DENIED for one that the caller may not read. */
export function watchResource(
  uri: string,
  rights: Rights,
  { registry }: ServerParts,
  changed: () => void,
): () => void {
  const owned = registry.getResourceOwner(uri);
  requireUse(rights, owned.toolkit);
  return owned.toolkit.resources?.watch?.(owned.uri, changed) ?? (() => {});
}
