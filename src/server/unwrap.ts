import { isObject } from "../base/json.ts";
import { readToolCall } from "../toolkits/find/find.ts";
import type { Request } from "../wire/message.ts";

/**
 * A request to call `call_tool` is the request to call the tool it names: asked, reported, cancelled and refused as such.
 * Throws VALIDATION when it does not say which.
 */
export function unwrapCall(request: Request): Request {
  const { method, params } = request;
  if (method !== "tools/call" || params?.name !== "call_tool" || !isObject(params.arguments ?? {}))
    return request;
  const { name, args } = readToolCall(isObject(params.arguments) ? params.arguments : {});
  return { ...request, params: { ...params, name, arguments: args } };
}

/** The same for telling of a failure, which may be that it does not say which. */
export function calledBy(request: Request): Request {
  try {
    return unwrapCall(request);
  } catch {
    return request;
  }
}
