import { randomBytes } from "node:crypto";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthTokens,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { HallError } from "../base/errors.ts";
import { envelope } from "../client/handshake.ts";
import { addStandardHeaders } from "../client/headers.ts";
import { createDialler, lookupOutside } from "../net/dial.ts";
import {
  type Challenge,
  explainOAuth,
  findIssuer,
  httpUrlOf,
  issuerInConfig,
  loadSdk,
  type RemoteServerConfig,
  readChallenge,
  type ServerIssuer,
} from "./issuer.ts";
import { clientOf, issuerOf, keep, scoped, unite, withAccount } from "./oauth.ts";
import { createOAuthFetch, refuseUnsafe } from "./oauth-fetch.ts";
import { openRedirectPage, type RedirectPage } from "./redirect.ts";
import type { Logins, TokenStore } from "./token-store.ts";

/** Login of a person to a remote server: authorization code with PKCE, redirected to a page on this machine. */
export interface LoginOptions {
  readonly config: RemoteServerConfig;
  readonly store: TokenStore;
  /** Shows the login page. */
  show(url: URL): void;
  /** Default 5 min. */
  readonly timeoutMs?: number;
}

export interface LoginResult {
  readonly issuer: string;
  readonly scope: string | undefined;
}

/** A login that waits for the browser. */
export interface BegunLogin {
  /** The page of the issuer. */
  readonly url: URL;
  /** For `finishLogin`, in this process or another one. It has secrets. */
  readonly kept: KeptLogin;
}

/** As JSON has it. */
export interface KeptLogin extends Pick<Begun, "client" | "verifier" | "scope"> {
  /** The server. */
  readonly target: string;
  readonly issuer: Omit<ServerIssuer, "found">;
  readonly redirectUrl: string;
}

const probeMsMax = 10_000;

export async function login(options: LoginOptions): Promise<LoginResult> {
  const { config, store } = options;
  const state = randomBytes(32).toString("base64url");
  let page: RedirectPage | undefined;
  try {
    const begun = await beginLogin({
      config,
      store,
      state,
      async redirectTo(registered) {
        page = await openPage(registered, options, state);
        return page.url;
      },
    });
    options.show(begun.url);
    const answer = (await page?.answer) ?? new URLSearchParams();
    return await finishLogin(begun.kept, answer, { config, store });
  } catch (error) {
    throw await explainOAuth(error, failed);
  } finally {
    await page?.[Symbol.asyncDispose]();
  }
}

interface BeginOptions extends Pick<LoginOptions, "config" | "store"> {
  /** Comes back with the answer. */
  readonly state: string;
  /** Where the issuer sends the browser. `registered`: the address that our client at the issuer has now. */
  redirectTo(registered: URL | undefined): string | Promise<string>;
}

const failed = "login failed";

/** Throws HallError. */
export async function beginLogin(options: BeginOptions): Promise<BegunLogin> {
  const { config, store, state } = options;
  try {
    const logins = await store.read();
    const challenge = issuerInConfig(config) ? noChallenge : await probe(config);
    const issuer = await findIssuer(config, challenge.resourceMetadataUrl);
    if (challenge.status < 400 && !issuer.metadata)
      throw new HallError("INVALID_PARAMS", "the server requires no login", {
        hint: "It works without a login.",
      });
    const registered = redirectOf(logins.accounts[issuer.id]?.client);
    const redirectUrl = await options.redirectTo(registered);
    const begun = await begin(
      { config, logins, issuer, state, redirectUrl },
      wantedScope(config, logins, challenge),
    );
    const { authorizationUrl: url, client, verifier, scope } = begun;
    const { found: _found, ...kept } = issuer;
    return {
      url,
      kept: { target: config.url, client, verifier, scope, issuer: kept, redirectUrl },
    };
  } catch (error) {
    throw await explainOAuth(error, failed);
  }
}

/** Takes the parameters of the redirect, after the caller has checked that they answer this login. Throws HallError. */
export async function finishLogin(
  kept: KeptLogin,
  answer: URLSearchParams,
  { config, store }: Pick<LoginOptions, "config" | "store">,
): Promise<LoginResult> {
  if (kept.target !== config.url)
    throw new HallError("CONFLICT", "the server has another address now", {
      hint: "Begin the login again.",
    });
  try {
    const tokens = await exchange(answer, kept, config);
    return await keepLogin(tokens, kept, { config, store });
  } catch (error) {
    throw await explainOAuth(error, failed);
  }
}

async function keepLogin(
  tokens: OAuthTokens,
  { client: registered, scope, issuer }: KeptLogin,
  { config, store }: Pick<LoginOptions, "config" | "store">,
): Promise<LoginResult> {
  // Store only the id of the config's client: its secret stays in the config.
  const client =
    config.oauth?.clientId === undefined ? registered : { client_id: config.oauth.clientId };
  const account = {
    client,
    tokens: keep(tokens, tokens.scope ?? scope),
    resource: issuer.resource,
  };
  // A login takes minutes: keep changes made meanwhile.
  await store.exclusively(async () =>
    store.write({
      ...withAccount(await store.read(), issuer.id, account),
      wantedScope: undefined,
    }),
  );
  return { issuer: issuer.id, scope: account.tokens.scope };
}

/** An API is not asked: its entry names the issuer. */
const noChallenge: Challenge = {
  status: 401,
  scope: undefined,
  error: undefined,
  resourceMetadataUrl: undefined,
};

/** Calls the server without a token: its challenge names issuer and scope. */
async function probe(config: RemoteServerConfig): Promise<Challenge> {
  const url = httpUrlOf(config);
  const dialler = createDialler(lookupOutside(url, config.allowPrivate));
  const message = {
    jsonrpc: "2.0",
    id: 0,
    method: "server/discover",
    params: { _meta: envelope() },
  };
  const isPost = config.type === "http";
  const accept = isPost ? "application/json, text/event-stream" : "text/event-stream";
  const headers: Record<string, string> = { ...config.headers, accept };
  if (isPost) {
    headers["content-type"] = "application/json";
    addStandardHeaders(headers, { kind: "request", ...message }, () => undefined);
  }
  try {
    const init = {
      headers,
      signal: AbortSignal.timeout(probeMsMax),
    };
    return await readChallenge(
      await dialler.send(url, {
        ...init,
        ...(isPost ? { method: "POST", body: JSON.stringify(message) } : {}),
      }),
    );
  } finally {
    dialler.close();
  }
}

/** The scope from the config or the server, together with the scopes granted before. */
function wantedScope(
  { oauth }: RemoteServerConfig,
  { wantedScope, issuer, accounts }: Logins,
  challenge: Challenge,
): string | undefined {
  const granted =
    issuer === undefined || wantedScope === undefined ? undefined : accounts[issuer]?.tokens?.scope;
  return unite(granted, oauth?.scope ?? challenge.scope, wantedScope);
}

/** The redirect address of the registered client if its port is free, otherwise any port. */
async function openPage(
  registered: URL | undefined,
  { config, timeoutMs = 300_000 }: LoginOptions,
  state: string,
): Promise<RedirectPage> {
  const { oauth } = config;
  if (oauth?.clientId !== undefined || oauth?.clientMetadataUrl !== undefined) {
    return openRedirectPage({ port: oauth.callbackPort, path: "/callback", state, timeoutMs });
  }
  const anywhere = {
    port: oauth?.callbackPort ?? 0,
    path: `/${randomBytes(16).toString("base64url")}`,
    state,
    timeoutMs,
  };
  if (registered?.hostname !== "127.0.0.1") return openRedirectPage(anywhere);
  // The port may be in use.
  return openRedirectPage({
    ...anywhere,
    port: Number(registered.port),
    path: registered.pathname,
  }).catch(() => openRedirectPage(anywhere));
}

function redirectOf(client: OAuthClientInformationMixed | undefined): URL | undefined {
  const [first] =
    client && "redirect_uris" in client && Array.isArray(client.redirect_uris)
      ? client.redirect_uris
      : [];
  return first !== undefined && URL.canParse(first) ? new URL(first) : undefined;
}

interface FlowOptions {
  readonly config: RemoteServerConfig;
  readonly logins: Logins;
  readonly issuer: ServerIssuer;
  readonly state: string;
  readonly redirectUrl: string;
}

interface Begun {
  readonly authorizationUrl: URL;
  readonly client: OAuthClientInformationMixed;
  readonly verifier: string;
  /** The requested scope. */
  readonly scope: string | undefined;
}

/** The SDK selects the scope, registers the client if needed and creates the login URL. */
async function begin(
  { config, logins, issuer, state, redirectUrl }: FlowOptions,
  scope: string | undefined,
): Promise<Begun> {
  const { clientId, clientMetadataUrl } = config.oauth ?? {};
  let client = findClient({ config, logins, issuer, redirectUrl });
  let verifier = "";
  let authorizationUrl: URL | undefined;
  const saveClientInformation = (saved: StoredOAuthClientInformation): void => {
    client = saved;
  };
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: describeClient(issuer, redirectUrl),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    state: () => state,
    clientInformation: () => client,
    // Omitted with a client of the config: nothing is registered then.
    ...(clientId === undefined ? { saveClientInformation } : {}),
    redirectToAuthorization(url) {
      refuseUnsafe(url, config);
      authorizationUrl = url;
    },
    saveCodeVerifier(saved) {
      verifier = saved;
    },
    codeVerifier: () => verifier,
    discoveryState: () => issuer.found,
    tokens: () => undefined,
    saveTokens() {},
  };
  const { auth } = await loadSdk();
  await auth(provider, {
    serverUrl: httpUrlOf(config),
    ...scoped(scope),
    fetchFn: createOAuthFetch(config),
    forceReauthorization: true,
  });
  if (!authorizationUrl || !client)
    throw new HallError("BAD_ANSWER", "the issuer returned no login URL");
  return {
    authorizationUrl,
    client,
    verifier,
    scope: authorizationUrl.searchParams.get("scope") ?? undefined,
  };
}

/** Exchanges the code for a token, after checking that the response is the issuer's. */
async function exchange(
  answer: URLSearchParams,
  { client, verifier, issuer: { url, metadata, resource }, redirectUrl }: KeptLogin,
  config: RemoteServerConfig,
): Promise<OAuthTokens> {
  const { exchangeAuthorization, validateAuthorizationResponseIssuer } = await loadSdk();
  const iss = answer.get("iss") ?? undefined;
  const issParameterSupported = metadata?.authorization_response_iss_parameter_supported === true;
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported,
  });
  const authorizationCode = answer.get("code");
  if (authorizationCode === null)
    throw new HallError("DENIED", `login denied${reasonOf(answer)}`, {
      hint: "Run the same command to try again.",
    });
  return exchangeAuthorization(url, {
    ...(metadata ? { metadata } : {}),
    clientInformation: client,
    authorizationCode,
    ...(iss === undefined ? {} : { iss }),
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    ...(resource === undefined ? {} : { resource }),
    fetchFn: createOAuthFetch(config),
  });
}

/** The client of the config, or the one registered earlier if it allows this redirect address. */
function findClient({
  config,
  logins,
  issuer,
  redirectUrl,
}: Omit<FlowOptions, "state">): StoredOAuthClientInformation | undefined {
  const { oauth } = config;
  if (oauth?.clientId !== undefined) {
    return {
      ...clientOf({ client: { client_id: oauth.clientId } }, config),
      issuer: issuerOf(logins, oauth.clientId) ?? issuer.id,
    };
  }
  const { client } = logins.accounts[issuer.id] ?? {};
  return client && redirectOf(client)?.href === redirectUrl
    ? { ...client, issuer: issuer.id }
    : undefined;
}

function describeClient({ metadata }: ServerIssuer, redirectUrl: string): OAuthClientMetadata {
  const { token_endpoint_auth_methods_supported: methods = ["none"] } = metadata ?? {};
  // A program on a user's machine is a public client, but some issuers only support confidential ones.
  const method = methods.includes("none") ? "none" : methods[0];
  return {
    client_name: "Guildhall",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
  };
}

/** The code only: the text beside it is untrusted. */
function reasonOf(answer: URLSearchParams): string {
  const error = answer.get("error") ?? "";
  return /^[a-z_]{1,60}$/.test(error) ? `: ${error}` : "";
}
