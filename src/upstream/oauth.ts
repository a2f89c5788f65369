import type { OAuthTokens } from "@modelcontextprotocol/client";
import { HallError } from "../base/errors.ts";
import type { Secrets } from "../base/log.ts";
import type { Authorizer } from "./authorizer.ts";
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
  readonly store: TokenStore;
  /** Receives every token, so that it is redacted in logs. */
  readonly secrets?: Secrets | undefined;
}

/** How long the store is cached: another process may log in or out. */
const rereadMs = 1_000;
/** A token rejected this soon after it was issued has not expired. */
const freshMs = 10_000;
const hiddenMax = 8;

export function createOAuth({ name, config, store, secrets }: OAuthOptions): Authorizer {
  const hidden: string[] = [];
  const flights = new Map<number, Promise<boolean>>();
  let known: Logins | undefined;
  let readAt = 0;
  let freshUntil = 0;

  async function read(): Promise<Logins> {
    known = await store.read();
    readAt = performance.now();
    const { client, tokens } = accountIn(known) ?? {};
    hide([tokens?.access_token, tokens?.refresh_token, client?.client_secret]);
    return known;
  }

  /** Older tokens stay redacted for a while: a late log line may contain them. */
  function hide(values: readonly (string | undefined)[]): void {
    for (const value of values) {
      if (value === undefined || hidden.includes(value)) continue;
      hidden.push(value);
      secrets?.add(value);
      const oldest = hidden.length > hiddenMax ? hidden.shift() : undefined;
      if (oldest !== undefined) secrets?.remove(oldest);
    }
  }

  /** The tokens in use; not those of another client or issuer than the config names. */
  function accountIn({ issuer, accounts }: Logins): Account | undefined {
    const account = issuer === undefined ? undefined : accounts[issuer];
    const { clientId, issuer: wanted } = config.oauth ?? {};
    const isOther =
      (clientId !== undefined && account?.client.client_id !== clientId) ||
      (wanted !== undefined && issuer !== wanted);
    return isOther ? undefined : account;
  }

  function bearerOf(logins: Logins): string | undefined {
    const token = accountIn(logins)?.tokens?.access_token;
    return token === undefined ? undefined : `Bearer ${token}`;
  }

  async function improve(challenge: Challenge, sent: string | undefined): Promise<boolean> {
    const logins = await read();
    if (bearerOf(logins) !== sent) return true;
    const account = accountIn(logins);
    const granted = account?.tokens?.scope;
    if (challenge.status === 403 && covers(granted, challenge.scope)) return false;
    const isOwn = config.oauth?.grant === "client_credentials";
    if (challenge.status === 401 && performance.now() < freshUntil)
      throw isOwn ? refused(name) : needsLogin(name);
    if (isOwn) return renew(sent, (current) => fetchOwn(challenge, current));
    if (challenge.status === 403) {
      await store.write({ ...logins, wantedScope: unite(logins.wantedScope, challenge.scope) });
      throw needsLogin(name, challenge.scope);
    }
    if (account?.tokens?.refresh_token === undefined) throw needsLogin(name);
    return renew(sent, (current) => refresh(challenge, current));
  }

  /** One process at a time; those that waited use the result. */
  function renew(
    sent: string | undefined,
    work: (current: Logins) => Promise<Logins>,
  ): Promise<boolean> {
    return store.exclusively(async () => {
      const current = await read();
      if (bearerOf(current) !== sent) return true;
      const next = await work(current).catch(async (error: unknown) =>
        Promise.reject(await explainOAuth(error, `cannot renew the token for server "${name}"`)),
      );
      await store.write(next);
      freshUntil =
        performance.now() +
        Math.min(freshMs, (accountIn(next)?.tokens?.expires_in ?? Number.POSITIVE_INFINITY) * 1000);
      await read();
      return true;
    });
  }

  async function refresh(challenge: Challenge, logins: Logins): Promise<Logins> {
    const account = accountIn(logins);
    const refreshToken = account?.tokens?.refresh_token;
    const issuer = await findIssuer(config, challenge.resourceMetadataUrl);
    // Never send the credentials of one issuer to another.
    if (!account || refreshToken === undefined || issuer.id !== logins.issuer)
      throw needsLogin(name);
    const { OAuthError, refreshAuthorization } = await loadSdk();
    const { resource = issuer.resource } = account;
    try {
      const tokens = await refreshAuthorization(issuer.url, {
        ...(issuer.metadata ? { metadata: issuer.metadata } : {}),
        clientInformation: clientOf(account, config),
        refreshToken,
        ...(resource === undefined ? {} : { resource }),
        fetchFn: createOAuthFetch(config),
      });
      return withAccount(logins, issuer.id, {
        ...account,
        tokens: keep(tokens, tokens.scope ?? account.tokens?.scope),
      });
    } catch (error) {
      if (!(error instanceof OAuthError) || transient.has(error.code)) throw error;
      await store.write(withAccount(logins, issuer.id, { ...account, tokens: undefined }));
      throw needsLogin(name);
    }
  }

  /** For the client credentials grant. */
  async function fetchOwn(challenge: Challenge, logins: Logins): Promise<Logins> {
    const { clientId, clientSecret, scope } = config.oauth ?? {};
    if (clientId === undefined || clientSecret === undefined) {
      throw new HallError("DENIED", `server "${name}" has no OAuth client`, {
        hint: "Set oauth.clientId and oauth.clientSecret in its entry.",
      });
    }
    const issuer = await findIssuer(config, challenge.resourceMetadataUrl);
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
      fetchFn: createOAuthFetch(config),
    });
    return withAccount(logins, issuer.id, {
      client: { client_id: clientId },
      tokens: keep(tokens, tokens.scope ?? wanted),
      resource: issuer.resource,
    });
  }

  return {
    async headers() {
      const logins = known && performance.now() - readAt < rereadMs ? known : await read();
      const authorization = bearerOf(logins);
      return authorization === undefined ? {} : { authorization };
    },
    async authorize(response, sent) {
      const challenge = await readChallenge(response);
      if (challenge.status === 403 && challenge.error !== "insufficient_scope") return false;
      const running = flights.get(challenge.status);
      if (running) return running;
      const flight = improve(challenge, sent).finally(() => flights.delete(challenge.status));
      flights.set(challenge.status, flight);
      return flight;
    },
    forget() {
      known = undefined;
    },
  };
}

/** Errors after which a retry may succeed. */
const transient: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "too_many_requests",
]);

function needsLogin(name: string, scope?: string): HallError {
  const message = scope === undefined ? "needs login" : `needs login for the scope "${scope}"`;
  return new HallError("DENIED", message, {
    next: [{ do: "login", server: name }],
    details: { login: `guildhall login ${name}`, ...scoped(scope) },
  });
}

function refused(name: string): HallError {
  return new HallError("DENIED", `server "${name}" rejects the access token from its issuer`, {
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
