import type {
  AuthorizationServerMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
} from "@modelcontextprotocol/client";
import { HallError, messageOf } from "../base/errors.ts";
import type { ServerConfig } from "../config/schema.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";

/** The OAuth issuer of a remote server, as the server names it, checked. */
export interface ServerIssuer {
  readonly id: string;
  readonly url: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** The resource indicator for token requests (RFC 8707), as the server writes it. */
  readonly resource: string | undefined;
  /** The same, as the SDK needs it. */
  readonly found: OAuthDiscoveryState;
}

/** The challenge of a 401 or 403. */
export interface Challenge {
  readonly status: number;
  readonly scope: string | undefined;
  readonly error: string | undefined;
  readonly resourceMetadataUrl: URL | undefined;
}

export type RemoteServerConfig = Exclude<ServerConfig, { readonly type: "stdio" | "openapi" }>;

/** The server to log in to; undefined for a program, and for an API without OAuth. */
export function loginTarget(config: ServerConfig): RemoteServerConfig | undefined {
  if (config.type === "stdio") return undefined;
  if (config.type !== "openapi") return config;
  const { openapi: _, baseUrl, auth: _values, include: _in, exclude: _out, ...rest } = config;
  if (!config.oauth || baseUrl === undefined) return undefined;
  return { ...rest, type: "http", url: baseUrl };
}

/** Loaded lazily: the SDK takes 0.1 s to load, and only OAuth needs it. */
export const loadSdk = () => import("@modelcontextprotocol/client");

/** OAuth uses HTTP, also for WebSocket servers. */
export function httpUrlOf({ url }: RemoteServerConfig): URL {
  return new URL(url.replace(/^ws/, "http"));
}

export async function readChallenge(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await loadSdk();
  await response.body?.cancel();
  const { scope, error, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  return { status: response.status, scope: cleanScope(scope), error, resourceMetadataUrl };
}

/** Scopes are displayed and stored: only characters that RFC 6749 allows, with a length limit. */
function cleanScope(scope: string | undefined): string | undefined {
  const words =
    scope?.split(" ").filter((word) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(word)) ?? [];
  return words.length > 0 ? words.slice(0, 50).join(" ") : undefined;
}

/**
 * Reads the metadata of the resource, then of its issuer. Throws if they contradict each other or
 * name another resource.
 */
export async function findIssuer(
  config: RemoteServerConfig,
  resourceMetadataUrl: URL | undefined,
): Promise<ServerIssuer> {
  const named = issuerInConfig(config);
  if (named) return named;
  const { discoverOAuthServerInfo, selectResourceURL } = await loadSdk();
  const serverUrl = httpUrlOf(config);
  const found = await discoverOAuthServerInfo(serverUrl, {
    ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
    fetchFn: createOAuthFetch(config),
  });
  await selectResourceURL(serverUrl, {} as OAuthClientProvider, found.resourceMetadata);
  const id = found.authorizationServerMetadata?.issuer ?? found.authorizationServerUrl;
  const wanted = config.oauth?.issuer;
  if (wanted !== undefined && wanted !== id) {
    throw new HallError(
      "DENIED",
      `the server names the issuer "${plain(id)}", but the config names "${wanted}"`,
      {
        hint: "Nothing was sent. Correct oauth.issuer if the server uses a new issuer.",
      },
    );
  }
  return {
    id,
    url: found.authorizationServerUrl,
    metadata: found.authorizationServerMetadata,
    resource: found.resourceMetadata?.resource,
    found: {
      ...found,
      ...(resourceMetadataUrl ? { resourceMetadataUrl: resourceMetadataUrl.href } : {}),
    },
  };
}

/** An API's issuer, which has no metadata: the config names its addresses, and a person approved them with it. */
export function issuerInConfig({ oauth }: RemoteServerConfig): ServerIssuer | undefined {
  if (oauth?.tokenUrl === undefined) return undefined;
  const { tokenUrl, authorizationUrl = tokenUrl, issuer: id = new URL(tokenUrl).origin } = oauth;
  const metadata: AuthorizationServerMetadata = {
    issuer: id,
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  };
  const url = new URL(tokenUrl).origin;
  const found = { authorizationServerUrl: url, authorizationServerMetadata: metadata };
  return { id, url, metadata, resource: undefined, found };
}

/** Reports only the error code of the issuer: its other text is untrusted. */
export async function explainOAuth(error: unknown, doing: string): Promise<HallError> {
  if (error instanceof HallError) return error;
  const { IssuerMismatchError, OAuthError, RegistrationRejectedError } = await loadSdk();
  if (error instanceof IssuerMismatchError)
    return new HallError("DENIED", `${doing}: the response names another issuer than expected`, {
      hint: reportHint,
    });
  if (error instanceof RegistrationRejectedError)
    return new HallError(
      "DENIED",
      `${doing}: the issuer rejected the client registration (HTTP ${error.status})`,
      { hint: register },
    );
  if (error instanceof OAuthError)
    return new HallError(
      "DENIED",
      `${doing}: the issuer answered "${cleanScope(error.code) ?? "error"}"`,
      {
        hint: reportHint,
      },
    );
  if (error instanceof Error && /dynamic client registration/.test(error.message)) {
    return new HallError("DENIED", `${doing}: the issuer does not support client registration`, {
      hint: register,
    });
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = plain(messageOf(cause));
  return new HallError(
    error instanceof TypeError ? "UNAVAILABLE" : "BAD_ANSWER",
    `${doing}: ${reason}`,
    { cause: error, hint: reportHint },
  );
}

/** Untrusted text on one line, with a length limit. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, 300);
}

const reportHint =
  "Nothing was stored. Try again; if the error persists, report it to the operator of the server.";
const register =
  "Register a client with the issuer yourself and set oauth.clientId in the server's entry.";
