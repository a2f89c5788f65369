import { isAbsolute, relative, resolve } from "node:path";
import { findWorker, readInWorker } from "../../base/bounded-worker.ts";
import { HallError } from "../../base/errors.ts";
import { readProjectFile, readRegular } from "../../base/project-files.ts";
import { Scope } from "../../base/scope.ts";
import { formatBytes } from "../../base/text.ts";
import { isInside, realOf } from "../../config/project-limits.ts";
import type { ServerConfig } from "../../config/schema.ts";
import { kindOfHost } from "../../net/host.ts";
import { createFetcher } from "../../net/public-fetch.ts";
import type { Api, ApiOptions } from "./operation.ts";

/** An entry of mcpServers that names an OpenAPI document. */
export type OpenApiConfig = Extract<ServerConfig, { readonly type: "openapi" }>;

export interface ApiReadRequest extends ApiOptions {
  readonly bytes: Uint8Array;
}

/** GitHub's has 13 MB. */
const bytesMax = 20 * 1024 * 1024;
const readMsMax = 20_000;
const memoryMb = 192;

/** The address of a document on the web; undefined for a file. */
export function documentUrl(openapi: string): URL | undefined {
  return /^https?:\/\//.test(openapi) ? new URL(openapi) : undefined;
}

/** Throws VALIDATION for a document that cannot be used, and DENIED, TOO_LARGE or TIMEOUT. */
export async function readDocument(
  config: Pick<OpenApiConfig, "openapi" | "baseUrl" | "allowPrivate" | "include" | "exclude">,
  parent: Scope,
): Promise<Api> {
  const { openapi, baseUrl, allowPrivate, include, exclude } = config;
  const url = documentUrl(openapi);
  const scope = new Scope(parent, readMsMax, "the OpenAPI document");
  try {
    const bytes = url
      ? await fetchDocument(url, allowPrivate, scope)
      : await readFile(resolve(openapi));
    const options = { url: url?.href, baseUrl, allowPrivate, include, exclude };
    const worker = findWorker("openapi-worker", new URL("./worker.ts", import.meta.url));
    return await readInWorker<Api>(
      worker,
      { bytes, ...options },
      { scope, memoryMb, subject: "the OpenAPI document" },
    );
  } finally {
    scope.close();
  }
}

async function fetchDocument(url: URL, allowPrivate: boolean, scope: Scope): Promise<Buffer> {
  // The config chose this address: it may be on this machine. Where it redirects to may not.
  const isOwn = kindOfHost(url.hostname) === "loopback";
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const allow = isOwn ? ["127.0.0.1", "::1", "localhost", url.hostname] : [];
  const fetch = createFetcher({ allowPrivate, allow: allow.map((host) => `${host}:${port}`) });
  return (await fetch(url, { signal: scope.signal, bytesMax })).bytes;
}

/** A file of the project is reached through no link. */
async function readFile(file: string): Promise<Buffer> {
  const project = process.cwd();
  const path = relative(project, file);
  const missing = new HallError("NOT_FOUND", `"${file}" was not found`, {
    hint: "Check the path of the document.",
  });
  if (!isAbsolute(path) && isInside(realOf(file), realOf(project))) {
    const text = await readProjectFile(project, path, bytesMax);
    if (text === undefined) throw missing;
    return Buffer.from(text);
  }
  const read = await readRegular(file, bytesMax, { follow: true });
  if (read.kind === "missing") throw missing;
  if (read.kind === "read") return read.bytes;
  const why = read.kind === "large" ? `exceeds ${formatBytes(bytesMax)}` : "is not a file";
  throw new HallError(read.kind === "large" ? "TOO_LARGE" : "DENIED", `"${file}" ${why}`);
}
