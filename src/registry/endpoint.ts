import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject, parseJson } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import {
  createDialler,
  type Dialler,
  explain,
  lookupOutside,
  readAll,
  refusal,
} from "../net/dial.ts";
import type { Runner } from "./registered.ts";

export interface EndpointOptions {
  readonly url: URL;
  /** Health checks are a GET of this URL instead of a message to `url`. */
  readonly healthCheckUrl?: URL | undefined;
  readonly allowPrivate: boolean;
}

const answerBytesMax = 10 * 1024 * 1024;
const healthBytesMax = 64 * 1024;

/** A service behind a URL: each request is one JSON-RPC message in one POST. Redirects are not followed. */
export function createEndpoint({ url, healthCheckUrl, allowPrivate }: EndpointOptions): Runner {
  const dialler = createDialler(lookupOutside(url, allowPrivate));
  const healthDialler =
    healthCheckUrl && createDialler(lookupOutside(healthCheckUrl, allowPrivate));
  let nextId = 0;
  return {
    kind: "endpoint",
    id: `${url.href} ${healthCheckUrl?.href ?? ""}`,
    request(method, params, scope) {
      if (method === "health/check" && healthDialler && healthCheckUrl)
        return get(healthDialler, healthCheckUrl, scope);
      return post(dialler, url, { jsonrpc: "2.0", id: ++nextId, method, params }, scope);
    },
    // A URL never disconnects; failing calls and probes show that it is down.
    onGone: () => () => {},
    close() {
      dialler.close();
      healthDialler?.close();
    },
  };
}

async function post(
  dialler: Dialler,
  url: URL,
  message: JsonObject & { readonly id: number },
  scope: Scope,
): Promise<unknown> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const response = await send(
    dialler,
    url,
    { method: "POST", headers, body: JSON.stringify(message) },
    scope,
  );
  const isJson = response.headers.get("content-type")?.toLowerCase().startsWith("application/json");
  if (!isJson || response.status === 429 || response.status >= 500)
    throw await refusal(response, false);
  const answer = parseJson(String(await scope.race(readAll(response, answerBytesMax))));
  if (!isObject(answer) || answer.id !== message.id)
    throw new HallError("BAD_ANSWER", "the endpoint's answer does not match the request");
  if (isObject(answer.error) && typeof answer.error.code === "number") {
    const { code, message: text, data } = answer.error;
    throw new HallError("EXECUTION", String(text), {
      relayed: { code, message: String(text), data },
    });
  }
  if (!("result" in answer))
    throw new HallError("BAD_ANSWER", "the endpoint's answer has neither result nor error");
  return answer.result;
}

async function get(dialler: Dialler, url: URL, scope: Scope): Promise<unknown> {
  const response = await send(dialler, url, { headers: { accept: "application/json" } }, scope);
  if (!response.ok) throw await refusal(response, false);
  const body = parseJson(String(await scope.race(readAll(response, healthBytesMax))));
  // Many services return a plain "OK".
  return isObject(body) ? body : { status: "healthy" };
}

async function send(
  dialler: Dialler,
  url: URL,
  init: Omit<Parameters<Dialler["send"]>[1], "signal">,
  scope: Scope,
): Promise<Response> {
  try {
    return await dialler.send(url, { ...init, signal: scope.signal });
  } catch (error) {
    throw scope.cancelReason ?? explain(error);
  }
}
