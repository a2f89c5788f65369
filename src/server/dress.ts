import { isObject, type JsonObject } from "../base/json.ts";
import { Prepared } from "../wire/message.ts";
import { metaKeys } from "./versions.ts";

/** What a modern client may keep, and for how long. Nothing is shared between callers. */
const cachedMs: Readonly<Record<string, number>> = {
  "server/discover": 60_000,
  "tools/list": 60_000,
  "resources/list": 60_000,
  "resources/templates/list": 60_000,
  "prompts/list": 60_000,
  "resources/read": 0,
};

/** A result with what the modern era puts on every one: its type, how long it may be kept, and who we are. */
export function dressModern(
  method: string,
  result: unknown,
  info: JsonObject,
): JsonObject | Prepared {
  const body = isObject(result) ? result : {};
  const ttlMs = cachedMs[method];
  const hints =
    ttlMs === undefined || body.resultType === "input_required"
      ? {}
      : { ttlMs, cacheScope: "private" };
  const serverInfo = { [metaKeys.serverInfo]: info };
  if (result instanceof Prepared) {
    const dress = JSON.stringify({ resultType: "complete", ...hints, _meta: serverInfo });
    return new Prepared(`${dress.slice(0, -1)},${result.text.slice(1)}`);
  }
  return {
    resultType: "complete",
    ...hints,
    ...body,
    _meta: { ...(isObject(body._meta) ? body._meta : {}), ...serverInfo },
  };
}
