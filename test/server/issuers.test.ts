// Tokens as Keycloak, Entra, Auth0 and Okta write them, by their documented claims.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { findMisuse, type IssuerConfig, readClaims } from "../../src/server/http/claims.ts";

const issuerOf = (url: string, more: Partial<IssuerConfig> = {}): IssuerConfig => ({
  url,
  audiences: [],
  scopes: {},
  user: "sub",
  groups: "groups",
  ...more,
});

interface Case {
  readonly issuer: IssuerConfig;
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly user: string;
  readonly groups: readonly string[];
  readonly token: string | undefined;
  readonly scopes: readonly string[];
}

const tenant = "11111111-2222-3333-4444-555555555555";
const cases: Readonly<Record<string, Case>> = {
  "Keycloak with groups": {
    issuer: issuerOf("https://id.example/realms/team"),
    header: { alg: "RS256", typ: "JWT", kid: "k" },
    claims: {
      exp: 1_900_000_300,
      jti: "5f",
      iss: "https://id.example/realms/team",
      aud: ["https://hall.example/mcp", "account"],
      sub: "f3b6",
      typ: "Bearer",
      azp: "editor",
      sid: "s",
      acr: "1",
      realm_access: { roles: ["offline_access", "operators"] },
      resource_access: { account: { roles: ["view-profile"] } },
      scope: "openid profile call",
      preferred_username: "anna",
      groups: ["/staff", "/staff/tools"],
    },
    user: "f3b6",
    groups: ["/staff", "/staff/tools"],
    token: "editor",
    scopes: ["call"],
  },
  "Keycloak with the roles of the realm as groups, and names as people": {
    issuer: issuerOf("https://id.example/realms/team", {
      user: "preferred_username",
      groups: "realm_access.roles",
    }),
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      typ: "Bearer",
      sub: "f3b6",
      azp: "editor",
      preferred_username: "anna",
      realm_access: { roles: ["operators"] },
      scope: "read call",
    },
    user: "anna",
    groups: ["operators"],
    token: "editor",
    scopes: ["read", "call"],
  },
  "Entra, version 2, for a person": {
    issuer: issuerOf(`https://login.microsoftonline.com/${tenant}/v2.0`, {
      user: "oid",
      scopes: { "api://hall/Hall.Call": "call", "Hall.Operate": "admin" },
    }),
    header: { alg: "RS256", typ: "JWT", kid: "k" },
    claims: {
      aud: "hall",
      ver: "2.0",
      azp: "client-guid",
      azpacr: "0",
      name: "Anna",
      oid: "oid-anna",
      sub: "pairwise",
      scp: "Hall.Call User.Read",
      tid: tenant,
      groups: ["guid-1"],
    },
    user: "oid-anna",
    groups: ["guid-1"],
    token: "client-guid",
    scopes: ["call"],
  },
  "Entra, version 1, for an application with a role": {
    issuer: issuerOf(`https://sts.windows.net/${tenant}/`, {
      user: "oid",
      scopes: { "Hall.Operate": "admin" },
    }),
    header: { alg: "RS256", typ: "JWT", x5t: "k", kid: "k" },
    claims: {
      aud: "api://hall",
      ver: "1.0",
      appid: "app-guid",
      appidacr: "1",
      idtyp: "app",
      oid: "oid-app",
      sub: "oid-app",
      roles: ["Hall.Operate", "call"],
      tid: tenant,
    },
    user: "oid-app",
    groups: [],
    token: "app-guid",
    scopes: ["admin"],
  },
  "Auth0 with permissions and a namespaced claim": {
    issuer: issuerOf("https://team.eu.auth0.com/", {
      groups: "https://hall.example/groups",
      scopes: { "hall:call": "call", "hall:read": "read" },
    }),
    header: { alg: "RS256", typ: "at+jwt", kid: "k" },
    claims: {
      sub: "auth0|42",
      aud: ["https://hall.example/mcp", "https://team.eu.auth0.com/userinfo"],
      azp: "client",
      scope: "openid profile",
      permissions: ["hall:call"],
      "https://hall.example/groups": ["staff"],
    },
    user: "auth0|42",
    groups: ["staff"],
    token: "client",
    scopes: ["call"],
  },
  "Okta's custom authorization server": {
    issuer: issuerOf("https://team.okta.com/oauth2/default"),
    header: { alg: "RS256", kid: "k" },
    claims: {
      ver: 1,
      jti: "AT.x",
      aud: "api://default",
      cid: "0oa",
      uid: "00u",
      scp: ["openid", "call", "register:greeter"],
      auth_time: 1,
      sub: "anna@team.example",
      groups: ["Everyone", "Tools"],
    },
    user: "anna@team.example",
    groups: ["Everyone", "Tools"],
    token: "0oa",
    scopes: ["call", "register:greeter"],
  },
};

describe("a token of", () => {
  test.each(Object.entries(cases))("%s", (_name, { issuer, header, claims, ...expected }) => {
    expect(findMisuse(claims, header)).toBeUndefined();
    const { user, groups, token, scopes } = expected;
    expect(readClaims(claims, issuer)).toEqual({
      person: { user: `${user}@${issuer.url}`, groups, issuer: issuer.url, token },
      scopes,
    });
  });

  test("Entra with too many groups is refused, because rules about groups would not see them", () => {
    const claims = { sub: "a", _claim_names: { groups: "src1" }, _claim_sources: {} };
    expect(readClaims(claims, issuerOf("https://x.example"))).toContain("too many");
  });
});
