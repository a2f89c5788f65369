import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { HallError, messageOf } from "../../base/errors.ts";
import type { Scope } from "../../base/scope.ts";
import type { Fetcher } from "../../net/public-fetch.ts";
import { invalidField } from "../toolkit.ts";

/** The bytes of a document and their declared type. */
export interface DocumentSource {
  /** The URL shown in results; "data:" for a data: URL. */
  readonly name: string;
  /** Such as "text/html; charset=utf-8", or "". */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

const documentBytesMax = 20 * 1024 * 1024;

/** Reads http(s), data:, and file: below one of `roots`. */
export async function loadSource(
  text: string,
  {
    fetch,
    roots,
    scope,
  }: { readonly fetch: Fetcher; readonly roots: () => readonly string[]; readonly scope: Scope },
): Promise<DocumentSource> {
  const url = parseUrl(text);
  switch (url.protocol) {
    case "http:":
    case "https:": {
      const found = await fetch(url, { signal: scope.signal, bytesMax: documentBytesMax });
      return { name: found.url.href, contentType: found.contentType, bytes: found.bytes };
    }
    case "file:":
      return { name: url.href, contentType: "", bytes: await readUnderRoots(url, roots()) };
    case "data:":
      return { name: "data:", ...decodeData(text.trim()) };
    default:
      throw badUrl(`"${url.protocol}" is not supported`);
  }
}

/** Where a document comes from; undefined for a URL that cannot be read. */
export function kindOfSource(text: string): "web" | "file" | "data" | undefined {
  const trimmed = text.trim();
  return URL.canParse(trimmed) ? kinds.get(new URL(trimmed).protocol) : undefined;
}

const kinds: ReadonlyMap<string, "web" | "file" | "data"> = new Map([
  ["http:", "web"],
  ["https:", "web"],
  ["file:", "file"],
  ["data:", "data"],
]);

function parseUrl(text: string): URL {
  const trimmed = text.trim();
  if (URL.canParse(trimmed)) return new URL(trimmed);
  const isPath = trimmed.startsWith("/");
  throw badUrl(isPath ? `write the path as file://${trimmed}` : "not an absolute URL");
}

function badUrl(problem: string): HallError {
  const expected = "http(s)://, file:// or data:";
  return invalidField("document_url", `invalid document_url: ${problem} (expected: ${expected})`);
}

async function readUnderRoots(url: URL, roots: readonly string[]): Promise<Uint8Array> {
  const path = toPath(url);
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined && (await isFolderUnder(dirname(path), roots)))
    throw new HallError("EXECUTION", `no file "${path}"`);
  // Elsewhere a missing file gives the same error, so that callers cannot probe for files.
  if (real === undefined || !(await isUnder(real, roots))) throw outsideRoots(path, roots);
  // Does not follow a link created meanwhile, and does not block on a pipe.
  const file = await open(
    real,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((cause: unknown) => {
    throw new HallError("EXECUTION", `cannot open "${path}": ${messageOf(cause)}`, { cause });
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
    throw new HallError("EXECUTION", `"${path}" was replaced while it was read`);
  if (!opened.isFile()) throw new HallError("EXECUTION", `"${path}" is not a file`);
  if (opened.size > documentBytesMax)
    throw new HallError("TOO_LARGE", `"${path}" exceeds the limit of 20 MiB`);
  // A file that grows meanwhile is read up to its earlier size.
  const bytes = Buffer.alloc(opened.size);
  const { bytesRead } = await file.read(bytes, 0, opened.size, 0);
  return bytes.subarray(0, bytesRead);
}

function toPath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch {
    // The URL has a host or an encoded slash.
    throw badUrl("a file: URL must be a local path, such as file:///home/me/report.pdf");
  }
}

async function isFolderUnder(folder: string, roots: readonly string[]): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  return real !== undefined && isUnder(real, roots);
}

async function isUnder(path: string, roots: readonly string[]): Promise<boolean> {
  const reals = await Promise.all(roots.map((root) => realpath(root).catch(() => [])));
  return reals.flat().some((real) => {
    if (real !== path && !path.startsWith(join(real, sep))) return false;
    // Dotfiles hold keys and settings: neither a root nor anything below it may be one.
    const inside = path.slice(real.length).split(sep);
    return ![basename(real), ...inside].some((name) => name.startsWith("."));
  });
}

function outsideRoots(path: string, roots: readonly string[]): HallError {
  const message =
    roots.length === 0
      ? "no folder is open to documents"
      : `no file "${path}" in the folders open to documents (${roots.join(", ")})`;
  return new HallError("DENIED", message, {
    hint: "A document can also be sent as a data: URL.",
    next: [{ do: "edit-config", field: "documents.roots" }],
  });
}

/** `data:[<type>][;base64],<bytes>` (RFC 2397). */
function decodeData(text: string): { contentType: string; bytes: Uint8Array } {
  const comma = text.indexOf(",");
  if (comma < 0) throw badUrl("a data: URL needs a comma before its content");
  const head = text.slice("data:".length, Math.min(comma, 1_000));
  const contentType = head.replace(/;\s*base64\s*$/i, "");
  // Base64 shrinks to three quarters, %xx to a third.
  if (text.length - comma > documentBytesMax * 3)
    throw new HallError("TOO_LARGE", "the data: URL exceeds the limit of 20 MiB");
  const body = text.slice(comma + 1);
  const bytes = unescapeBytes(body);
  return {
    contentType: contentType || "text/plain",
    bytes: contentType === head ? bytes : Buffer.from(bytes.toString("latin1"), "base64"),
  };
}

function unescapeBytes(text: string): Buffer {
  const unescaped = Buffer.from(text)
    .toString("latin1")
    .replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(unescaped, "latin1");
}
