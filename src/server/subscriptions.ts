import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { ListKind } from "../tool.ts";
import type { Exchange } from "../wire/requests.ts";
import { type ClientRequest, metaKeys } from "./client-request.ts";
import { requireRead } from "./policy.ts";
import { requireUse } from "./rights.ts";
import type { ServerParts } from "./server.ts";

/** `subscriptions/listen`: a request that stays open and receives notifications until it is cancelled. */
export async function listen(
  params: JsonObject,
  request: ClientRequest,
  parts: ServerParts,
): Promise<JsonObject> {
  const { exchange } = request;
  const wanted = params.notifications;
  if (!isObject(wanted)) throw new HallError("INVALID_PARAMS", "notifications must be an object");
  const asked = readUris(wanted.resourceSubscriptions);
  const kinds = listKinds.filter((kind) => wanted[filterOf[kind]] === true && !parts.isStatic);
  const _meta = { [metaKeys.subscription]: exchange.request.id };

  exchange.keepOpen();
  const news = createNews(exchange, _meta);
  const leave = [
    parts.onChange((kind) => {
      if (kinds.includes(kind)) news.notify(`notifications/${kind}/list_changed`);
    }),
  ];
  const uris: string[] = [];
  // Only what the servers have agreed to is acknowledged.
  const watching = asked.map(async (uri) => {
    leave.push(
      await watchResource(uri, request, parts, () =>
        news.notify("notifications/resources/updated", uri),
      ),
    );
    uris.push(uri);
  });
  if (asked.length > 0) await Promise.allSettled(watching);
  news.start({
    ...Object.fromEntries(kinds.map((kind) => [filterOf[kind], true])),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
  });
  return new Promise((resolve) => {
    const end = (): void => {
      for (const stop of leave) stop();
      resolve({ _meta });
    };
    if (exchange.scope.cancelReason) end();
    else exchange.scope.onCancel(end);
  });
}

/** The acknowledgement must be the first message. Changes before it are collected and sent right after it. */
function createNews(exchange: Exchange, _meta: JsonObject) {
  let early: Set<string> | undefined = new Set();
  const notify = (method: string, uri?: string): void => {
    if (early) early.add(JSON.stringify([method, uri]));
    else exchange.notify(method, uri === undefined ? { _meta } : { uri, _meta });
  };
  return {
    notify,
    start(notifications: JsonObject): void {
      exchange.notify("notifications/subscriptions/acknowledged", { notifications, _meta });
      const waiting = early ?? [];
      early = undefined;
      for (const frame of waiting) notify(...(JSON.parse(frame) as [string, string | undefined]));
    },
  };
}

const listKinds: readonly ListKind[] = ["tools", "resources", "prompts"];
const filterOf = {
  tools: "toolsListChanged",
  resources: "resourcesListChanged",
  prompts: "promptsListChanged",
} as const satisfies Record<ListKind, string>;
/** Limit of watched resources per client. */
const watchedMax = 1_000;

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

/**
 * Throws NOT_FOUND at once for an unknown URI, so that the request can wait for servers that are still being listed;
 * DENIED for one that the caller may not read. Rejects with the server's refusal.
 */
function watchResource(
  uri: string,
  { rights, caller }: Watcher,
  parts: ServerParts,
  changed: () => void,
): Promise<() => void> {
  const owned = parts.registry.getResourceOwner(uri);
  requireUse(rights, owned.toolkit);
  requireRead(owned, caller, parts);
  const watching = owned.toolkit.resources?.watch?.(owned.uri, changed);
  return Promise.resolve(watching).then((stop) => stop ?? (() => {}));
}

type Watcher = Pick<ClientRequest, "rights" | "caller">;

/** The resources that a legacy client watches. */
export class Watches {
  readonly #parts: ServerParts;
  readonly #changed: (uri: string) => void;
  readonly #watched = new Map<string, () => void>();

  constructor(parts: ServerParts, changed: (uri: string) => void) {
    this.#parts = parts;
    this.#changed = changed;
  }

  /** Answered once the server has agreed. */
  add(uri: string, watcher: Watcher): Promise<JsonObject> | JsonObject {
    if (this.#watched.has(uri)) return {};
    if (this.#watched.size >= watchedMax)
      throw new HallError("OVERLOADED", `too many subscriptions (limit: ${watchedMax} resources)`, {
        hint: "Unsubscribe from some of them first.",
      });
    const watching = watchResource(uri, watcher, this.#parts, () => this.#changed(uri));
    return this.#keep(uri, watching);
  }

  get uris(): readonly string[] {
    return [...this.#watched.keys()];
  }

  remove(uri: string): void {
    this.#watched.get(uri)?.();
    this.#watched.delete(uri);
  }

  close(): void {
    for (const stop of this.#watched.values()) stop();
  }

  async #keep(uri: string, watching: Promise<() => void>): Promise<JsonObject> {
    let isWanted = true;
    this.#watched.set(uri, () => {
      isWanted = false;
    });
    try {
      const stop = await watching;
      if (isWanted) this.#watched.set(uri, stop);
      else stop();
    } catch (error) {
      if (isWanted) this.#watched.delete(uri);
      throw error;
    }
    return {};
  }
}
