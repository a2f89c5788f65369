import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { formatBytes } from "../../base/text.ts";
import { invalidRequest, type Refusal } from "./refusal.ts";

/** Reads a JSON body; the limit holds for the received and for the inflated bytes. Rejects when the client disconnects. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | Refusal> {
  const refusal = checkHeaders(request, bytesMax);
  if (refusal) return Promise.resolve(refusal);
  const encoding = request.headers["content-encoding"]?.toLowerCase() ?? "identity";
  const inflate = inflaters[encoding]?.();
  if (!inflate) return collect(request, bytesMax);
  pipeline(request, inflate, () => {});
  return collect(inflate, bytesMax, () => ({
    status: 400,
    code: "PARSE",
    message: `the body is not valid ${encoding}`,
    closes: true,
  }));
}

const inflaters: Readonly<Record<string, () => Duplex | undefined>> = {
  identity: () => undefined,
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function checkHeaders({ headers }: IncomingMessage, bytesMax: number): Refusal | undefined {
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
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (!Object.hasOwn(inflaters, encoding))
    return unsupported("Content-Encoding must be gzip, deflate, br or identity");
  if (Number(headers["content-length"] ?? 0) > bytesMax) return tooLarge(bytesMax);
  return undefined;
}

function collect(
  source: Readable,
  bytesMax: number,
  broken?: () => Refusal,
): Promise<Buffer | Refusal> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let hasEnded = false;
    source.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        source.removeAllListeners("data").pause();
        resolve(tooLarge(bytesMax));
      } else chunks.push(chunk);
    });
    source.on("end", () => {
      hasEnded = true;
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    source.on("error", (error) => (broken ? resolve(broken()) : reject(error)));
    // Also emitted after a complete request, for which no error and stack should be built.
    source.on("close", () => {
      if (!hasEnded) reject(new Error("the client disconnected"));
    });
  });
}

function unsupported(message: string): Refusal {
  return invalidRequest(415, message, { closes: true });
}

function tooLarge(bytesMax: number): Refusal {
  const message = `message exceeds the limit of ${formatBytes(bytesMax)}`;
  return invalidRequest(413, message, { closes: true });
}
