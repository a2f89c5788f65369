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
 * Tokens for one server elsewhere: those a login left in the store, renewed when the server refuses them. Nobody can be asked
 * here: what needs a person ends with the command to run.
 */
export interface OAuthOptions {
  readonly name: string;
  readonly config: RemoteServerConfig;
  readonly store: TokenStore;
  /** Hears of every token, so that no log shows one. */
  readonly secrets?: Secrets | undefined;
}

/** Another process may log in or out at any time. */
const rereadMs = 1_000;
/** A token that is refused so soon after it was given is not refused for its age. */
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

  /** The ones before stay hidden a while: a log may still speak of them. */
  function hide(values: readonly (string | undefined)[]): void {
    for (const value of values) {
      if (value === undefined || hidden.includes(value)) continue;
      hidden.push(value);
      secrets?.add(value);
      const oldest = hidden.length > hiddenMax ? hidden.shift() : undefined;
      if (oldest !== undefined) secrets?.remove(oldest);
    }
  }

  /** Tokens in use: those of another client or issuer than the config names are not ours to send. */
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

  /** One process at a time; whoever waited takes what the one before got. */
  function renew(
    sent: string | undefined,
    work: (current: Logins) => Promise<Logins>,
  ): Promise<boolean> {
    return store.exclusively(async () => {
      const current = await read();
      if (bearerOf(current) !== sent) return true;
      const next = await work(current).catch(async (error: unknown) =>
        Promise.reject(await explainOAuth(error, `no new token for ${name}`)),
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
    // What one issuer gave is not shown to another.
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

  /** For programs that are clients in their own right. */
  async function fetchOwn(challenge: Challenge, logins: Logins): Promise<Logins> {
    const { clientId, clientSecret, scope } = config.oauth ?? {};
    if (clientId === undefined || clientSecret === undefined) {
      throw new HallError("DENIED", `${name} has no client of its own`, {
        hint: "Write oauth.clientId and oauth.clientSecret into its entry.",
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

/** The issuer may be able to later. */
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

/** A secret of the config stays in the config. */
export function clientOf({ client }: Account, { oauth }: RemoteServerConfig): Account["client"] {
  const isOurs = oauth?.clientSecret !== undefined && client.client_id === oauth.clientId;
  return isOurs ? { ...client, client_secret: oauth.clientSecret } : client;
}

/** The issuer this client has been shown to before: a server that names another one later does not get to see it. */
export function issuerOf({ accounts }: Logins, clientId: string): string | undefined {
  return Object.entries(accounts).find(([, { client }]) => client.client_id === clientId)?.[0];
}

export function withAccount(logins: Logins, issuer: string, account: Account): Logins {
  return { ...logins, issuer, accounts: { ...logins.accounts, [issuer]: account } };
}

/** Nothing that is of no use later, such as who the person is. */
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
