import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { formatBytes } from "../../base/text.ts";
import { invalidRequest, type Refusal } from "./refusal.ts";

/**
 * Reads the bytes of a JSON body and decompresses them, without parsing. The limit holds for the
 * received and for the decompressed bytes. Rejects when the client disconnects.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | Refusal> {
  const encoding = request.headers["content-encoding"]?.toLowerCase() ?? "identity";
  const refusal = checkHeaders(request, encoding, bytesMax);
  if (refusal) return Promise.resolve(refusal);
  const decompressor = decompressors[encoding]?.();
  if (!decompressor) return collect(request, bytesMax);

  const received = new Promise<Refusal>((resolve) => limitBytes(request, bytesMax, resolve));
  const decompressed = collect(decompressor, bytesMax, () =>
    request.readableAborted ? undefined : notValid(encoding),
  );
  // After `collect`: its error handler must run before the pipeline destroys the request.
  pipeline(request, decompressor, () => {});
  return Promise.race([received, decompressed]);
}

const decompressors: Readonly<Record<string, () => Duplex | undefined>> = {
  identity: () => undefined,
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function checkHeaders(
  { headers }: IncomingMessage,
  encoding: string,
  bytesMax: number,
): Refusal | undefined {
  const [type = "", ...parameters] = (headers["content-type"] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  if (type !== "application/json") return unsupported("Content-Type must be application/json");
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8")
    return unsupported("charset must be utf-8");
  if (!Object.hasOwn(decompressors, encoding))
    return unsupported("Content-Encoding must be gzip, deflate, br or identity");
  if (Number(headers["content-length"] ?? 0) > bytesMax) return tooLarge(bytesMax);
  return undefined;
}

/** Errors of the source resolve with `refusalOnError`, or reject if it returns nothing. */
function collect(
  source: Readable,
  bytesMax: number,
  refusalOnError?: () => Refusal | undefined,
): Promise<Buffer | Refusal> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let hasEnded = false;
    limitBytes(source, bytesMax, resolve);
    source.on("data", (chunk: Buffer) => void chunks.push(chunk));
    source.on("end", () => {
      hasEnded = true;
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    source.on("error", (error) => {
      const refusal = refusalOnError?.();
      if (refusal) resolve(refusal);
      else reject(error);
    });
    // Also emitted after a complete request, for which no error and stack should be built.
    source.on("close", () => {
      if (!hasEnded) reject(new Error("the client disconnected"));
    });
  });
}

/** Stops reading and refuses as soon as there are more bytes. */
function limitBytes(source: Readable, bytesMax: number, refuse: (refusal: Refusal) => void): void {
  let bytes = 0;
  source.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bytesMax) return;
    source.removeAllListeners("data").pause();
    refuse(tooLarge(bytesMax));
  });
}

function notValid(encoding: string): Refusal {
  const message = `the body is not valid ${encoding}`;
  return { status: 400, code: "PARSE", message, closes: true };
}

function unsupported(message: string): Refusal {
  return invalidRequest(415, message, { closes: true });
}

function tooLarge(bytesMax: number): Refusal {
  const message = `message exceeds the limit of ${formatBytes(bytesMax)}`;
  return invalidRequest(413, message, { closes: true });
}
