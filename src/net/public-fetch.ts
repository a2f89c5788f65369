import type { LookupFunction } from "node:net";
import { PassThrough, Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { HallError, messageOf } from "../base/errors.ts";
import { explain, refusal } from "./answer.ts";
import { createDialler, lookupWhere } from "./dial.ts";
import { kindOfHost } from "./host.ts";

/**
 * Fetches what a model names, so it goes only where anybody could go: public addresses, looked at before each connection,
 * redirects included, and dialled as they were looked at. What comes back is bounded as it arrives and as it inflates.
 */
export type Fetcher = (url: URL, options: FetchOptions) => Promise<Fetched>;

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly bytesMax: number;
}

export interface Fetched {
  /** Where it was found, after redirects. */
  readonly url: URL;
  /** As the server says it: "text/html; charset=utf-8", or "". */
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface FetcherOptions {
  /** Addresses inside this network that may be dialled all the same, as "address:port". */
  readonly allow?: readonly string[];
  /** Who answers for names. Default: the machine's resolver. */
  readonly resolve?: LookupFunction;
}

const redirectsMax = 5;
/** What honest servers reach is about 20; a bomb has a thousand and more. */
const ratioMax = 100;
/** Small answers may compress as well as they like. */
const ratioFromBytes = 1024 * 1024;

export function createFetcher({ allow = [], resolve }: FetcherOptions = {}): Fetcher {
  return async (start, options) => {
    let url = start;
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const port = checkTarget(url);
      const isAllowed = (address: string): boolean =>
        kindOfHost(address) === "public" || allow.includes(`${address}:${port}`);
      if (!isAllowed(url.hostname))
        throw new HallError("DENIED", `${url.host} is inside this network`, { hint });
      const dialler = createDialler(lookupWhere(isAllowed, hint, resolve));
      try {
        const response = await dialler
          .send(url, { headers, signal: options.signal })
          .catch((error: unknown) => {
            throw options.signal.aborted ? options.signal.reason : explain(error);
          });
        const target = redirectOf(response, url);
        if (!target) return await read(response, url, options);
        await response.body?.cancel();
        url = target;
      } finally {
        dialler.close();
      }
    }
    throw new HallError("EXECUTION", `${start.origin} redirects more than ${redirectsMax} times`);
  };
}

const hint = "Nothing was sent there: only public addresses are fetched.";
const headers = { accept: "*/*", "accept-encoding": "gzip, br", "user-agent": "guildhall" };

/** The port that will be dialled. */
function checkTarget(url: URL): number {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new HallError("DENIED", `${url.protocol} is not fetched`, { hint });
  if (url.username !== "" || url.password !== "")
    throw new HallError("DENIED", `${url.host} is named with a user before it: leave that out`, {
      hint,
    });
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  // Below 1024 live the protocols one can talk into mischief over HTTP: mail, shells, printers.
  if (port < 1024 && port !== 80 && port !== 443)
    throw new HallError("DENIED", `port ${port} is not one of the web`, { hint });
  return port;
}

function redirectOf(response: Response, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined;
  const location = response.headers.get("location");
  if (location === null) return undefined;
  if (URL.canParse(location, from.href)) return new URL(location, from);
  throw new HallError("EXECUTION", `${from.origin} redirects to what is no address`);
}

async function read(
  response: Response,
  url: URL,
  { bytesMax, signal }: FetchOptions,
): Promise<Fetched> {
  if (!response.ok) throw await explainStatus(response, url);
  if (Number(response.headers.get("content-length") ?? 0) > bytesMax) {
    await response.body?.cancel();
    throw tooLarge(url, bytesMax);
  }
  const chunks: Uint8Array[] = [];
  let received = 0;
  let inflated = 0;
  // What a pipeline rejects with is the first of its streams to complain, not always the one that said no.
  let verdict: HallError | undefined;
  const refuse = (error: HallError): HallError => {
    verdict ??= error;
    return error;
  };
  const body = (response.body ?? []) as AsyncIterable<Uint8Array>;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      received += chunk.length;
      if (received > bytesMax) throw refuse(tooLarge(url, bytesMax));
      yield chunk;
    }
  }
  async function collect(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of source) {
      inflated += chunk.length;
      if (inflated > bytesMax) throw refuse(tooLarge(url, bytesMax));
      if (inflated > ratioFromBytes && inflated > received * ratioMax) {
        throw refuse(
          new HallError("TOO_LARGE", `what ${url.host} sent inflates more than ${ratioMax} times`, {
            hint: bombHint,
          }),
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
      verdict ??
      new HallError("EXECUTION", `what ${url.host} sent could not be read: ${messageOf(error)}`, {
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

const bombHint = "Fetch the document by other means and give it as a data: or file: URL.";

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function decoderOf(response: Response): Transform {
  const encoding = (response.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return new PassThrough();
  const decoder = decoders[encoding];
  if (!decoder)
    throw new HallError(
      "EXECUTION",
      `the answer is encoded as "${encoding.slice(0, 40)}", which was not asked for`,
    );
  return decoder();
}

async function explainStatus(response: Response, url: URL): Promise<HallError> {
  const { code, message, details } = await refusal(response, false);
  const isMissing = response.status === 404 || response.status === 410;
  const next = isMissing ? "Look whether the address is right." : "Try later, or another address.";
  return new HallError(code === "DENIED" ? "EXECUTION" : code, `${url.host}: ${message}`, {
    hint: next,
    ...(details ? { details } : {}),
  });
}

function tooLarge(url: URL, bytesMax: number): HallError {
  return new HallError(
    "TOO_LARGE",
    `what ${url.host} sends is over ${Math.floor(bytesMax / 1024 / 1024)} MB`,
  );
}
