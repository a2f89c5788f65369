import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Refusal } from "./refusal.ts";

/**
 * Who may speak to the listener at all. A web page must not reach a hall on loopback by rebinding a name (Host), by
 * posting across sites (Origin) or by opening a socket (Origin and token); another machine needs the token for everything.
 */
export interface Guard {
  /** What is wrong with the request's address and origin, on any route. */
  checkSite(request: IncomingMessage): Refusal | undefined;
  /** Who the caller is, or why it is turned away. `needsToken` for what always needs one. */
  identify(
    request: IncomingMessage,
    needsToken: boolean,
  ): { readonly principal: string } | { readonly refusal: Refusal };
}

export interface GuardOptions {
  /** The address the listener is bound to. */
  readonly host: string;
  readonly token: string;
  /** Whose token it is, for tokens besides that one. */
  findName?: ((token: string) => string | undefined) | undefined;
}

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function isLoopback(host: string): boolean {
  return loopbackNames.has(host) || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export function createGuard({ host, token, findName }: GuardOptions): Guard {
  const isLocal = isLoopback(host);
  const tokenDigest = digest(token);
  // A listener for other machines is reached under names we cannot know; there the token is what protects.
  const isOurName = (name: string): boolean => !isLocal || loopbackNames.has(name) || name === host;

  function checkSite(request: IncomingMessage): Refusal | undefined {
    const hosts = headerValues(request, "host");
    const origins = headerValues(request, "origin");
    if (hosts.length !== 1)
      return {
        status: 400,
        code: "INVALID_REQUEST",
        message: "one Host header is needed",
        closes: true,
      };
    if (!isOurName(hostName(hosts[0] ?? ""))) return forbidden("this Host is not served here");
    const target = targetOf(request);
    if (!target)
      return {
        status: 400,
        code: "INVALID_REQUEST",
        message: "the address cannot be read",
        closes: true,
      };
    if (target.host !== anyHost && !isOurName(target.hostname))
      return forbidden("this Host is not served here");
    if (origins.length > 1) return forbidden("more than one Origin");
    const [origin] = origins;
    if (origin !== undefined && !isAllowedOrigin(origin))
      return forbidden("this Origin may not use the hall");
    return undefined;
  }

  function isAllowedOrigin(origin: string): boolean {
    if (!URL.canParse(origin)) return false;
    const { protocol, hostname } = new URL(origin);
    return (
      (protocol === "http:" || protocol === "https:") &&
      (loopbackNames.has(hostname) || hostname === host)
    );
  }

  return {
    checkSite,
    identify(request, needsToken) {
      const given = bearerOf(request);
      if (given !== undefined) {
        if (timingSafeEqual(digest(given), tokenDigest)) return { principal: "token" };
        const name = findName?.(given);
        if (name !== undefined) return { principal: name };
        return { refusal: unauthorized("this token is not valid", 'error="invalid_token"') };
      }
      if (needsToken || !isLocal) return { refusal: unauthorized("a token is needed") };
      return { principal: "local" };
    },
  };
}

function forbidden(message: string): Refusal {
  return {
    status: 403,
    code: "DENIED",
    message,
    hint: "Use the address that `guildhall serve` prints.",
    closes: true,
  };
}

function unauthorized(message: string, parameter?: string): Refusal {
  const hint = "Send it as `Authorization: Bearer TOKEN`; `guildhall token create NAME` makes one.";
  return {
    status: 401,
    code: "DENIED",
    message,
    hint,
    headers: { "www-authenticate": `Bearer realm="guildhall"${parameter ? `, ${parameter}` : ""}` },
  };
}

/** The token from the Authorization header, or from a WebSocket sub-protocol `bearer.TOKEN`: browsers cannot set headers there. Never from a URL. */
function bearerOf(request: IncomingMessage): string | undefined {
  const { authorization, "sec-websocket-protocol": protocols } = request.headers;
  if (authorization !== undefined) return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
  const offered = protocols?.split(",").map((protocol) => protocol.trim());
  return offered
    ?.find((protocol) => protocol.startsWith(bearerProtocol))
    ?.slice(bearerProtocol.length);
}

export const bearerProtocol = "bearer.";

/** Equal lengths make the comparison take the same time whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Every value of a header as it was sent: Node joins or drops repeated ones. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i];
    if (raw?.length === name.length && raw.toLowerCase() === name)
      values.push(rawHeaders[i + 1] ?? "");
  }
  return values;
}

/** The name in a Host header; "" when it is not written as one. */
function hostName(host: string): string {
  return /^(\[[\da-f:.]+\]|[^:@[\]]+)(:\d*)?$/i.exec(host)?.[1]?.toLowerCase() ?? "";
}

/** Stands for the Host of a request that names only a path. */
const anyHost = "path-only.invalid";

/** Nearly every request goes there: parsing an address costs as much as checking a call's arguments. */
const mcpTarget = new URL(`http://${anyHost}/mcp`);

/** Where a request wants to go: a path, or a whole address as to a proxy. A path that begins with two slashes is still a path. */
export function targetOf({ url = "/" }: IncomingMessage): URL | undefined {
  if (url === "/mcp") return mcpTarget;
  const whole = url.startsWith("/")
    ? `http://${anyHost}${url}`
    : url === "*"
      ? `http://${anyHost}/*`
      : url;
  return URL.canParse(whole) ? new URL(whole) : undefined;
}
