// Attacks with access tokens: each one is refused, and nothing runs.
import { createHmac, KeyObject, sign as signBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  exportJWK,
  exportSPKI,
  type GenerateKeyPairResult,
  generateKeyPair,
  importJWK,
  SignJWT,
} from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { AccessTokens } from "../../src/server/http/access-tokens.ts";
import { openPageSessions } from "../../src/server/http/page-sessions.ts";
import { openNamedTokens } from "../../src/server/http/tokens.ts";
import { modern } from "../servers/client.ts";
import { type Door, doorToken, openDoor, type Reply } from "../servers/door.ts";
import { askModern, connectWebSocket, modernHeaders } from "../servers/door-clients.ts";
import { startIssuer, type TokenIssuer } from "../servers/token-issuer.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

let issuer: TokenIssuer;
/** An issuer that the hall does not know. */
let stranger: TokenIssuer;
let door: Door;
let foreign: GenerateKeyPairResult;
let calls = 0;
let skewMs = 0;
let accessTokens: AccessTokens;
beforeAll(async () => {
  issuer = await startIssuer("/realms/team");
  await issuer.addKey("key-1");
  await issuer.addKey("key-2", "ES256");
  foreign = await generateKeyPair("RS256", { extractable: true });
  stranger = await startIssuer();
  await stranger.addKey("key-1");
  accessTokens = new AccessTokens({
    issuers: {
      team: {
        url: issuer.url,
        audiences: [],
        scopes: { operator: "admin" },
        user: "sub",
        groups: "groups",
        clientId: "hall",
        clientSecret: "a secret",
      },
    },
    url: () => door.url,
    log: createLog({ level: "silent" }),
    now: () => Date.now() + skewMs,
  });
  const count = createToolkit("count", { up: { run: () => text(String(++calls)) } });
  door = await openDoor({ toolkits: [count], accessTokens });
});
afterAll(async () => {
  await door[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  await stranger[Symbol.asyncDispose]();
});
afterEach(() => {
  skewMs = 0;
});

const callUp = { name: "count.up", arguments: {} };
const now = (): number => Math.floor(Date.now() / 1_000);
const bearer = (token: string): { readonly authorization: string } => ({
  authorization: `Bearer ${token}`,
});
const goodClaims = (): JsonObject => ({
  iss: issuer.url,
  aud: door.url,
  sub: "anna",
  scope: "openid call",
  exp: now() + 600,
  iat: now(),
});
const sign = (claims: JsonObject = {}, header: JsonObject = {}): Promise<string> => {
  const all = Object.entries({ ...goodClaims(), ...claims });
  return issuer.sign(Object.fromEntries(all.filter(([, value]) => value !== undefined)), header);
};
const encode = (value: JsonObject): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");
const send = (token: string): Promise<Reply> =>
  askModern(door, "tools/call", callUp, bearer(token));

/** Signed with the bytes of a public key as if they were a secret. */
async function signShared(alg: "HS256" | "HS384" | "HS512", secret: string): Promise<string> {
  const head = `${encode({ alg, kid: "key-1", typ: "JWT" })}.${encode(goodClaims())}`;
  const mac = createHmac(`sha${alg.slice(2)}`, secret)
    .update(head)
    .digest("base64url");
  return `${head}.${mac}`;
}

async function publicPem(): Promise<string> {
  return exportSPKI(
    (await importJWK(issuer.keys[0] ?? {}, "RS256", { extractable: true })) as never,
  );
}

/** A header that no library would write, with the signature of our issuer. */
function signHeader(header: JsonObject): string {
  const head = `${encode({ alg: "RS256", kid: "key-1", ...header })}.${encode(goodClaims())}`;
  const key = KeyObject.from(issuer.own.get("key-1") as never);
  return `${head}.${signBytes("sha256", Buffer.from(head), key).toString("base64url")}`;
}

/** Signed with a key that the issuer does not have. */
async function forge(header: JsonObject = {}, claims: JsonObject = {}): Promise<string> {
  const { privateKey } = foreign;
  return new SignJWT({ ...goodClaims(), ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "key-1", ...header })
    .sign(privateKey);
}

async function unsigned(alg: unknown): Promise<string> {
  return `${encode({ alg })}.${encode(goodClaims())}.`;
}

async function replaced(part: 0 | 1 | 2, by: string | ((old: string) => string)): Promise<string> {
  const parts = (await sign()).split(".");
  parts[part] = typeof by === "string" ? by : by(parts[part] ?? "");
  return parts.join(".");
}

const opaque = (token: string, claims: JsonObject): string => {
  issuer.known.set(token, { active: true, ...goodClaims(), ...claims });
  return token;
};

type Attack = readonly [name: string, token: () => Promise<string> | string];
const refused: readonly Attack[] = [
  ["alg none", () => unsigned("none")],
  ["alg None", () => unsigned("None")],
  ["alg nOnE with a real signature", () => signHeader({ alg: "nOnE" })],
  ["no alg", () => unsigned(undefined)],
  ["alg as a list", () => unsigned(["RS256"])],
  ["HS256 with the public key", async () => signShared("HS256", await publicPem())],
  ["HS384 with the public key", async () => signShared("HS384", await publicPem())],
  ["HS512 with the public key", async () => signShared("HS512", await publicPem())],
  ["HS256 with the key as JSON", () => signShared("HS256", JSON.stringify(issuer.keys[0]))],
  ["HS256 with the modulus", () => signShared("HS256", String(issuer.keys[0]?.n))],
  ["HS256 with an empty key", () => signShared("HS256", "")],
  ["no signature", () => replaced(2, "")],
  ["half a signature", () => replaced(2, (old) => old.slice(0, old.length / 2))],
  [
    "the signature of another token",
    async () => replaced(2, (await sign({ sub: "ben" })).split(".")[2] ?? ""),
  ],
  ["changed claims", () => replaced(1, encode({ ...goodClaims(), sub: "root" }))],
  ["claims that are no object", () => replaced(1, Buffer.from("[]").toString("base64url"))],
  ["another header", () => replaced(0, encode({ alg: "RS256", kid: "key-2" }))],
  ["a stranger's key under our key id", () => forge()],
  ["a stranger's key under its own id", () => forge({ kid: "theirs" })],
  ["a stranger's key without an id", () => forge({ kid: undefined })],
  ["the key of another algorithm", () => replaced(0, encode({ alg: "ES256", kid: "key-1" }))],
  ["a key id that is a path", () => forge({ kid: "../../../../../../dev/null" })],
  ["a key id that is a query", () => forge({ kid: "' UNION SELECT 'secret" })],
  ["a key id that is an address", () => forge({ kid: `${stranger.url}/keys` })],
  ["a key id that is a list", () => signHeader({ kid: ["key-1"] })],
  ["a key id of 3,000 characters", () => forge({ kid: "k".repeat(3_000) })],
  ["the key id __proto__", () => forge({ kid: "__proto__" })],
  ["the key id constructor", () => forge({ kid: "constructor" })],
  ["jku to a stranger's keys", () => forge({ jku: `${stranger.url}/keys` })],
  ["x5u to a stranger", () => forge({ x5u: `${stranger.url}/certificate` })],
  ["x5c with a stranger's certificate", () => forge({ x5c: ["MIIB"] })],
  [
    "an embedded key",
    async () => {
      const { publicKey, privateKey } = foreign;
      return new SignJWT(goodClaims())
        .setProtectedHeader({ alg: "RS256", jwk: await exportJWK(publicKey) })
        .sign(privateKey);
    },
  ],
  ["crit with an unknown extension", () => signHeader({ crit: ["x"], x: 1 })],
  ["crit with b64 off", () => signHeader({ crit: ["b64"], b64: false })],
  ["an empty crit", () => signHeader({ crit: [] })],
  ["a logout token", () => sign({}, { typ: "logout+jwt" })],
  ["a DPoP proof", () => sign({}, { typ: "dpop+jwt" })],
  ["an ID token", () => sign({ at_hash: "x" })],
  ["an ID token of a code flow", () => sign({ c_hash: "x" })],
  ["an ID token with a nonce", () => sign({ nonce: "x" })],
  ["an ID token for the client", () => sign({ aud: "editor", scope: undefined })],
  ["an ID token of Keycloak", () => sign({ typ: "ID" })],
  ["a refresh token of Keycloak", () => sign({ typ: "Refresh" })],
  ["an ID token of Cognito", () => sign({ token_use: "id" })],
  ["another audience", () => sign({ aud: "https://other.example" })],
  ["no audience", () => sign({ aud: undefined })],
  ["an empty list of audiences", () => sign({ aud: [] })],
  ["an audience that is an object", () => sign({ aud: { [door.url]: true } })],
  ["an audience that begins like ours", () => sign({ aud: `${door.url}.evil.example` })],
  ["another path of our host", () => sign({ aud: `${door.url}/other` })],
  ["our audience and a query", () => sign({ aud: `${door.url}/mcp?x` })],
  ["our audience in capitals", () => sign({ aud: door.url.toUpperCase() })],
  ["another issuer", () => stranger.sign({ ...goodClaims(), iss: stranger.url })],
  ["a stranger's signature for our issuer", () => stranger.sign(goodClaims())],
  ["the issuer with a slash", () => sign({ iss: `${issuer.url}/` })],
  ["the issuer in capitals", () => sign({ iss: issuer.url.toUpperCase() })],
  ["a list of issuers", () => sign({ iss: [issuer.url] })],
  ["no issuer", () => sign({ iss: undefined })],
  ["an expired token", () => sign({ exp: now() - 60 })],
  ["no expiry", () => sign({ exp: undefined })],
  ["an expiry that is text", () => sign({ exp: String(now() + 600) })],
  ["an expiry before 1970", () => sign({ exp: -1 })],
  ["a token of the future", () => sign({ nbf: now() + 600 })],
  ["a start that is text", () => sign({ nbf: "0" })],
  ["no subject", () => sign({ sub: undefined })],
  ["an empty subject", () => sign({ sub: "" })],
  ["a subject that is a number", () => sign({ sub: 7 })],
  ["a subject of two lines", () => sign({ sub: "anna\nroot" })],
  ["a subject that hides text", () => sign({ sub: "an\u202ena" })],
  ["a subject of 300 characters", () => sign({ sub: "a".repeat(300) })],
  ["a token bound to a key", () => sign({ cnf: { jkt: "x" } })],
  ["a token bound to a certificate", () => sign({ cnf: { "x5t#S256": "x" } })],
  ["groups that are left out", () => sign({ _claim_names: { groups: "src1" } })],
  ["five parts, as an encrypted token", () => "a.b.c.d.e"],
  ["three empty parts", () => ".."],
  ["an unknown opaque token", () => "opaque-unknown"],
  ["an inactive opaque token", () => opaque("opaque-1", { active: false })],
  ["an opaque token that is active in words", () => opaque("opaque-2", { active: "true" })],
  [
    "an opaque token for another audience",
    () => opaque("opaque-3", { aud: "https://other.example" }),
  ],
  ["an opaque token without an audience", () => opaque("opaque-4", { aud: undefined })],
  ["an opaque token of another issuer", () => opaque("opaque-5", { iss: stranger.url })],
  ["an expired opaque token", () => opaque("opaque-6", { exp: now() - 1 })],
  ["an opaque token of the future", () => opaque("opaque-7", { nbf: now() + 60 })],
  ["an opaque token that needs a proof", () => opaque("opaque-8", { token_type: "DPoP" })],
  ["an opaque refresh token", () => opaque("opaque-9", { typ: "Refresh" })],
];

describe("is refused with 401, and nothing runs:", () => {
  test.each(refused)("%s", async (_name, makeToken) => {
    const before = calls;
    const token = await makeToken();
    const reply = await send(token);
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toContain('error="invalid_token"');
    expect(reply.text).not.toContain(token.length > 8 ? token : "\0");
    expect(calls).toBe(before);
    expect(stranger.seen).toEqual([]);
  });
});

describe("is refused by the way it is sent:", () => {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: callUp };
  const knock = (headers: Readonly<Record<string, string>>, path = "/mcp"): Promise<Reply> =>
    door.send({ body: message, path, headers: { ...modernHeaders(message), ...headers } });

  test.each<readonly [string, (token: string) => Promise<Reply>, number]>([
    [
      "in the URL",
      (token) => knock({ authorization: "Bearer" }, `/mcp?access_token=${token}`),
      401,
    ],
    ["as Basic", (token) => knock({ authorization: `Basic ${token}` }), 401],
    ["with a second token", (token) => knock({ authorization: `Bearer ${token} ${token}` }), 401],
    ["with something after it", (token) => knock({ authorization: `Bearer ${token},x` }), 401],
    [
      "over 16 KiB",
      (token) => knock({ authorization: `Bearer ${token}${"A".repeat(20_000)}` }),
      431,
    ],
  ])("%s", async (_name, attack, status) => {
    const before = calls;
    expect((await attack(await sign())).status).toBe(status);
    expect(calls).toBe(before);
  });

  test("in two headers", async () => {
    const before = calls;
    const token = await sign();
    const line = door.dial();
    const body = JSON.stringify(message);
    line.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nAuthorization: Bearer ${token}\r\nAuthorization: Bearer ${doorToken}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await line.until(/HTTP\/1\.1 401/);
    expect(calls).toBe(before);
  });

  test("expired, on a WebSocket", async () => {
    const token = await sign({ exp: now() - 60 });
    await expect(connectWebSocket(door, { protocols: [`bearer.${token}`] })).rejects.toMatchObject({
      status: 401,
    });
  });
});

describe("lacks rights:", () => {
  test.each<readonly [string, JsonObject]>([
    ["no scope", { scope: undefined }],
    ["only read", { scope: "read" }],
    ["a role that the config does not name", { scope: "openid", roles: ["admin", "call"] }],
    ["a permission that the config does not name", { scope: "", permissions: ["call"] }],
    ["a scope that contains call", { scope: "recall call2 call:x" }],
  ])("%s", async (_name, claims) => {
    const before = calls;
    const reply = await send(await sign(claims));
    expect(reply.status).toBe(403);
    expect(reply.headers["www-authenticate"]).toMatch(/error="insufficient_scope".*scope="call"/);
    expect(calls).toBe(before);
  });

  test("call does not allow the figures, and says which scope does", async () => {
    const reply = await door.send({
      method: "GET",
      path: "/metrics",
      headers: bearer(await sign()),
    });
    expect(reply.status).toBe(403);
    expect(reply.headers["www-authenticate"]).toContain('scope="read"');
  });

  test("call does not allow to register, and the scope that is named does", async () => {
    const tool = { name: "greeter", description: "Greets people by name.", version: "1.0.0" };
    const register = { jsonrpc: "2.0", id: 1, method: "tools/register", params: { tool } };
    const post = async (path: string, body: JsonObject, scope: string): Promise<Reply> => {
      const headers = { ...bearer(await sign({ scope })), "content-type": "application/json" };
      return door.send({ method: "POST", path, headers, body: JSON.stringify(body) });
    };
    for (const [path, body] of [
      ["/mcp", register] as const,
      ["/api/toolkits", { tool }] as const,
    ]) {
      const refused = await post(path, body, "call");
      expect(refused.status).toBe(403);
      expect(refused.headers["www-authenticate"]).toMatch(
        /error="insufficient_scope", resource_metadata=".*", scope="register:greeter"$/,
      );
      // The scope is enough: now it is about what is registered.
      const stepped = await post(path, body, "call register:greeter");
      expect(stepped.headers["www-authenticate"]).toBeUndefined();
      expect(stepped.text).toContain("functions");
    }
    const injected = { tool: { ...tool, name: 'x", scope="admin' } };
    const reply = await post("/api/toolkits", injected, "call");
    expect(reply.headers["www-authenticate"]).toBeUndefined();
    expect(reply.status).toBe(403);
  });
});

describe("a page", () => {
  test("is not opened with a refused access token, nor twice with a code", async () => {
    const folder = mkdtempSync(join(tmpdir(), "guildhall-page-"));
    const named = openNamedTokens(folder);
    const sessions = openPageSessions({ token: doorToken, named, accessTokens, folder });
    const refused = [{ exp: now() - 60 }, { aud: "https://else.example" }, { sub: undefined }];
    for (const claims of refused)
      expect(await sessions.open({ token: await sign(claims) })).toBeUndefined();
    const opened = await sessions.open({ token: await sign({ exp: now() + 30 }) });
    const { id = "", csrf = "" } = opened ?? {};
    expect(await sessions.find(id, csrf)).toMatchObject({ rights: { scopes: ["call"] } });
    expect(await sessions.find(id, `${csrf}x`)).toBeUndefined();
    // It ends with the token.
    skewMs = 60_000;
    expect(await sessions.find(id, csrf)).toBeUndefined();
    const code = await sessions.createCode();
    expect(await sessions.open({ code })).toBeDefined();
    expect(await sessions.open({ code })).toBeUndefined();
    rmSync(folder, { recursive: true });
  });
});

describe("still works:", () => {
  test("a valid token is checked without the issuer, and other callers stay admitted", async () => {
    const token = await sign({ aud: [`${door.url}/mcp`, "account"], groups: ["staff"] });
    const before = calls;
    expect((await send(token)).status).toBe(200);
    const seen = issuer.seen.length;
    expect((await send(token)).status).toBe(200);
    expect(issuer.seen.length).toBe(seen);
    expect((await send(doorToken)).status).toBe(200);
    expect((await askModern(door, "tools/call", callUp)).status).toBe(200);
    expect(calls).toBe(before + 4);
  });

  test("an opaque token, until the issuer has revoked it", async () => {
    const token = opaque("opaque-good", {});
    expect((await send(token)).status).toBe(200);
    issuer.known.delete(token);
    skewMs = 10_001;
    expect((await send(token)).status).toBe(401);
  });

  test("a socket is closed when its token has expired, and what it sent then does not run", async () => {
    const client = await connectWebSocket(door, {
      headers: bearer(await sign({ exp: now() + 30 })),
    });
    const before = calls;
    const call = modern(callUp);
    await client.request("tools/call", call);
    expect(calls).toBe(before + 1);
    skewMs = 60_000;
    client.ask("tools/call", call);
    client.ask("tools/call", call);
    expect(await client.closed).toBe(1008);
    expect(calls).toBe(before + 1);
  });
});

test("a flood of unknown key ids fetches the keys at most once more, and a new key is found later", async () => {
  const fetched = (): number => issuer.seen.filter((path) => path.endsWith("/keys")).length;
  const before = fetched();
  const forged = await forge();
  const [, claims, signature] = forged.split(".");
  const flood = Array.from({ length: 200 }, (_, index) =>
    send(`${encode({ alg: "RS256", kid: `key-${index + 10}` })}.${claims}.${signature}`),
  );
  for (const reply of await Promise.all(flood)) expect(reply.status).toBe(401);
  expect(fetched() - before).toBeLessThanOrEqual(1);

  await issuer.addKey("key-3");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
  expect((await send(await sign({}, { kid: "key-3" }))).status).toBe(200);
  expect(fetched() - before).toBeLessThanOrEqual(2);
  vi.useRealTimers();
});
