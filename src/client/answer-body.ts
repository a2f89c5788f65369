import { isObject } from "../base/json.ts";
import { type Id, isId } from "../wire/message.ts";

/** An error status whose body is a JSON-RPC answer says what is wrong better than the status does. */
export function isAnswer(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return (
      isObject(value) &&
      value.jsonrpc === "2.0" &&
      isId(value.id) &&
      ("error" in value || "result" in value)
    );
  } catch {
    // Not JSON: then the status is all there is.
    return false;
  }
}

export function answersTo(data: string, id: Id): boolean {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) && value.id === id && value.method === undefined;
  } catch {
    // Not a message; the peer counts it.
    return false;
  }
}

/** Marks what a server asks or says on the stream of a request: it belongs to that one, and to the client behind it. */
export const ownerKey = "guildhall/call";

export function withOwner(data: string, owner: unknown): string {
  if (owner === undefined || !data.includes('"method"')) return data;
  try {
    const message: unknown = JSON.parse(data);
    if (
      !isObject(message) ||
      message.method === undefined ||
      (message.params !== undefined && !isObject(message.params))
    )
      return data;
    const meta = isObject(message.params?._meta) ? message.params._meta : {};
    return JSON.stringify({
      ...message,
      params: { ...message.params, _meta: { ...meta, [ownerKey]: owner } },
    });
  } catch {
    // Not a message; the peer counts it.
    return data;
  }
}
