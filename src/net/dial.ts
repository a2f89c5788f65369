import { lookup } from "node:dns";
import type { Agent, IncomingMessage } from "node:http";
import type { LookupFunction, Socket } from "node:net";
import { HallError, messageOf } from "../base/errors.ts";
import { formatBytes } from "../base/text.ts";
import { kindOfHost } from "./host.ts";

/**
 * An HTTP client for one server. Unlike fetch: connecting takes at most five seconds, there is no
 * timeout between bytes, redirects are left to the caller, and `close` ends all sockets.
 */
export interface Dialler {
  /** Rejects if there is no response; every status is a response. */
  send(url: URL, init: DialInit): Promise<Response>;
  /** The same without the cost of a `Response`, for the path of every call. */
  open(url: URL, init: DialInit): Promise<Dialled>;
  close(): void;
}

/** The part of `Response` that we use. */
export interface Dialled {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}

export interface DialInit {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal: AbortSignal;
}

export const connectMsMax = 5_000;
/** Shorter than the keep-alive of servers, so that a socket they are about to close is not reused. */
const idleMsMax = 4_000;

export function createDialler(lookup: LookupFunction | undefined): Dialler {
  const options = { keepAlive: true, timeout: idleMsMax, ...(lookup ? { lookup } : {}) };
  const agents = new Map<string, Agent>();

  function dial(
    url: URL,
    { method = "GET", headers, body, signal }: DialInit,
  ): Promise<IncomingMessage> {
    const isEncrypted = url.protocol === "https:";
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      // At the first request: both modules together take a twentieth of a start.
      const { Agent, request } = process.getBuiltinModule(isEncrypted ? "node:https" : "node:http");
      const agent = agents.get(url.protocol) ?? new Agent(options);
      agents.set(url.protocol, agent);
      const sent = request(url, { method, headers: { ...headers, ...length }, agent }, resolve);
      // By hand: Node's `signal` option costs as much as the request itself.
      const abort = (): void => void sent.destroy(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      sent.on("close", () => signal.removeEventListener("abort", abort));
      sent.on("error", reject);
      sent.on("socket", (socket) => hurry(socket, isEncrypted ? "secureConnect" : "connect"));
      sent.end(body);
    });
  }

  return {
    send: async (url, init) => toResponse(await dial(url, init)),
    open: async (url, init) => new HttpAnswer(await dial(url, init)),
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** A response of node:http. */
class HttpAnswer implements Dialled {
  readonly #incoming: IncomingMessage;
  readonly status: number;
  readonly headers: Dialled["headers"];

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
    this.status = statusOf(incoming);
    // An abort before the body is read would be an uncaught error; the reader learns of it by itself.
    incoming.on("error", () => {});
    this.headers = { get: (name) => String(incoming.headers[name] ?? "") || null };
    if (bodiless.has(this.status)) incoming.resume();
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get body(): Dialled["body"] {
    const incoming = this.#incoming;
    if (bodiless.has(this.status)) return null;
    return {
      [Symbol.asyncIterator]: () => incoming[Symbol.asyncIterator](),
      cancel: async () => void incoming.destroy(),
    };
  }
}

function hurry(socket: Socket, event: "connect" | "secureConnect"): void {
  if (!socket.connecting) return;
  const timer = setTimeout(
    () => socket.destroy(new Error(`no connection within ${connectMsMax / 1000} s`)),
    connectMsMax,
  );
  socket.once(event, () => clearTimeout(timer));
  socket.once("close", () => clearTimeout(timer));
}

const bodiless = new Set([204, 205, 304]);

function toResponse(incoming: IncomingMessage): Response {
  const { headersDistinct } = incoming;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const status = statusOf(incoming);
  if (!bodiless.has(status)) return new Response(toStream(incoming), { status, headers });
  incoming.resume();
  return new Response(null, { status, headers });
}

/** A status that `Response` does not accept counts as a server error. */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  return statusCode < 200 || statusCode > 599 ? 502 : statusCode;
}

function toStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void incoming.destroy(),
    },
    { highWaterMark: 0 },
  );
}

/** A public name must not resolve to a private address: all addresses are checked before connecting. */
export function lookupOutside(
  url: URL,
  allowPrivate: boolean,
  resolve?: LookupFunction,
): LookupFunction | undefined {
  if (allowPrivate || kindOfHost(url.hostname) !== "public") return undefined;
  return lookupWhere((address) => kindOfHost(address) === "public", hint, resolve);
}

/** A lookup that fails unless all addresses are allowed. The checked address is the one dialled, so DNS rebinding cannot help. */
export function lookupWhere(
  isAllowed: (address: string) => boolean,
  hint: string,
  resolve: LookupFunction = lookup,
): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, options, (error, address, family) => {
      const addresses = Array.isArray(address) ? address.map((found) => found.address) : [address];
      const inside = error ? undefined : addresses.find((found) => !isAllowed(found));
      const refusal =
        inside === undefined
          ? null
          : new HallError("DENIED", `${hostname} resolves to the private address ${inside}`, {
              hint,
            });
      callback(error ?? refusal, address, family);
    });
}

const hint = "Nothing was sent. `allowPrivate` allows servers in a private network.";

/** Interprets HTTP responses. */

/** The token is missing or rejected. */
export function isRefused({ status }: Dialled): boolean {
  return status === 401 || status === 403;
}

export function retryAfterMs(response: Pick<Dialled, "status" | "headers">): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const header = response.headers.get("retry-after");
  if (header === null) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The error for an HTTP response that carries no message. */
export async function refusal(response: Dialled, hasSession: boolean): Promise<HallError> {
  const { status } = response;
  await response.body?.cancel().catch(() => {});
  if (status === 404 && hasSession)
    return new HallError("UNAVAILABLE", "the session has expired", {
      details: { expired: true },
    });
  if (isRefused(response))
    return new HallError("DENIED", `HTTP ${status}: the server rejected the token`, {
      details: { status },
    });
  if (status >= 300 && status < 400)
    return new HallError(
      "BAD_ANSWER",
      `HTTP ${status}: redirects to another host are not followed`,
    );
  const waitMs = retryAfterMs(response);
  const details = {
    status,
    ...(waitMs === undefined ? {} : { retryAfterSeconds: Math.ceil(waitMs) / 1000 }),
  };
  if (status === 429)
    return new HallError("RATE_LIMITED", "HTTP 429: the server limits the rate of calls", {
      details,
    });
  if (status >= 500) return new HallError("UNAVAILABLE", `HTTP ${status}`, { details });
  if (status >= 400) return new HallError("EXECUTION", `HTTP ${status}`, { details });
  return new HallError(
    "BAD_ANSWER",
    `HTTP ${status} with ${response.headers.get("content-type") ?? "no content type"}`,
  );
}

export function explain(error: unknown): HallError {
  if (error instanceof HallError) return error;
  return new HallError("UNAVAILABLE", `cannot be reached: ${reasonOf(error)}`, {
    cause: error,
    details: { unreachable: true },
  });
}

export function cutShort(error: unknown): HallError {
  return new HallError("BAD_ANSWER", `the response ended early: ${reasonOf(error)}`, {
    cause: error,
    hint: "The tool may or may not have done its work.",
  });
}

/** If several addresses fail, report the first one. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return messageOf(first);
}

export function isEventStream(response: Dialled): boolean {
  return (
    response.ok &&
    (response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false)
  );
}

/** The bytes of a body, up to a limit and a pause between chunks. */
export async function* whileAlive(
  response: Dialled,
  silentMsMax: number,
  cut: () => void,
): AsyncGenerator<Uint8Array> {
  const timer = setTimeout(cut, silentMsMax);
  timer.unref();
  try {
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

export async function readAll(response: Dialled, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        throw new HallError(
          "TOO_LARGE",
          `the response exceeds the limit of ${formatBytes(bytesMax)}`,
        );
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof HallError ? error : cutShort(error);
  }
  return Buffer.concat(chunks);
}
