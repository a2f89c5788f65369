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

  let bytes = 0;
  const received = new Promise<Refusal>((resolve) =>
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) resolve(stop(request, bytesMax));
    }),
  );
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
  const { "content-type": contentType = "", "content-length": length = 0 } = headers;
  const isUsual = contentType === "application/json" && encoding === "identity";
  const refusal = isUsual ? undefined : checkKind(contentType, encoding);
  return refusal ?? (Number(length) > bytesMax ? tooLarge(bytesMax) : undefined);
}

function checkKind(contentType: string, encoding: string): Refusal | undefined {
  const [type = "", ...parameters] = contentType
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
    let bytes = 0;
    let hasEnded = false;
    source.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > bytesMax) resolve(stop(source, bytesMax));
    });
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

/** Reads no more of a source that exceeds the limit. */
function stop(source: Readable, bytesMax: number): Refusal {
  source.removeAllListeners("data").pause();
  return tooLarge(bytesMax);
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
