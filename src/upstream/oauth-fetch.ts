import type { FetchLike } from "@modelcontextprotocol/client";
import { HallError } from "../base/errors.ts";
import { createDialler, lookupOutside, readAll } from "../net/dial.ts";
import { kindOfHost } from "../net/host.ts";

interface Server {
  readonly url: string;
  readonly allowPrivate: boolean;
}

const timeoutMs = 10_000;
const bytesMax = 1024 * 1024;
const redirectsMax = 3;

/**
 * Fetch for untrusted issuer URLs, which may point into our network, redirect there or never end. Only
 * encrypted or on this machine; private only if the server itself is; no redirects to other hosts.
 */
export function createOAuthFetch(server: Server): FetchLike {
  return async (input, init) => {
    const method = init?.method ?? "GET";
    const headers = Object.fromEntries(new Headers(init?.headers));
    const body = init?.body === undefined || init.body === null ? {} : { body: String(init.body) };
    let url = new URL(input);
    for (let redirects = 0; ; redirects++) {
      refuseUnsafe(url, server);
      const response = await send(url, { method, headers, ...body }, mayStayInside(server));
      const target = redirectOf(response, url);
      if (target === undefined) return response;
      // A redirect to another host, or of a request with a body: treated as not found.
      if (target.origin !== url.origin || method !== "GET" || redirects === redirectsMax)
        return new Response(null, { status: 404 });
      url = target;
    }
  };
}

/** Also for URLs that a person is asked to open. */
export function refuseUnsafe(url: URL, server: Server): void {
  const kind = kindOfHost(url.hostname);
  const isEncrypted =
    url.protocol === "https:" || (url.protocol === "http:" && kind === "loopback");
  if (!isEncrypted)
    throw new HallError(
      "DENIED",
      `the server names ${url.origin === "null" ? url.protocol : url.origin}, which is not encrypted`,
      { hint },
    );
  if (kind !== "public" && !mayStayInside(server))
    throw new HallError("DENIED", `the server names ${url.origin}, which is a private address`, {
      hint,
    });
}

const hint =
  "Nothing was sent. Report it to the operator of the server; `allowPrivate` allows private addresses.";

function mayStayInside({ url, allowPrivate }: Server): boolean {
  return allowPrivate || kindOfHost(new URL(url).hostname) !== "public";
}

interface Init {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request with its complete body. */
async function send(url: URL, init: Init, allowPrivate: boolean): Promise<Response> {
  const dialler = createDialler(lookupOutside(url, allowPrivate));
  try {
    const response = await dialler.send(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const bytes = await readAll(response, bytesMax);
    return new Response(bytes.length > 0 ? new Uint8Array(bytes) : null, {
      status: response.status,
      headers: response.headers,
    });
  } finally {
    dialler.close();
  }
}

function redirectOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get("location");
  if (response.status < 300 || response.status >= 400 || location === null) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}
