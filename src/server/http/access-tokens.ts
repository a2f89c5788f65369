import { createHash } from "node:crypto";
import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/schema.ts";
import { findMisuse, type IssuerConfig, readClaims, scopeNameOf } from "./claims.ts";
import type { Admission, Identity } from "./guard.ts";
import { Issuer } from "./issuer.ts";
import {
  type BegunSignIn,
  beginSignIn,
  finishSignIn,
  type SignInAnswer,
} from "./issuer-sign-in.ts";
import { type Refusal, wellKnownPath } from "./refusal.ts";

export interface AccessTokenOptions {
  readonly issuers: Config["auth"]["issuers"];
  /** Where clients reach the hall, without a slash at its end. */
  url(): string;
  readonly log: Log;
  readonly now?: () => number;
}

/** The verdict on a token, kept for a short time: a signature costs as much as a call. */
interface Verdict {
  readonly admission: Admission;
  readonly until: number;
}

/** Neither `none` nor a shared secret, whose key everybody who can check a token could forge one with. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
const jwtMsMax = 60_000;
/** How long a revoked token may still be accepted. */
const introspectionMsMax = 10_000;
const verdictsMax = 5_000;
const clockToleranceSeconds = 5;

/** The endpoints that a client may take for the resource. All belong to the hall. */
const resourcePaths = /^(\/|\/mcp(\/[A-Za-z0-9_.-]{1,64})?|\/sse|\/ws)?$/;

/**
 * The hall as an OAuth 2.1 resource server, as MCP's authorization chapter wants it: checks access tokens of the
 * configured issuers, and tells clients where to get one. Tokens stay here; no upstream sees them.
 */
export class AccessTokens {
  readonly #options: AccessTokenOptions;
  readonly #named: ReadonlyMap<string, Issuer>;
  readonly #issuers: readonly Issuer[];
  readonly #now: () => number;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #running = new Map<string, Promise<Admission>>();

  constructor(options: AccessTokenOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#named = new Map(
      Object.entries(options.issuers).map(([name, issuer]) => [
        name,
        new Issuer(issuer, this.#now),
      ]),
    );
    this.#issuers = [...this.#named.values()];
  }

  /** The owner of a token, or why it is refused; a promise unless the token was checked just before. */
  identify(token: string): Admission | Promise<Admission> {
    const key = createHash("sha256").update(token).digest("base64url");
    const known = this.#verdicts.get(key);
    if (known && known.until > this.#now()) return known.admission;
    const running = this.#running.get(key);
    if (running) return running;
    const checking = this.#check(token)
      .then((verdict) => {
        this.#remember(key, verdict);
        return verdict.admission;
      })
      .catch((error: unknown) => ({ refusal: this.#explain(error) }))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, checking);
    return checking;
  }

  /** The issuers at which a person can sign in to the page: the hall has a client there. */
  get signInIssuers(): readonly string[] {
    const named = [...this.#named].filter(([, { config }]) => config.clientId !== undefined);
    return named.map(([name]) => name);
  }

  /** Throws INVALID_PARAMS and UNAVAILABLE. */
  async beginSignIn(name: string): Promise<BegunSignIn> {
    const place = this.#placeOf(name);
    const names = Object.keys(place.issuer.config.scopes);
    return beginSignIn(place, names.length > 0 ? names.join(" ") : "call");
  }

  /** Resolves with a token that `identify` has to check. Throws INVALID_PARAMS, DENIED and UNAVAILABLE. */
  async finishSignIn(name: string, answer: SignInAnswer): Promise<string> {
    return finishSignIn(this.#placeOf(name), answer);
  }

  #placeOf(name: string): { readonly issuer: Issuer; readonly url: string } {
    const issuer = this.#named.get(name);
    if (issuer?.config.clientId === undefined)
      throw new HallError("INVALID_PARAMS", "the page does not offer sign-in with this issuer");
    return { issuer, url: this.#options.url() };
  }

  /** The metadata of the resource at a path (RFC 9728); undefined if it is none of ours. */
  metadata(path: string): JsonObject | undefined {
    if (!resourcePaths.test(path)) return undefined;
    return {
      resource: `${this.#options.url()}${path}`,
      resource_name: "Guildhall",
      authorization_servers: this.#issuers.map(({ config }) => config.url),
      scopes_supported: [this.#scopeName("call")],
      bearer_methods_supported: ["header"],
    };
  }

  /** The refusal with the challenge that tells a client where to get a token, or a better one. */
  challenge(refusal: Refusal, path: string): Refusal {
    const { status, scope = "call" } = refusal;
    if (status !== 401 && !(status === 403 && refusal.scope !== undefined)) return refusal;
    const at = resourcePaths.test(path) && path !== "/" ? path : "";
    const given = refusal.headers?.["www-authenticate"] ?? 'Bearer realm="guildhall"';
    const parts = [
      given,
      ...(status === 403 ? ['error="insufficient_scope"'] : []),
      `resource_metadata="${this.#options.url()}${wellKnownPath}${at}"`,
      `scope="${this.#scopeName(scope)}"`,
    ];
    return { ...refusal, headers: { ...refusal.headers, "www-authenticate": parts.join(", ") } };
  }

  #scopeName(right: string): string {
    return scopeNameOf(
      right,
      this.#issuers.map(({ config }) => config),
    );
  }

  #check(token: string): Promise<Verdict> {
    return token.split(".").length === 3 ? this.#checkJwt(token) : this.#checkOpaque(token);
  }

  async #checkJwt(token: string): Promise<Verdict> {
    const { decodeJwt, jwtVerify } = await import("jose");
    const { iss } = decodeJwt(token);
    const issuer = this.#issuers.find(({ config }) => config.url === iss);
    if (!issuer) throw invalid("its issuer is not accepted here");
    const { payload, protectedHeader } = await jwtVerify(token, await issuer.keys(), {
      algorithms,
      issuer: issuer.config.url,
      requiredClaims: ["exp"],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(this.#now()),
    });
    const identity = this.#read(payload, issuer.config, protectedHeader);
    return this.#accept(identity, payload, jwtMsMax);
  }

  async #checkOpaque(token: string): Promise<Verdict> {
    for (const issuer of this.#issuers.filter(({ answers }) => answers)) {
      const claims = await issuer.introspect(token);
      if (!claims) continue;
      const { iss = issuer.config.url, exp, nbf, token_type = "Bearer" } = claims;
      const now = this.#now() / 1_000;
      if (iss !== issuer.config.url) throw invalid("it is of another issuer");
      if (typeof exp === "number" && exp <= now) throw invalid("it has expired");
      if (typeof nbf === "number" && nbf > now + clockToleranceSeconds)
        throw invalid("it is not valid yet");
      if (String(token_type).toLowerCase() !== "bearer") throw invalid("it is no bearer token");
      return this.#accept(this.#read(claims, issuer.config), claims, introspectionMsMax);
    }
    // Remembered too, so that repeating it does not ask the issuer again.
    const refusal = this.#explain(invalid("it is unknown, revoked or expired"));
    return { admission: { refusal }, until: this.#now() + introspectionMsMax };
  }

  #read(claims: JsonObject, issuer: IssuerConfig, header?: JsonObject): Identity {
    const misuse = findMisuse(claims, header);
    if (misuse !== undefined) throw invalid(misuse);
    if (!this.#isForUs(claims.aud, issuer)) throw invalid("it is meant for another audience");
    const claimed = readClaims(claims, issuer);
    if (typeof claimed === "string") throw invalid(claimed);
    const { person, scopes } = claimed;
    return { principal: person.user, person, rights: { scopes } };
  }

  #isForUs(aud: unknown, { audiences }: IssuerConfig): boolean {
    const url = this.#options.url();
    const isOurs = (name: unknown): boolean =>
      typeof name === "string" &&
      (audiences.includes(name) ||
        (name.startsWith(url) && resourcePaths.test(name.slice(url.length))));
    return Array.isArray(aud) ? aud.some(isOurs) : isOurs(aud);
  }

  #accept(admission: Identity, { exp }: JsonObject, msMax: number): Verdict {
    const now = this.#now();
    const endsAt = typeof exp === "number" ? exp * 1_000 : Number.POSITIVE_INFINITY;
    return { admission, until: Math.min(endsAt, now + msMax) };
  }

  #remember(key: string, verdict: Verdict): void {
    if (this.#verdicts.size >= verdictsMax)
      this.#verdicts.delete(this.#verdicts.keys().next().value as string);
    this.#verdicts.set(key, verdict);
  }

  /** Reports why in words that say nothing about other tokens. */
  #explain(error: unknown): Refusal {
    if (error instanceof HallError && error.code !== "DENIED") {
      this.#options.log.warn(error.message);
      const headers = { "retry-after": "5" };
      return {
        status: 503,
        code: error.code,
        message: "access tokens cannot be checked now",
        headers,
      };
    }
    const { code } = isObject(error) ? error : {};
    if (isFetchFailure(code)) return this.#explain(new HallError("UNAVAILABLE", messageOf(error)));
    const reason = error instanceof HallError ? error.message : "";
    return {
      status: 401,
      code: "DENIED",
      message: `invalid access token${reason === "" ? describe(code) : `: ${reason}`}`,
      hint: "Sign in again, and send the new token as `Authorization: Bearer TOKEN`.",
      headers: { "www-authenticate": 'Bearer realm="guildhall", error="invalid_token"' },
    };
  }
}

function invalid(reason: string): HallError {
  return new HallError("DENIED", reason);
}

/** Errors of jose that concern the keys rather than the token. */
function isFetchFailure(code: unknown): boolean {
  return code === "ERR_JWKS_TIMEOUT" || code === "ERR_JWKS_INVALID" || code === "ERR_JOSE_GENERIC";
}

function describe(code: unknown): string {
  if (code === "ERR_JWT_EXPIRED") return ": it has expired";
  if (code === "ERR_JWT_CLAIM_VALIDATION_FAILED") return ": a claim is missing or wrong";
  return code === "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" ? ": its signature is wrong" : "";
}
