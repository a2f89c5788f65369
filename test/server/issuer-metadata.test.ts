// Metadata as Keycloak, Entra, Auth0 and Okta publish it, in its place below a server of our own.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { AccessTokens } from "../../src/server/http/access-tokens.ts";

const tenant = "11111111-2222-3333-4444-555555555555";
let origin = "";
let seen: string[] = [];
let pair: Awaited<ReturnType<typeof generateKeyPair>>;

interface Service {
  /** Below the origin, as it is in `iss`. */
  readonly issuer: string;
  readonly place: string;
  readonly keys: string;
  /** Of opaque tokens; not all services answer about them. */
  readonly introspection?: string;
  readonly more: JsonObject;
}

const services: Readonly<Record<string, Service>> = {
  Keycloak: {
    issuer: "/realms/team",
    place: "/realms/team/.well-known/openid-configuration",
    keys: "/realms/team/protocol/openid-connect/certs",
    introspection: "/realms/team/protocol/openid-connect/token/introspect",
    more: {
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      acr_values_supported: ["0", "1"],
      response_types_supported: ["code", "none", "id_token"],
      subject_types_supported: ["public", "pairwise"],
      id_token_signing_alg_values_supported: ["PS384", "RS384", "EdDSA", "ES384", "HS256", "RS256"],
      scopes_supported: ["openid", "profile", "call"],
      claims_supported: ["aud", "sub", "iss", "preferred_username", "acr"],
      code_challenge_methods_supported: ["plain", "S256"],
      tls_client_certificate_bound_access_tokens: true,
      mtls_endpoint_aliases: { token_endpoint: "https://id.example/mtls" },
      authorization_response_iss_parameter_supported: true,
    },
  },
  Entra: {
    issuer: `/${tenant}/v2.0`,
    place: `/${tenant}/v2.0/.well-known/openid-configuration`,
    keys: `/${tenant}/discovery/v2.0/keys`,
    more: {
      token_endpoint_auth_methods_supported: [
        "client_secret_post",
        "private_key_jwt",
        "client_secret_basic",
      ],
      response_modes_supported: ["query", "fragment", "form_post"],
      subject_types_supported: ["pairwise"],
      id_token_signing_alg_values_supported: ["RS256"],
      response_types_supported: ["code", "id_token", "code id_token", "id_token token"],
      scopes_supported: ["openid", "profile", "email", "offline_access"],
      request_uri_parameter_supported: false,
      claims_supported: ["sub", "iss", "aud", "exp", "iat", "auth_time", "acr", "nonce"],
      tenant_region_scope: "EU",
      cloud_instance_name: "microsoftonline.com",
      msgraph_host: "graph.microsoft.com",
    },
  },
  Auth0: {
    issuer: "/",
    place: "/.well-known/openid-configuration",
    keys: "/.well-known/jwks.json",
    more: {
      device_authorization_endpoint: "https://team.eu.auth0.com/oauth/device/code",
      mfa_challenge_endpoint: "https://team.eu.auth0.com/mfa/challenge",
      scopes_supported: ["openid", "profile", "offline_access", "name", "email"],
      response_types_supported: ["code", "token", "id_token", "code token"],
      code_challenge_methods_supported: ["S256", "plain"],
      subject_types_supported: ["public"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      id_token_signing_alg_values_supported: ["HS256", "RS256", "PS256"],
      request_parameter_supported: false,
      backchannel_logout_supported: true,
    },
  },
  Okta: {
    issuer: "/oauth2/default",
    place: "/oauth2/default/.well-known/openid-configuration",
    keys: "/oauth2/default/v1/keys",
    introspection: "/oauth2/default/v1/introspect",
    more: {
      response_types_supported: ["code", "id_token", "code id_token", "code token"],
      response_modes_supported: ["query", "fragment", "form_post", "okta_post_message"],
      grant_types_supported: ["authorization_code", "implicit", "refresh_token", "password"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      scopes_supported: ["openid", "profile", "email", "call"],
      introspection_endpoint_auth_methods_supported: ["client_secret_basic", "none"],
      revocation_endpoint: "https://team.okta.com/oauth2/default/v1/revoke",
      dpop_signing_alg_values_supported: ["RS256", "ES256"],
    },
  },
};

const server = createServer(async (request, response) => {
  const path = request.url ?? "";
  seen.push(path);
  const send = (value: JsonObject | undefined): void => {
    response.writeHead(value ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(value ?? {}));
  };
  const found = Object.values(services).find(({ place, keys, introspection }) =>
    [place, keys, introspection].includes(path),
  );
  if (path === found?.keys)
    return send({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: "k", use: "sig" }] });
  if (path === found?.introspection)
    return send({ active: true, sub: "anna", aud: "hall", scope: "call", client_id: "editor" });
  send(found && describe(found));
});

function describe({ issuer, keys, introspection, more }: Service): JsonObject {
  const base = `${origin}${issuer.replace(/\/$/, "")}`;
  return {
    issuer: `${origin}${issuer}`,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    jwks_uri: `${origin}${keys}`,
    ...(introspection === undefined ? {} : { introspection_endpoint: `${origin}${introspection}` }),
    ...more,
  };
}

beforeAll(async () => {
  pair = await generateKeyPair("RS256", { extractable: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

function openTokens({ issuer }: Service): AccessTokens {
  const client = { clientId: "hall", clientSecret: "a secret" };
  const settings = { audiences: ["hall"], scopes: {}, user: "sub", groups: "groups", ...client };
  return new AccessTokens({
    issuers: { team: { url: `${origin}${issuer}`, ...settings } },
    url: () => "https://hall.example",
    log: createLog({ level: "silent" }),
  });
}

test.each(Object.entries(services))(
  "the keys of %s are found by its metadata",
  async (_, service) => {
    seen = [];
    const claims = { iss: `${origin}${service.issuer}`, aud: "hall", sub: "anna", scope: "call" };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setExpirationTime("5m")
      .sign(pair.privateKey);
    expect(await openTokens(service).identify(token)).toMatchObject({
      rights: { scopes: ["call"] },
      person: { user: `anna@${claims.iss}`, issuer: claims.iss },
    });
    expect(seen.slice(-2)).toEqual([service.place, service.keys]);
  },
);

test.each(Object.entries(services))(
  "%s is asked about opaque tokens if it answers",
  async (_, service) => {
    const admission = await openTokens(service).identify("an-opaque-token");
    if (service.introspection === undefined)
      expect(admission).toMatchObject({ refusal: { status: 503 } });
    else
      expect(admission).toMatchObject({
        person: { token: "editor" },
        rights: { scopes: ["call"] },
      });
  },
);
