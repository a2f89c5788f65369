import type { LookupFunction } from "node:net";
import { PassThrough, Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { HallError, messageOf } from "../base/errors.ts";
import { createDialler, explain, lookupWhere, refusal } from "./dial.ts";
import { isLinkLocal, kindOfHost } from "./host.ts";

/**
 * Fetches URLs that a model names, from public addresses only unless a setting allows others. Each
 * address is checked before the connection, redirects included, and the checked address is the one
 * dialled. The body is bounded as it arrives and as it inflates.
 */
export type Fetcher = (url: URL, options: FetchOptions) => Promise<Fetched>;

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly bytesMax: number;
}

export interface Fetched {
  /** After redirects. */
  readonly url: URL;
  /** Such as "text/html; charset=utf-8", or "". */
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface FetcherOptions {
  /** Private addresses that may be dialled, as "address:port". */
  readonly allow?: readonly string[];
  /** Allows this machine and private networks, but no link-local address. Default false. */
  readonly allowPrivate?: boolean;
  /** Default: the system's resolver. */
  readonly resolve?: LookupFunction;
}

const redirectsMax = 5;
/** Ordinary bodies inflate up to 20 times; a bomb a thousand times and more. */
const ratioMax = 100;
/** The ratio does not matter for smaller bodies. */
const ratioFromBytes = 1024 * 1024;

export function createFetcher({
  allow = [],
  allowPrivate = false,
  resolve,
}: FetcherOptions = {}): Fetcher {
  return async (start, options) => {
    let url = start;
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const port = checkTarget(url);
      const isAllowed = (address: string): boolean =>
        kindOfHost(address) === "public" ||
        (allowPrivate && !isLinkLocal(address)) ||
        allow.includes(`${address}:${port}`);
      if (!isAllowed(url.hostname))
        throw new HallError("DENIED", `${url.host} is a private address`, { hint });
      const dialler = createDialler(lookupWhere(isAllowed, hint, resolve));
      try {
        const response = await dialler
          .send(url, { headers, signal: options.signal })
          .catch((error: unknown) => {
            throw options.signal.aborted ? options.signal.reason : explain(error);
          });
        const target = redirectOf(response, url);
        if (!target) {
          if (!response.ok) throw await explainStatus(response, url);
          return await readBody(response, url, options);
        }
        await response.body?.cancel();
        url = target;
      } finally {
        dialler.close();
      }
    }
    throw new HallError("EXECUTION", `${start.origin} redirects more than ${redirectsMax} times`);
  };
}

const hint = "Only public addresses are fetched; nothing was sent.";
const headers = { accept: "*/*", "accept-encoding": "gzip, br", "user-agent": "guildhall" };

/** Returns the port to dial. */
function checkTarget(url: URL): number {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new HallError("DENIED", `unsupported protocol "${url.protocol}"`, { hint });
  if (url.username !== "" || url.password !== "")
    throw new HallError("DENIED", `the URL of ${url.host} contains credentials`, { hint });
  const defaultPort = url.protocol === "https:" ? 443 : 80;
  const port = url.port === "" ? defaultPort : Number(url.port);
  // Other low ports belong to protocols that HTTP requests can abuse: mail, shells, printers.
  if (port < 1024 && port !== 80 && port !== 443)
    throw new HallError("DENIED", `port ${port} is not allowed`, { hint });
  return port;
}

function redirectOf(response: Response, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined;
  const location = response.headers.get("location");
  if (location === null) return undefined;
  if (URL.canParse(location, from.href)) return new URL(location, from);
  throw new HallError("EXECUTION", `${from.origin} redirects to an invalid URL`);
}

/** The body of any response, inflated and within the limit. */
export async function readBody(
  response: Response,
  url: URL,
  { bytesMax, signal }: FetchOptions,
): Promise<Fetched> {
  if (Number(response.headers.get("content-length") ?? 0) > bytesMax) {
    await response.body?.cancel();
    throw tooLarge(url, bytesMax);
  }
  const chunks: Uint8Array[] = [];
  let received = 0;
  let inflated = 0;
  // A pipeline rejects with the first stream's error, which may not be the limit's.
  let limitError: HallError | undefined;
  const overLimit = (error: HallError): HallError => {
    limitError ??= error;
    return error;
  };
  const body = (response.body ?? []) as AsyncIterable<Uint8Array>;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      received += chunk.length;
      if (received > bytesMax) throw overLimit(tooLarge(url, bytesMax));
      yield chunk;
    }
  }
  async function collect(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of source) {
      inflated += chunk.length;
      if (inflated > bytesMax) throw overLimit(tooLarge(url, bytesMax));
      if (inflated > ratioFromBytes && inflated > received * ratioMax) {
        throw overLimit(
          new HallError(
            "TOO_LARGE",
            `the response of ${url.host} inflates more than ${ratioMax} times`,
          ),
        );
      }
      chunks.push(chunk);
    }
  }
  const decoder = decoderOf(response);
  try {
    await pipeline(Readable.from(counted()), decoder, collect, { signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw (
      limitError ??
      new HallError("EXECUTION", `cannot read the response of ${url.host}: ${messageOf(error)}`, {
        cause: error,
      })
    );
  }
  return {
    url,
    contentType: response.headers.get("content-type") ?? "",
    bytes: Buffer.concat(chunks),
  };
}

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => process.getBuiltinModule("node:zlib").createGunzip(),
  "x-gzip": () => process.getBuiltinModule("node:zlib").createGunzip(),
  deflate: () => process.getBuiltinModule("node:zlib").createInflate(),
  br: () => process.getBuiltinModule("node:zlib").createBrotliDecompress(),
};

function decoderOf(response: Response): Transform {
  const encoding = (response.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return new PassThrough();
  const decoder = decoders[encoding];
  if (!decoder)
    throw new HallError("EXECUTION", `unexpected content encoding "${encoding.slice(0, 40)}"`);
  return decoder();
}

async function explainStatus(response: Response, url: URL): Promise<HallError> {
  const { code, message, details } = await refusal(response, false);
  const isMissing = response.status === 404 || response.status === 410;
  const hint = isMissing ? "Check the URL." : "Try again later, or use another URL.";
  return new HallError(code === "DENIED" ? "EXECUTION" : code, `${url.host}: ${message}`, {
    hint,
    ...(details ? { details } : {}),
  });
}

function tooLarge(url: URL, bytesMax: number): HallError {
  return new HallError(
    "TOO_LARGE",
    `the response of ${url.host} exceeds the limit of ${Math.floor(bytesMax / 1024 / 1024)} MiB`,
  );
}
