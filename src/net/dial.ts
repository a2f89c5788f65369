import { lookup } from "node:dns";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { HallError, messageOf } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import { formatBytes } from "../base/text.ts";
import { kindOfHost } from "./host.ts";
import { SocketPool } from "./socket-pool.ts";

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
  readonly body?: string | Buffer | undefined;
  /** Aborts the request. A scope is cheaper than a signal. */
  readonly signal: AbortSignal | Scope;
}

/** How to reach the server of a URL. */
interface Target {
  readonly pool: SocketPool;
  readonly isEncrypted: boolean;
  readonly path: string;
  /** The headers that come from the URL. */
  readonly headers: Readonly<Record<string, string>>;
}

export function createDialler(lookup: LookupFunction | undefined): Dialler {
  const pools = new Map<string, SocketPool>();
  /** A channel sends all its requests to the same URL. */
  const targets = new WeakMap<URL, Target>();

  function targetOf(url: URL): Target {
    const known = targets.get(url);
    if (known) return known;
    const pool = pools.get(url.origin) ?? new SocketPool(url, lookup);
    pools.set(url.origin, pool);
    const path = `${url.pathname}${url.search}`;
    const isEncrypted = url.protocol === "https:";
    const target = { pool, isEncrypted, path, headers: headersOf(url) };
    targets.set(url, target);
    return target;
  }

  function dial<T>(url: URL, init: DialInit, use: (incoming: IncomingMessage) => T): Promise<T> {
    const { method = "GET", headers, body, signal } = init;
    return new Promise((resolve, reject) => {
      const { pool, isEncrypted, path, headers: own } = targetOf(url);
      const { request } = process.getBuiltinModule(isEncrypted ? "node:https" : "node:http");
      const bytes = body === undefined ? 0 : Buffer.byteLength(body);
      const hasLength = body !== undefined || hasBody.has(method);
      const lines = linesOf(own, headers, hasLength ? bytes : undefined);
      const sent = request({ method, path, headers: lines, agent: pool.agent }, (incoming) => {
        pool.heed(incoming.headers["keep-alive"]);
        resolve(use(incoming));
      });
      sent.on("error", reject);
      abortWith(sent, signal);
      // The bytes of ASCII are the same, and Node reserves three times as many to write UTF-8.
      sent.end(body, bytes === body?.length ? "latin1" : "utf8");
    });
  }

  return {
    send: (url, init) => dial(url, init, toResponse),
    open: (url, init) => dial(url, init, (incoming) => new HttpAnswer(incoming)),
    close() {
      for (const pool of pools.values()) pool.close();
    },
  };
}

/** By hand: Node's `signal` option costs as much as the request itself. */
function abortWith(sent: ClientRequest, until: AbortSignal | Scope): void {
  if (until instanceof Scope) {
    const abort = (reason: HallError): void => void sent.destroy(reason);
    until.attach(abort);
    sent.on("close", () => until.detach(abort));
    return;
  }
  const abort = (): void => void sent.destroy(until.reason);
  if (until.aborted) abort();
  until.addEventListener("abort", abort, { once: true });
  sent.on("close", () => until.removeEventListener("abort", abort));
}

/** Methods whose requests state a length even if it is zero. */
const hasBody = new Set(["POST", "PUT", "PATCH"]);

function headersOf({ host, username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return { host };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { host, authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/**
 * Names and values in turn, for which Node needs no table of its own. Of two names that differ in
 * case, the later one counts.
 */
function linesOf(
  own: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
  bytes: number | undefined,
): string[] {
  const fields: Record<string, string> = Object.assign({}, own);
  for (const name of Object.keys(headers)) fields[name.toLowerCase()] = headers[name] as string;
  if (bytes !== undefined) fields["content-length"] = String(bytes);
  const lines: string[] = [];
  for (const name of Object.keys(fields)) lines.push(name, fields[name] as string);
  return lines;
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
    incoming.on("error", ignore);
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

  /** The whole body. By events: an iterator costs more than the rest of a small answer. */
  read(bytesMax: number): Promise<Buffer> {
    const incoming = this.#incoming;
    if (bodiless.has(this.status)) return Promise.resolve(Buffer.alloc(0));
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const fail = (): void => {
        if (!incoming.readableEnded) reject(cutShort(incoming.errored ?? new Error("aborted")));
      };
      incoming.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes <= bytesMax) return;
        reject(tooLarge(bytesMax));
        incoming.destroy();
      });
      incoming.on("end", () =>
        resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
      );
      incoming.on("close", fail);
      if (incoming.destroyed) fail();
    });
  }
}

const ignore = (): void => {};

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

/**
 * A lookup that fails unless all addresses are allowed. The checked address is the one dialled, so
 * DNS rebinding cannot help.
 */
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

export function readAll(response: Dialled, bytesMax: number): Promise<Buffer> {
  return response instanceof HttpAnswer
    ? response.read(bytesMax)
    : collect(response.body ?? [], bytesMax);
}

async function collect(
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  bytesMax: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof HallError ? error : cutShort(error);
  }
  return Buffer.concat(chunks);
}

const tooLarge = (bytesMax: number): HallError =>
  new HallError("TOO_LARGE", `the response exceeds the limit of ${formatBytes(bytesMax)}`);
