import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { HallError, messageOf } from "../../base/errors.ts";
import type { Scope } from "../../base/scope.ts";
import type { Fetcher } from "../../net/public-fetch.ts";

/** The bytes of a document and what its source says they are. */
export interface Source {
  /** The document as an answer names it: never a whole data: URL. */
  readonly name: string;
  /** As the source says it: "text/html; charset=utf-8", or "". */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface SourceOptions {
  readonly fetch: Fetcher;
  /** The folders file: URLs may point into. */
  readonly roots: readonly string[];
  readonly scope: Scope;
}

const documentBytesMax = 20 * 1024 * 1024;

/** Reads what a document_url names: http(s), file: under a root, or data:. */
export async function loadSource(
  text: string,
  { fetch, roots, scope }: SourceOptions,
): Promise<Source> {
  const url = parseAddress(text);
  switch (url.protocol) {
    case "http:":
    case "https:": {
      const found = await fetch(url, { signal: scope.signal, bytesMax: documentBytesMax });
      return { name: found.url.href, contentType: found.contentType, bytes: found.bytes };
    }
    case "file:":
      return { name: url.href, contentType: "", bytes: await readUnderRoots(url, roots) };
    case "data:":
      return { name: "data:", ...decodeData(text.trim()) };
    default:
      throw badAddress(`${url.protocol} is not read`);
  }
}

function parseAddress(text: string): URL {
  const trimmed = text.trim();
  if (URL.canParse(trimmed)) return new URL(trimmed);
  throw badAddress(
    trimmed.startsWith("/") ? `a path is written file://${trimmed}` : "it is no absolute URL",
  );
}

function badAddress(problem: string): HallError {
  const message = `bad document_url: ${problem}. Use http(s)://, file:// or data:`;
  return new HallError("VALIDATION", message, {
    details: { errors: [{ path: "/document_url", message }] },
  });
}

async function readUnderRoots(url: URL, roots: readonly string[]): Promise<Uint8Array> {
  const path = toPath(url);
  const real = await realpath(path).catch(() => undefined);
  // What does not exist and what is not allowed read alike: whether a file exists elsewhere is nobody's business.
  if (real === undefined || !(await isUnder(real, roots))) throw outsideRoots(path, roots);
  // Neither a link put there meanwhile is followed, nor is a pipe waited for.
  const file = await open(
    real,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((cause: unknown) => {
    throw new HallError("EXECUTION", `${path} cannot be opened: ${messageOf(cause)}`, { cause });
  });
  try {
    return await readChecked(file, real, path);
  } finally {
    await file.close();
  }
}

async function readChecked(file: FileHandle, real: string, path: string): Promise<Uint8Array> {
  const [opened, now, place] = await Promise.all([file.stat(), stat(real), realpath(real)]);
  if (opened.ino !== now.ino || opened.dev !== now.dev || place !== real)
    throw new HallError("EXECUTION", `${path} was replaced while it was read: try again`);
  if (!opened.isFile()) throw new HallError("EXECUTION", `${path} is no file`);
  if (opened.size > documentBytesMax)
    throw new HallError("TOO_LARGE", `${path} is over ${documentBytesMax / 1024 / 1024} MB`);
  // A file that grows while it is read ends where it was.
  const bytes = Buffer.alloc(opened.size);
  const { bytesRead } = await file.read(bytes, 0, opened.size, 0);
  return bytes.subarray(0, bytesRead);
}

function toPath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch {
    // A host, or a slash in disguise.
    throw badAddress("a file: URL names a path of this machine, as in file:///home/me/report.pdf");
  }
}

async function isUnder(path: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) {
    const real = await realpath(root).catch(() => undefined);
    if (
      real !== undefined &&
      (path === real || path.startsWith(real.endsWith(sep) ? real : `${real}${sep}`))
    )
      return true;
  }
  return false;
}

function outsideRoots(path: string, roots: readonly string[]): HallError {
  if (roots.length === 0)
    return new HallError("DENIED", "no folder is open to documents", { hint: rootsHint });
  return new HallError("DENIED", `there is no file ${path} under ${roots.join(", ")}`, {
    hint: rootsHint,
  });
}

const rootsHint =
  "Name the folders that may be read in `documents.roots` of guildhall.json, or send the document as a data: URL.";

/** `data:[<type>][;base64],<bytes>`, as RFC 2397 has it. */
function decodeData(text: string): { contentType: string; bytes: Uint8Array } {
  const comma = text.indexOf(",");
  if (comma < 0) throw badAddress("a data: URL has a comma before its content");
  const isBase64 = /;\s*base64\s*$/i.test(text.slice(0, Math.min(comma, 1_000)));
  const contentType = text
    .slice("data:".length, Math.min(comma, 1_000))
    .replace(/;\s*base64\s*$/i, "");
  // Three quarters remain of base64, a third of %xx.
  if (text.length - comma > documentBytesMax * 3)
    throw new HallError("TOO_LARGE", `the data: URL is over ${documentBytesMax / 1024 / 1024} MB`);
  const body = text.slice(comma + 1);
  const bytes = isBase64
    ? Buffer.from(unescapeBytes(body).toString("latin1"), "base64")
    : unescapeBytes(body);
  return { contentType: contentType === "" ? "text/plain" : contentType, bytes };
}

/** In place: what is unescaped is never longer. */
function unescapeBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const value =
      bytes[i] === percent ? hexDigit(bytes[i + 1]) * 16 + hexDigit(bytes[i + 2]) : Number.NaN;
    const isEscape = !Number.isNaN(value);
    bytes[length++] = isEscape ? value : (bytes[i] ?? 0);
    if (isEscape) i += 2;
  }
  return bytes.subarray(0, length);
}

const percent = 0x25;

function hexDigit(byte: number | undefined): number {
  return Number.parseInt(String.fromCharCode(byte ?? 0), 16);
}
