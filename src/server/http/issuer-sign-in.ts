import { createHash, randomBytes } from "node:crypto";
import { HallError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { Issuer } from "./issuer.ts";

/**
 * A person signs in to the page at the team's issuer: authorization code with PKCE, by the hall's own client.
 * The hall keeps nothing meanwhile. The tab that began keeps state and verifier, so no other browser can end it.
 */
export interface BegunSignIn {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

export interface SignInAnswer {
  /** Of the tab that began. */
  readonly state: string;
  readonly verifier: string;
  /** The query of the redirect. */
  readonly answer: string;
}

interface Place {
  readonly issuer: Issuer;
  /** Where clients reach the hall. */
  readonly url: string;
}

/** Where issuers send browsers back to. */
export const callbackPath = "/oauth/callback";

/** Throws UNAVAILABLE. */
export async function beginSignIn({ issuer, url }: Place, scope: string): Promise<BegunSignIn> {
  const { authorizationEndpoint } = await issuer.endpoints();
  const [state, verifier] = [secret(), secret()];
  const page = new URL(authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: issuer.config.clientId ?? "",
    redirect_uri: `${url}${callbackPath}`,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state,
    scope,
    resource: url,
  };
  for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value);
  return { url: page.href, state, verifier };
}

/** Resolves with the access token, which is not checked yet. Throws DENIED and UNAVAILABLE. */
export async function finishSignIn(
  { issuer, url }: Place,
  { state, verifier, answer }: SignInAnswer,
): Promise<string> {
  const given = new URLSearchParams(answer);
  const { tokenEndpoint, namesItself } = await issuer.endpoints();
  if (state.length < secretLength || given.get("state") !== state)
    throw refused("the answer belongs to another sign-in");
  const iss = given.get("iss");
  if (iss === null ? namesItself : iss !== issuer.config.url)
    throw refused("the answer is of another issuer");
  const code = given.get("code");
  if (code === null) throw refused("the issuer did not sign you in");
  const response = await issuer.post(tokenEndpoint, {
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    redirect_uri: `${url}${callbackPath}`,
    resource: url,
  });
  const body: unknown = await response.json().catch(() => undefined);
  const token = response.ok && isObject(body) ? body.access_token : undefined;
  if (typeof token !== "string") throw refused("the issuer gave no access token");
  return token;
}

const secretLength = 43;

function secret(): string {
  return randomBytes(32).toString("base64url");
}

function refused(reason: string): HallError {
  return new HallError("DENIED", reason, { hint: "Begin again on the page of the hall." });
}
