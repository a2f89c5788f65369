import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../../base/json.ts";
import type { Person } from "../../tool.ts";
import { changesRegistry, scopeOfChange } from "../dialect.ts";
import { allRights, isAllowed, type Rights, rightsWithoutToken } from "../rights.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { invalidRequest, type Refusal } from "./refusal.ts";
import { SameUser } from "./same-user.ts";
import { identifyCertificate } from "./tls.ts";

export interface GuardOptions {
  /** The address the listener is bound to. */
  readonly host: string;
  readonly token: string;
  /** The owner of a named token. */
  findOwner?: ((token: string) => Found) | undefined;
  /** A caller that another hall vouches for, unless its token was revoked. */
  admit?: ((caller: Identity) => Found) | undefined;
  /** Checks tokens that are neither ours nor named. */
  readonly accessTokens?: AccessTokens | undefined;
  /** Where clients reach the hall, if it is not where it listens: behind a proxy. */
  readonly publicUrl?: string | undefined;
  /** Admit every program on this machine without a token, whichever user runs it. */
  readonly open?: boolean | undefined;
}

/** The sender of a request and its rights. */
export interface Identity {
  readonly principal: string;
  /** Undefined for the user, whose programs need no token. */
  readonly person?: Person | undefined;
  readonly rights: Rights;
}

/**
 * True if a session opened by one identity may be used by the other. A later token of the same person may have
 * other rights or groups.
 */
export function isSameCaller(one: Identity, other: Identity): boolean {
  if (one.principal !== other.principal) return false;
  const isSame = one.rights === other.rights && one.person === other.person;
  return isSame || textOf(one) === textOf(other);
}

/** As another hall passes it on: without fields that are undefined. */
function textOf({ rights, person }: Identity): string {
  return JSON.stringify([rights, person]);
}

export type Admission = Identity | { readonly refusal: Refusal };

type Found = Admission | undefined | Promise<Admission | undefined>;

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function isLoopback(host: string): boolean {
  return loopbackNames.has(host) || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * Decides who may use the listener. A web page must not reach a hall on loopback by DNS rebinding
 * (Host), by a cross-site request (Origin) or by a WebSocket (Origin and token). Other machines and
 * other users of this one need the token for everything.
 */
export class AccessGuard {
  readonly #options: GuardOptions;
  readonly #isLocal: boolean;
  readonly #tokenDigest: Buffer;
  readonly #sameUser = new SameUser();
  readonly #publicUrl: URL | undefined;
  /** False if requests may come through a proxy, which runs on this machine like the user's own programs. */
  readonly #admitsLocal: boolean;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#isLocal = isLoopback(options.host);
    this.#tokenDigest = digest(options.token);
    this.#publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
    this.#admitsLocal = this.#isLocal && isLoopback(this.#publicUrl?.hostname ?? options.host);
  }

  /** True if every caller must send a token, because we cannot know whose program it is. */
  get needsToken(): boolean {
    return !this.#admitsLocal || !(this.#options.open || process.platform === "linux");
  }

  /** Checks Host and Origin, on every route. */
  checkSite(request: IncomingMessage): Refusal | undefined {
    const hosts = headerValues(request, "host");
    if (hosts.length !== 1)
      return invalidRequest(400, "exactly one Host header is required", { closes: true });
    if (!this.#isOurName(hostName(hosts[0] ?? ""))) return forbidden("this Host is not allowed");
    const target = targetOf(request);
    if (!target) return invalidRequest(400, "invalid request URL", { closes: true });
    if (target.host !== anyHost && !this.#isOurName(target.hostname))
      return forbidden("this Host is not allowed");
    const [origin, ...otherOrigins] = headerValues(request, "origin");
    if (otherOrigins.length > 0) return forbidden("duplicate header: Origin");
    if (origin !== undefined && !this.#isAllowedOrigin(origin))
      return forbidden("this Origin is not allowed");
    return undefined;
  }

  /** The caller, or why it is refused; usually a promise only for the first request of a connection. */
  identify(request: IncomingMessage): Admission | Promise<Admission> {
    const given = bearerOf(request);
    if (given !== undefined) return this.#identifyToken(given);
    const owner = identifyCertificate(request.socket);
    if (owner) return owner;
    if (!this.#admitsLocal) return { refusal: unauthorized("a token is required") };
    if (this.#options.open) return withoutToken;
    const isOurs = this.#sameUser.has(request.socket);
    return typeof isOurs === "boolean" ? admitSameUser(isOurs) : isOurs.then(admitSameUser);
  }

  /** The caller that another hall vouches for. */
  async identifyPassedOn(caller: Identity | "forged"): Promise<Admission> {
    if (caller === "forged") return { refusal: notPassedOn };
    const { admit } = this.#options;
    return admit ? ((await admit(caller)) ?? { refusal: invalidToken }) : caller;
  }

  /** The refusal with what a client must know to get an access token. */
  challenge(refusal: Refusal, request: IncomingMessage): Refusal {
    const { accessTokens } = this.#options;
    return accessTokens?.challenge(refusal, targetOf(request)?.pathname ?? "") ?? refusal;
  }

  #identifyToken(given: string): Admission | Promise<Admission> {
    if (timingSafeEqual(digest(given), this.#tokenDigest))
      return { principal: "token", rights: allRights };
    const owner = this.#options.findOwner?.(given);
    return owner instanceof Promise
      ? owner.then((found) => found ?? this.#identifyOther(given))
      : (owner ?? this.#identifyOther(given));
  }

  #identifyOther(given: string): Admission | Promise<Admission> {
    return this.#options.accessTokens?.identify(given) ?? { refusal: invalidToken };
  }

  /** A listener for other machines has host names we cannot know; the token protects it instead. */
  #isOurName(name: string): boolean {
    const { host } = this.#options;
    if (!this.#isLocal || loopbackNames.has(name)) return true;
    return name === host || name === this.#publicUrl?.hostname;
  }

  #isAllowedOrigin(origin: string): boolean {
    if (!URL.canParse(origin)) return false;
    if (origin === this.#publicUrl?.origin) return true;
    const { protocol, hostname } = new URL(origin);
    return (
      (protocol === "http:" || protocol === "https:") &&
      (loopbackNames.has(hostname) || hostname === this.#options.host)
    );
  }
}

const withoutToken: Identity = { principal: "local", rights: rightsWithoutToken };

function admitSameUser(isOurs: boolean): Admission {
  return isOurs
    ? withoutToken
    : { refusal: unauthorized("a token is required: this may be a program of another user") };
}

export function hasToken({ principal }: Identity): boolean {
  return principal !== withoutToken.principal;
}

/** Refuses an access token that allows neither calls nor registrations. Named tokens are checked later. */
export function refuseWithoutUse(caller: Identity): Refusal | undefined {
  const { person, rights } = caller;
  if (person?.issuer === undefined || rights.scopes.some((scope) => scope.startsWith("register:")))
    return undefined;
  return refuseWithout("call", caller);
}

/** Why a caller may not do what requires the scope: 401 without a token, else 403. */
export function refuseWithout(scope: string, caller: Identity): Refusal | undefined {
  if (isAllowed(caller.rights, scope)) return undefined;
  if (!hasToken(caller)) return unauthorized("a token is required");
  return {
    status: 403,
    code: "DENIED",
    message: `the token has no scope ${scope}`,
    scope,
    hint: "Use a token that has it.",
    next: [{ do: "run-command", command: `token create NAME --scope ${scope}` }],
  };
}

/** Why a caller may not change the registry. With an access token, a client can ask its issuer for the scope. */
export function refuseChange(
  method: string,
  params: JsonObject,
  caller: Identity,
): Refusal | undefined {
  if (!changesRegistry(method)) return undefined;
  if (!hasToken(caller)) return refuseWithout("admin", caller);
  const isOfIssuer = caller.person?.issuer !== undefined;
  const scope = isOfIssuer ? scopeOfChange(method, params) : undefined;
  return scope === undefined ? undefined : refuseWithout(scope, caller);
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

export function unauthorized(message: string, parameter?: string): Refusal {
  return {
    status: 401,
    code: "DENIED",
    message,
    hint: "Send a token as `Authorization: Bearer TOKEN`.",
    next: [{ do: "run-command", command: "token create NAME" }],
    headers: { "www-authenticate": `Bearer realm="guildhall"${parameter ? `, ${parameter}` : ""}` },
  };
}

/**
 * From the Authorization header, or from the WebSocket subprotocol `bearer.TOKEN`, because browsers
 * cannot set headers there. Never from a URL.
 */
function bearerOf(request: IncomingMessage): string | undefined {
  const { authorization, "sec-websocket-protocol": protocols } = request.headers;
  // Two of them name two callers, and a proxy may have checked the other one.
  if (authorization !== undefined && headerValues(request, "authorization").length > 1) return "";
  if (authorization !== undefined) return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
  const offered = protocols?.split(",").map((protocol) => protocol.trim());
  return offered
    ?.find((protocol) => protocol.startsWith(bearerProtocol))
    ?.slice(bearerProtocol.length);
}

export const bearerProtocol = "bearer.";

const notPassedOn: Refusal = {
  status: 403,
  code: "DENIED",
  message: "no hall passed this request on",
};
const invalidToken = unauthorized("invalid token", 'error="invalid_token"');

/** Equal lengths allow a comparison in constant time. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Every value of a header as it was sent; Node joins or drops repeated ones. */
export function headerValues({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  if (headers[name] === undefined) return [];
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i];
    if (raw?.length === name.length && raw.toLowerCase() === name)
      values.push(rawHeaders[i + 1] ?? "");
  }
  return values;
}

/** The name in a Host header; "" if the header is malformed. */
function hostName(host: string): string {
  return /^(\[[\da-f:.]+\]|[^:@[\]]+)(:\d*)?$/i.exec(host)?.[1]?.toLowerCase() ?? "";
}

/** Placeholder for the host of a request that contains only a path. */
const anyHost = "path-only.invalid";

/** The usual target, parsed once: parsing a URL costs as much as validating arguments. */
const mcpTarget = new URL(`http://${anyHost}/mcp`);

/** The target of a request: a path, or an absolute URL as for a proxy. A path may start with two slashes. */
export function targetOf({ url = "/" }: IncomingMessage): URL | undefined {
  if (url === "/mcp") return mcpTarget;
  let whole = url;
  if (url.startsWith("/")) whole = `http://${anyHost}${url}`;
  else if (url === "*") whole = `http://${anyHost}/*`;
  return URL.canParse(whole) ? new URL(whole) : undefined;
}
