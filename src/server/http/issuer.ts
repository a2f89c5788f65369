import type { JWTVerifyGetKey } from "jose";
import { HallError, messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { createOAuthFetch } from "../../upstream/oauth-fetch.ts";
import type { IssuerConfig } from "./claims.ts";

interface FetchOptions {
  readonly method: string;
  readonly headers: Headers;
}

interface Metadata {
  readonly keys: JWTVerifyGetKey;
  readonly introspectionEndpoint: string | undefined;
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string | undefined;
  /** Its answers to logins say that they are its own (RFC 9207). */
  readonly namesItself: boolean;
}

type Endpoints = Pick<Metadata, "namesItself"> & {
  readonly [E in "authorizationEndpoint" | "tokenEndpoint"]: string;
};

/** A new key is looked for at most this often, however many tokens name unknown ones. */
const keysEveryMs = 30_000;
const keysMsMax = 600_000;
const metadataMsMax = 3_600_000;
const retryMs = 15_000;
const questionsMax = 32;

/** One configured issuer: its metadata and keys, fetched when they are first needed, and its answers about tokens. */
export class Issuer {
  readonly config: IssuerConfig;
  readonly #now: () => number;
  readonly #fetch: ReturnType<typeof createOAuthFetch>;
  #metadata: { readonly found: Promise<Metadata>; until: number } | undefined;
  #questions = 0;

  constructor(config: IssuerConfig, now: () => number) {
    this.config = config;
    this.#now = now;
    const { hostname } = new URL(config.url);
    this.#fetch = (input, init) => {
      // The user configured the issuer, so its own host may be in a private network.
      const allowPrivate = new URL(input).hostname === hostname;
      const sent = createOAuthFetch({ url: config.url, allowPrivate })(input, init);
      return sent.catch((error: unknown) => {
        throw unavailable(config.url, messageOf(error));
      });
    };
  }

  /** True if it can be asked about tokens that are not JWTs. */
  get answers(): boolean {
    return this.config.clientId !== undefined && this.config.clientSecret !== undefined;
  }

  /** The issuer's keys, cached. Throws UNAVAILABLE. */
  async keys(): Promise<JWTVerifyGetKey> {
    return (await this.#findMetadata()).keys;
  }

  /** The claims of a token (RFC 7662); undefined if it is not active. Throws UNAVAILABLE and OVERLOADED. */
  async introspect(token: string): Promise<JsonObject | undefined> {
    const { introspectionEndpoint } = await this.#findMetadata();
    if (introspectionEndpoint === undefined)
      throw unavailable(this.config.url, "it has no introspection endpoint");
    if (this.#questions >= questionsMax)
      throw new HallError("OVERLOADED", "too many unknown tokens at once");
    this.#questions++;
    try {
      const form = { token, token_type_hint: "access_token" };
      const response = await this.post(introspectionEndpoint, form);
      if (!response.ok) throw unavailable(this.config.url, `HTTP ${response.status}`);
      const claims: unknown = await response.json();
      return isObject(claims) && claims.active === true ? claims : undefined;
    } catch (error) {
      // Its answer is not JSON.
      throw error instanceof HallError ? error : unavailable(this.config.url, messageOf(error));
    } finally {
      this.#questions--;
    }
  }

  /** Where a person signs in, and where the hall gets the token. Throws UNAVAILABLE. */
  async endpoints(): Promise<Endpoints> {
    const { authorizationEndpoint, tokenEndpoint, namesItself } = await this.#findMetadata();
    if (authorizationEndpoint === undefined || tokenEndpoint === undefined)
      throw unavailable(this.config.url, "its metadata names no page to sign in");
    return { authorizationEndpoint, tokenEndpoint, namesItself };
  }

  /** Sends a form as the hall's own client. Throws UNAVAILABLE. */
  post(endpoint: string, form: Readonly<Record<string, string>>): Promise<Response> {
    const { clientId = "", clientSecret } = this.config;
    const body = new URLSearchParams(form);
    const headers = new Headers({
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
    });
    if (clientSecret === undefined) body.set("client_id", clientId);
    else {
      const client = [clientId, clientSecret].map(encodeURIComponent).join(":");
      headers.set("authorization", `Basic ${Buffer.from(client).toString("base64")}`);
    }
    return this.#fetch(endpoint, { method: "POST", headers, body: body.toString() });
  }

  #findMetadata(): Promise<Metadata> {
    const now = this.#now();
    if (!this.#metadata || this.#metadata.until <= now) {
      const known = { found: this.#discover(), until: now + metadataMsMax };
      known.found.catch(() => {
        known.until = this.#now() + retryMs;
      });
      this.#metadata = known;
    }
    return this.#metadata.found;
  }

  /** OAuth's metadata (RFC 8414), then OpenID Connect's. Only what names this very issuer counts. */
  async #discover(): Promise<Metadata> {
    const { url } = this.config;
    let problem = "it has no metadata";
    for (const place of metadataUrls(url)) {
      try {
        const response = await this.#fetch(place, { headers: { accept: "application/json" } });
        const metadata: unknown = response.ok ? await response.json() : undefined;
        if (!isObject(metadata)) continue;
        if (metadata.issuer === url) return await this.#read(metadata);
        problem = "its metadata names another issuer";
      } catch (error) {
        problem = messageOf(error);
      }
    }
    throw unavailable(url, problem);
  }

  async #read(metadata: JsonObject): Promise<Metadata> {
    const { jwks_uri } = metadata;
    if (typeof jwks_uri !== "string") throw unavailable(this.config.url, "it names no keys");
    const { createRemoteJWKSet, customFetch } = await import("jose");
    let retryAt = 0;
    const keys = createRemoteJWKSet(new URL(jwks_uri), {
      cooldownDuration: keysEveryMs,
      cacheMaxAge: keysMsMax,
      [customFetch]: async (place: string, { method, headers }: FetchOptions) => {
        if (this.#now() < retryAt)
          throw unavailable(this.config.url, "its keys could not be read a moment ago");
        retryAt = this.#now() + retryMs;
        const response = await this.#fetch(place, { method, headers });
        if (response.ok) retryAt = 0;
        return response;
      },
    });
    const endpoint = (name: string): string | undefined => {
      const value = metadata[`${name}_endpoint`];
      return typeof value === "string" && URL.canParse(value) ? value : undefined;
    };
    return {
      keys,
      introspectionEndpoint: endpoint("introspection"),
      authorizationEndpoint: endpoint("authorization"),
      tokenEndpoint: endpoint("token"),
      namesItself: metadata.authorization_response_iss_parameter_supported === true,
    };
  }
}

function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const [oauth, openId] = ["oauth-authorization-server", "openid-configuration"];
  const places = [
    `${origin}/.well-known/${oauth}${path}`,
    `${origin}${path}/.well-known/${openId}`,
    `${origin}/.well-known/${openId}${path}`,
  ];
  return [...new Set(places)];
}

function unavailable(url: string, reason: string): HallError {
  return new HallError("UNAVAILABLE", `the issuer ${url} cannot be used: ${reason}`);
}
