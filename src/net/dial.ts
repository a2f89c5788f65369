import { lookup } from "node:dns";
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { HallError } from "../base/errors.ts";
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
  const agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };

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
      const sent = (isEncrypted ? requestHttps : requestHttp)(
        url,
        {
          method,
          headers: { ...headers, ...length },
          agent: agents[isEncrypted ? "https:" : "http:"],
        },
        resolve,
      );
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
      for (const agent of Object.values(agents)) agent.destroy();
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
