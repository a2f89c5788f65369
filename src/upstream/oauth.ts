import type { OAuthTokens } from "@modelcontextprotocol/client";
import { HallError } from "../base/errors.ts";
import type { Secrets } from "../base/log.ts";
import {
  type Challenge,
  explainOAuth,
  findIssuer,
  loadSdk,
  type RemoteServerConfig,
  readChallenge,
} from "./issuer.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";
import type { Account, Logins, TokenStore } from "./token-store.ts";

/**
 * Tokens for one remote server: those of the last login, renewed when the server rejects them. Never
 * interactive: if a person is needed, it fails with login advice.
 */
export interface OAuthOptions {
  readonly name: string;
  readonly config: RemoteServerConfig;
  /** Whose login it is, for servers to which each person logs in. */
  readonly person?: string | undefined;
  readonly store: TokenStore;
  /** Receives every token, so that it is redacted in logs. */
  readonly secrets?: Secrets | undefined;
}

/** How long the store is cached: another process may log in or out. */
const rereadMs = 1_000;
/** A token rejected this soon after it was issued has not expired. */
const freshMs = 10_000;
const hiddenMax = 8;

/** Access tokens for one remote server. */
export interface Authorizer {
  /** The Authorization header, if there is a token; a promise only while the store is read. */
  headers(): LoginHeaders | Promise<LoginHeaders>;
  /**
   * After a 401 or 403: true if there is a new token, false if a retry would not help. `sent` is the
   * rejected Authorization header: if another call has renewed the token meanwhile, that one is used.
   * Throws DENIED with login advice if a person must log in. Concurrent callers share one renewal.
   */
  authorize(response: Response, sent: string | undefined): Promise<boolean>;
  /** On each new connection: a login or logout may have happened. */
  forget(): void;
}

export interface LoginHeaders {
  readonly authorization?: string;
}

export function createOAuth(options: OAuthOptions): Authorizer {
  return new RemoteAccount(options);
}

/** Its public members are functions in fields: transports take them one by one. */
class RemoteAccount implements Authorizer {
  readonly #name: string;
  readonly #person: string | undefined;
  readonly #config: RemoteServerConfig;
  readonly #store: TokenStore;
  readonly #secrets: Secrets | undefined;
  readonly #hidden: string[] = [];
  readonly #flights = new Map<number, Promise<boolean>>();
  #known: Logins | undefined;
  #reading: Promise<Logins> | undefined;
  #readAt = 0;
  #freshUntil = 0;

  constructor({ name, config, person, store, secrets }: OAuthOptions) {
    this.#name = name;
    this.#person = person;
    this.#config = config;
    this.#store = store;
    this.#secrets = secrets;
  }

  readonly headers: Authorizer["headers"] = () => {
    const isRecent = performance.now() - this.#readAt < rereadMs;
    if (this.#known && isRecent) return this.#headersOf(this.#known);
    return this.#readTogether().then((logins) => this.#headersOf(logins));
  };

  readonly authorize: Authorizer["authorize"] = async (response, sent) => {
    const challenge = await readChallenge(response);
    if (challenge.status === 403 && challenge.error !== "insufficient_scope") return false;
    const running = this.#flights.get(challenge.status);
    if (running) return running;
    const flight = this.#improve(challenge, sent).finally(() =>
      this.#flights.delete(challenge.status),
    );
    this.#flights.set(challenge.status, flight);
    return flight;
  };

  readonly forget = (): void => {
    this.#known = undefined;
    this.#reading = undefined;
  };

  #headersOf(logins: Logins): LoginHeaders {
    const authorization = this.#bearerOf(logins);
    return authorization === undefined ? {} : { authorization };
  }

  /** One read of the store for all calls that need it at the same time. */
  #readTogether(): Promise<Logins> {
    if (this.#reading) return this.#reading;
    const reading = this.#read().finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }

  async #read(): Promise<Logins> {
    this.#known = await this.#store.read();
    this.#readAt = performance.now();
    const { client, tokens } = this.#accountIn(this.#known) ?? {};
    this.#hide([tokens?.access_token, tokens?.refresh_token, client?.client_secret]);
    return this.#known;
  }

  /** Older tokens stay redacted for a while: a late log line may contain them. */
  #hide(values: readonly (string | undefined)[]): void {
    for (const value of values) {
      if (value === undefined || this.#hidden.includes(value)) continue;
      this.#hidden.push(value);
      this.#secrets?.add(value);
      const oldest = this.#hidden.length > hiddenMax ? this.#hidden.shift() : undefined;
      if (oldest !== undefined) this.#secrets?.remove(oldest);
    }
  }

  /** The tokens in use; not those of another client or issuer than the config names. */
  #accountIn({ issuer, accounts }: Logins): Account | undefined {
    const account = issuer === undefined ? undefined : accounts[issuer];
    const { clientId, issuer: wanted } = this.#config.oauth ?? {};
    const isOther =
      (clientId !== undefined && account?.client.client_id !== clientId) ||
      (wanted !== undefined && issuer !== wanted);
    return isOther ? undefined : account;
  }

  #bearerOf(logins: Logins): string | undefined {
    const token = this.#accountIn(logins)?.tokens?.access_token;
    return token === undefined ? undefined : `Bearer ${token}`;
  }

  async #improve(challenge: Challenge, sent: string | undefined): Promise<boolean> {
    const logins = await this.#read();
    if (this.#bearerOf(logins) !== sent) return true;
    const account = this.#accountIn(logins);
    const granted = account?.tokens?.scope;
    if (challenge.status === 403 && covers(granted, challenge.scope)) return false;
    const isOwn = this.#config.oauth?.grant === "client_credentials";
    if (challenge.status === 401 && performance.now() < this.#freshUntil)
      throw isOwn ? refused() : needsLogin(this.#name, this.#person);
    if (isOwn) return this.#renew(sent, (current) => this.#fetchOwn(challenge, current));
    if (challenge.status === 403) {
      await this.#store.write({
        ...logins,
        wantedScope: unite(logins.wantedScope, challenge.scope),
      });
      throw needsLogin(this.#name, this.#person, challenge.scope);
    }
    if (account?.tokens?.refresh_token === undefined) throw needsLogin(this.#name, this.#person);
    return this.#renew(sent, (current) => this.#refresh(challenge, current));
  }

  /** One process at a time; those that waited use the result. */
  #renew(sent: string | undefined, work: (current: Logins) => Promise<Logins>): Promise<boolean> {
    return this.#store.exclusively(async () => {
      const current = await this.#read();
      if (this.#bearerOf(current) !== sent) return true;
      const next = await work(current).catch(async (error: unknown) =>
        Promise.reject(
          await explainOAuth(error, `cannot renew the token for server "${this.#name}"`),
        ),
      );
      await this.#store.write(next);
      this.#freshUntil =
        performance.now() +
        Math.min(
          freshMs,
          (this.#accountIn(next)?.tokens?.expires_in ?? Number.POSITIVE_INFINITY) * 1000,
        );
      await this.#read();
      return true;
    });
  }

  async #refresh(challenge: Challenge, logins: Logins): Promise<Logins> {
    const account = this.#accountIn(logins);
    const refreshToken = account?.tokens?.refresh_token;
    const issuer = await findIssuer(this.#config, challenge.resourceMetadataUrl);
    // Never send the credentials of one issuer to another.
    if (!account || refreshToken === undefined || issuer.id !== logins.issuer)
      throw needsLogin(this.#name, this.#person);
    const { OAuthError, refreshAuthorization } = await loadSdk();
    const { resource = issuer.resource } = account;
    try {
      const tokens = await refreshAuthorization(issuer.url, {
        ...(issuer.metadata ? { metadata: issuer.metadata } : {}),
        clientInformation: clientOf(account, this.#config),
        refreshToken,
        ...(resource === undefined ? {} : { resource }),
        fetchFn: createOAuthFetch(this.#config),
      });
      return withAccount(logins, issuer.id, {
        ...account,
        tokens: keep(tokens, tokens.scope ?? account.tokens?.scope),
      });
    } catch (error) {
      if (!(error instanceof OAuthError) || transient.has(error.code)) throw error;
      await this.#store.write(withAccount(logins, issuer.id, { ...account, tokens: undefined }));
      throw needsLogin(this.#name, this.#person);
    }
  }

  /** For the client credentials grant. */
  async #fetchOwn(challenge: Challenge, logins: Logins): Promise<Logins> {
    const { clientId, clientSecret, scope } = this.#config.oauth ?? {};
    if (clientId === undefined || clientSecret === undefined) {
      throw new HallError("DENIED", "has no OAuth client", {
        hint: "Set oauth.clientId and oauth.clientSecret in its entry.",
      });
    }
    const issuer = await findIssuer(this.#config, challenge.resourceMetadataUrl);
    const { ClientCredentialsProvider, fetchToken } = await loadSdk();
    const wanted = unite(
      scope ?? issuer.found.resourceMetadata?.scopes_supported?.join(" "),
      challenge.scope,
    );
    const provider = new ClientCredentialsProvider({
      clientId,
      clientSecret,
      clientName: "Guildhall",
      expectedIssuer: issuerOf(logins, clientId) ?? issuer.id,
    });
    const tokens = await fetchToken(provider, issuer.url, {
      ...(issuer.metadata ? { metadata: issuer.metadata } : {}),
      ...(issuer.resource === undefined ? {} : { resource: issuer.resource }),
      ...scoped(wanted),
      fetchFn: createOAuthFetch(this.#config),
    });
    return withAccount(logins, issuer.id, {
      client: { client_id: clientId },
      tokens: keep(tokens, tokens.scope ?? wanted),
      resource: issuer.resource,
    });
  }
}

/** Errors after which a retry may succeed. */
const transient: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "too_many_requests",
]);

function needsLogin(name: string, person: string | undefined, scope?: string): HallError {
  const message = scope === undefined ? "needs login" : `needs login for the scope "${scope}"`;
  const command = person === undefined ? `login ${name}` : `login ${name} --person "${person}"`;
  return new HallError("DENIED", message, {
    next: [
      person === undefined ? { do: "login", server: name } : { do: "run-command", command, person },
    ],
    details: { login: `guildhall ${command}`, ...scoped(scope) },
  });
}

function refused(): HallError {
  return new HallError("DENIED", "rejects the access token from its issuer", {
    hint: "Check oauth.clientId, oauth.clientSecret and oauth.scope of its entry.",
  });
}

/** The secret of a configured client is not stored; it comes from the config. */
export function clientOf({ client }: Account, { oauth }: RemoteServerConfig): Account["client"] {
  const isOurs = oauth?.clientSecret !== undefined && client.client_id === oauth.clientId;
  return isOurs ? { ...client, client_secret: oauth.clientSecret } : client;
}

/** The issuer this client was used with before: the credentials are not sent to another one. */
export function issuerOf({ accounts }: Logins, clientId: string): string | undefined {
  return Object.entries(accounts).find(([, { client }]) => client.client_id === clientId)?.[0];
}

export function withAccount(logins: Logins, issuer: string, account: Account): Logins {
  return { ...logins, issuer, accounts: { ...logins.accounts, [issuer]: account } };
}

/** Only the fields we need; no id token. */
export function keep(
  { access_token, token_type, expires_in, refresh_token }: OAuthTokens,
  scope: string | undefined,
): OAuthTokens {
  return { access_token, token_type, expires_in, refresh_token, ...scoped(scope) };
}

export function unite(...scopes: readonly (string | undefined)[]): string | undefined {
  const words = new Set(
    scopes.flatMap((scope) => scope?.split(" ") ?? []).filter((word) => word !== ""),
  );
  return words.size > 0 ? [...words].join(" ") : undefined;
}

export function scoped(scope: string | undefined): { scope?: string } {
  return scope === undefined ? {} : { scope };
}

function covers(granted: string | undefined, wanted: string | undefined): boolean {
  const words = new Set(granted?.split(" ") ?? []);
  return wanted === undefined || wanted.split(" ").every((word) => words.has(word));
}
