import type {
  AuthorizationServerMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
} from "@modelcontextprotocol/client";
import { HallError, messageOf } from "../base/errors.ts";
import type { ServerConfig } from "../config/schema.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";

/** Who gives out the tokens of a server elsewhere, as the server says and as checked. */
export interface Issuer {
  readonly id: string;
  readonly url: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** What tokens are to be asked for (RFC 8707), as the server writes it. */
  readonly resource: string | undefined;
  /** The same for the SDK's flow. */
  readonly found: OAuthDiscoveryState;
}

/** What a refusal says it wants. */
export interface Challenge {
  readonly status: number;
  readonly scope: string | undefined;
  readonly error: string | undefined;
  readonly resourceMetadataUrl: URL | undefined;
}

export type RemoteServerConfig = Exclude<ServerConfig, { readonly type: "stdio" }>;

/** The SDK takes a tenth of a second to load: only those who need a token wait for it. */
export const loadSdk = () => import("@modelcontextprotocol/client");

/** OAuth happens over HTTP, whatever the server speaks. */
export function httpUrlOf({ url }: RemoteServerConfig): URL {
  return new URL(url.replace(/^ws/, "http"));
}

export async function readChallenge(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await loadSdk();
  await response.body?.cancel();
  const { scope, error, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  return { status: response.status, scope: cleanScope(scope), error, resourceMetadataUrl };
}

/** Scopes are shown and kept: nothing but what RFC 6749 allows, and not without end. */
function cleanScope(scope: string | undefined): string | undefined {
  const words =
    scope?.split(" ").filter((word) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(word)) ?? [];
  return words.length > 0 ? words.slice(0, 50).join(" ") : undefined;
}

/** Metadata of the resource, then of its issuer. Throws when they contradict each other, or name another resource than the server. */
export async function findIssuer(
  config: RemoteServerConfig,
  resourceMetadataUrl: URL | undefined,
): Promise<Issuer> {
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
      `the server names the issuer ${plain(id)}, the config ${wanted}`,
      {
        hint: "Nothing was sent there. Correct oauth.issuer if the server has moved.",
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

/** Without what the other side wrote beyond its error code: that text may hold anything. */
export async function explainOAuth(error: unknown, doing: string): Promise<HallError> {
  if (error instanceof HallError) return error;
  const { IssuerMismatchError, OAuthError, RegistrationRejectedError } = await loadSdk();
  if (error instanceof IssuerMismatchError)
    return new HallError(
      "DENIED",
      `${doing}: the answer comes from another issuer than it should`,
      { hint: tellThem },
    );
  if (error instanceof RegistrationRejectedError)
    return new HallError(
      "DENIED",
      `${doing}: the issuer does not register us (HTTP ${error.status})`,
      { hint: register },
    );
  if (error instanceof OAuthError)
    return new HallError("DENIED", `${doing}: the issuer says ${cleanScope(error.code) ?? "no"}`, {
      hint: tellThem,
    });
  if (error instanceof Error && /dynamic client registration/.test(error.message)) {
    return new HallError("DENIED", `${doing}: the issuer registers nobody by itself`, {
      hint: register,
    });
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = plain(messageOf(cause));
  return new HallError(
    error instanceof TypeError ? "UNAVAILABLE" : "BAD_ANSWER",
    `${doing}: ${reason}`,
    { cause: error, hint: tellThem },
  );
}

/** Text of strangers on one line, and not without end. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, 300);
}

const tellThem = "Nothing was stored. Try again; if it stays so, tell whoever runs the server.";
const register =
  "Register a client with the issuer by hand, and write it into oauth.clientId of the server's entry.";
