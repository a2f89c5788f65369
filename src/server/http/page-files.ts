import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** The built page: `index.html` and files whose names contain a digest of their contents. */
export interface PageFiles {
  /** False if there is no such file. */
  send(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Undefined if it is compressed already. */
  readonly zipped: Buffer | undefined;
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/**
 * Scripts and styles come from this origin only, as files; nothing can turn text into script, and no
 * other page may frame this one.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "media-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

export const pageHeaders = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
} as const;

/** Reads the folder of the build once, when the page is first asked for. */
export function openPageFiles(folder: string): PageFiles {
  let files: ReadonlyMap<string, PageFile> | undefined;
  return {
    send(path, request, response) {
      files ??= readFiles(folder);
      const file = files.get(path);
      if (!file) return false;
      const isPage = path === "/";
      const headers = {
        ...pageHeaders,
        "content-type": file.type,
        etag: file.etag,
        "cache-control": isPage ? "no-cache" : "public, max-age=31536000, immutable",
        vary: isPage ? "accept, accept-encoding" : "accept-encoding",
      };
      if (request.headers["if-none-match"] === file.etag) {
        response.writeHead(304, headers).end();
        return true;
      }
      const isZipped = file.zipped && /\bgzip\b/.test(String(request.headers["accept-encoding"]));
      const bytes = isZipped && file.zipped ? file.zipped : file.bytes;
      response.writeHead(200, {
        ...headers,
        ...(isZipped ? { "content-encoding": "gzip" } : {}),
        "content-length": bytes.length,
      });
      response.end(request.method === "HEAD" ? undefined : bytes);
      return true;
    },
  };
}

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  // A checkout that was not built has no page.
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const entries = names.flatMap((name): readonly [string, PageFile][] => {
    const extension = extname(name);
    const type = types[extension];
    if (type === undefined) return [];
    const bytes = readFileSync(join(folder, name));
    const zipped = extension === ".woff2" ? undefined : gzipSync(bytes);
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const path = name === "index.html" ? "/" : `/${name.replaceAll("\\", "/")}`;
    return [[path, { type, bytes, zipped, etag }]];
  });
  return new Map(entries);
}
