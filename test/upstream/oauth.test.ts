import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog, Secrets } from "../../src/base/log.ts";
import { openSealedFiles } from "../../src/base/secret-store.ts";
import {
  type Challenge,
  type RemoteServerConfig,
  readChallenge,
} from "../../src/upstream/issuer.ts";
import { login } from "../../src/upstream/login.ts";
import { createOAuth } from "../../src/upstream/oauth.ts";
import { createOAuthFetch, refuseUnsafe } from "../../src/upstream/oauth-fetch.ts";
import { openRedirectPage } from "../../src/upstream/redirect.ts";
import { createTokenStore } from "../../src/upstream/token-store.ts";
import type { RawClient } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import {
  type Behaviour,
  type OAuthServer,
  ownClient,
  startOAuthServer,
} from "../servers/oauth-server.ts";
import { until } from "../servers/until.ts";
import { callTool } from "../servers/upstreams.ts";

/** Tokens for servers elsewhere: who gets one, who is asked for it, and who never sees it. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-tokens-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function remote(url: string, more: Partial<RemoteServerConfig> = {}): RemoteServerConfig {
  const filter = { include: ["*"], exclude: [] };
  return {
    type: "http",
    url,
    headers: {},
    start: "lazy",
    idleTimeoutSeconds: 0,
    tools: filter,
    disabled: false,
    allowPrivate: false,
    ...more,
  };
}

/** A person with a browser. */
function logIn(config: RemoteServerConfig): ReturnType<typeof login> {
  return login({
    config,
    store: createTokenStore(config.url, { folder }),
    timeoutMs: 30_000,
    show: (page) => void fetch(page).then((answer) => answer.text()),
  });
}

interface OAuthHall extends AsyncDisposable {
  readonly hall: TestHall;
  readonly client: RawClient;
  /** Everything the hall logged, at every level. */
  logged(): string;
  call(): Promise<JsonObject>;
}

/** A hall with that server behind it, as `far`. */
async function startFar(config: RemoteServerConfig): Promise<OAuthHall> {
  const lines: string[] = [];
  const secrets = new Secrets();
  const log = createLog({ level: "trace", sink: { write: (line) => lines.push(line) }, secrets });
  const hall = await startHall({
    toolkits: [],
    servers: { far: config },
    tokenFolder: folder,
    log,
    secrets,
  });
  const client = hall.connect();
  await client.greet();
  return {
    hall,
    client,
    logged: () => lines.join(""),
    call: () => callTool(client, "far.echo", { a: 1 }),
    [Symbol.asyncDispose]: () => hall[Symbol.asyncDispose](),
  };
}

async function startLoggedIn(
  server: OAuthServer,
  more: Partial<RemoteServerConfig> = {},
): Promise<OAuthHall> {
  const config = remote(server.url, more);
  await logIn(config);
  const far = await startFar(config);
  await until(() => far.hall.hall.registry.findTool("far.echo") !== undefined, "far.echo listed");
  return far;
}

const said = ({ result }: JsonObject): string =>
  JSON.stringify((result as JsonObject | undefined)?.content ?? null);
const worked = { result: { content: [{ type: "text", text: '{"a":1}' }] } };
const refreshesOf = ({ seen }: OAuthServer): number =>
  seen.tokenRequests.filter(({ body }) => body.get("grant_type") === "refresh_token").length;

/** The stored tokens of the one server a test uses, decrypted, and their file. */
function readKept(url: string): {
  readonly text: string;
  readonly mode: number;
  readonly file: string;
} {
  const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".sealed"));
  const file = join(folder, name);
  const text = openSealedFiles(folder).read(`login ${url}`) ?? "";
  return { text, mode: statSync(file).mode & 0o777, file };
}

describe("a login", () => {
  test("is requested by name when it is missing, and the server stays listed", async () => {
    await using server = await startOAuthServer();
    await using far = await startFar(remote(server.url));
    const upstream = far.hall.hall.fleet.get("far");
    await until(() => upstream.state().kind === "down", "far down");
    expect(upstream.state()).toMatchObject({
      code: "DENIED",
      reason: "needs login",
    });
    expect(upstream.problem?.()).toBe("needs login");
    await expect(upstream.discover()).rejects.toMatchObject({
      code: "DENIED",
      message: 'server "far" needs login',
    });
    expect(server.seen.tokenRequests).toEqual([]);
  });

  test("opens the server: PKCE, the resource in both requests, one registration", async () => {
    await using server = await startOAuthServer();
    await using far = await startLoggedIn(server);
    expect(await far.call()).toMatchObject(worked);
    const [query] = server.seen.logins;
    expect(Object.fromEntries(query ?? [])).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      resource: server.url,
      scope: "tools:list offline_access",
      client_id: "client-1",
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}$/),
    });
    expect(server.seen.tokenRequests[0]?.body.get("resource")).toBe(server.url);
    expect(server.seen.registrations).toMatchObject([
      { client_name: "Guildhall", application_type: "native", token_endpoint_auth_method: "none" },
    ]);
    await logIn(remote(server.url));
    expect(server.seen.registrations).toHaveLength(1);
  });

  test("is picked up by a hall that runs already", async () => {
    await using server = await startOAuthServer();
    await using far = await startFar(remote(server.url));
    const upstream = far.hall.hall.fleet.get("far");
    await until(() => upstream.state().kind === "down", "far down");
    await logIn(remote(server.url));
    await upstream.restart();
    await until(() => far.hall.hall.registry.findTool("far.echo") !== undefined, "far.echo listed");
    expect(await far.call()).toMatchObject(worked);
  });

  test("leaves a file only this user can read, and nothing in the log", async () => {
    await using server = await startOAuthServer();
    await using far = await startLoggedIn(server);
    await far.call();
    server.expire();
    await far.call();
    far.hall.hall.log.error(`tokens: ${server.seen.tokens.join(" ")}`);
    const { text, mode, file } = readKept(server.url);
    expect(mode).toBe(0o600);
    const onDisk = readFileSync(file, "latin1");
    expect(server.seen.tokens.filter((token) => onDisk.includes(token))).toEqual([]);
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(JSON.parse(text)).toMatchObject({
      url: server.url,
      issuer: server.issuer,
      accounts: { [server.issuer]: { resource: server.url } },
    });
    expect(server.seen.tokens.filter((token) => far.logged().includes(token))).toEqual([]);
    expect(far.logged()).toContain("tokens: ***");
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test("that a person refuses fails, and leaves nothing", async () => {
    await using server = await startOAuthServer({ loginError: "access_denied" });
    await expect(logIn(remote(server.url))).rejects.toMatchObject({
      code: "DENIED",
      message: "login denied: access_denied",
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is not offered where none is required", async () => {
    const server = createServer((_request, response) =>
      response.writeHead(_request.method === "POST" ? 200 : 404).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await expect(
      logIn(remote(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)),
    ).rejects.toMatchObject({
      message: "the server requires no login",
    });
    server.close();
  });

  test("is not wanted where the config has a token", async () => {
    await using server = await startOAuthServer();
    await logIn(remote(server.url));
    await using far = await startFar(
      remote(server.url, { headers: { Authorization: "Bearer of-the-config" } }),
    );
    await until(() => far.hall.hall.fleet.get("far").state().kind === "down", "far down");
    expect(new Set(server.seen.bearers)).toEqual(new Set([undefined, "Bearer of-the-config"]));
  });

  test.each(["sse", "ws"] as const)("is asked for over %s as well", async (type) => {
    await using server = await startOAuthServer();
    const url = type === "ws" ? server.url.replace("http", "ws") : server.url;
    await using far = await startFar(remote(url, { type }));
    await expect(far.hall.hall.fleet.get("far").discover()).rejects.toMatchObject({
      code: "DENIED",
      message: 'server "far" needs login',
    });
  });
});

describe("a token that has expired", () => {
  test("is renewed while the call waits", async () => {
    await using server = await startOAuthServer();
    await using far = await startLoggedIn(server);
    server.expire();
    expect(await far.call()).toMatchObject(worked);
    expect(refreshesOf(server)).toBe(1);
    expect(server.seen.tokenRequests.at(-1)?.body.get("resource")).toBe(server.url);
  });

  test("is renewed once for 50 calls", async () => {
    await using server = await startOAuthServer({ refreshMs: 100 });
    await using far = await startLoggedIn(server);
    server.expire();
    const answers = await Promise.all(Array.from({ length: 50 }, () => far.call()));
    expect(answers.filter(({ result }) => (result as JsonObject).isError !== true)).toHaveLength(
      50,
    );
    expect(refreshesOf(server)).toBe(1);
  });

  test("is renewed once for several halls of one user", async () => {
    await using server = await startOAuthServer({ refreshMs: 50 });
    const config = remote(server.url);
    await logIn(config);
    server.expire();
    const halls = Array.from({ length: 5 }, () =>
      createOAuth({ name: "far", config, store: createTokenStore(config.url, { folder }) }),
    );
    const sent = (await halls[0]?.headers())?.authorization;
    const refusal = (): Response =>
      new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
    expect(await Promise.all(halls.map((hall) => hall.authorize(refusal(), sent)))).toEqual(
      halls.map(() => true),
    );
    expect(refreshesOf(server)).toBe(1);
    // A call that learns of the refusal late uses the new token.
    expect(await halls[0]?.authorize(refusal(), sent)).toBe(true);
    expect(refreshesOf(server)).toBe(1);
  });

  test("is renewed although a process died over it", async () => {
    await using server = await startOAuthServer();
    await using far = await startLoggedIn(server);
    server.expire();
    // A pid that no process can have.
    const name = createHash("sha256").update(server.url).digest("hex").slice(0, 32);
    writeFileSync(join(folder, `${name}.json.lock`), String(2 ** 30));
    expect(await far.call()).toMatchObject(worked);
  });

  test("and is revoked needs a person; unusable tokens are not kept", async () => {
    await using server = await startOAuthServer();
    await using far = await startLoggedIn(server);
    server.revoke();
    const answer = await far.call();
    expect(answer).toMatchObject({ result: { isError: true } });
    expect(said(answer)).toContain("guildhall login far");
    expect(refreshesOf(server)).toBe(1);
    await far.call();
    expect(refreshesOf(server)).toBe(1);
    expect(server.seen.tokens.filter((token) => readKept(server.url).text.includes(token))).toEqual(
      [],
    );
    await logIn(remote(server.url));
    await until(async () => said(await far.call()).includes('"a'), "far.echo works");
  });

  test("is kept while the issuer is in trouble, and nothing the issuer wrote is passed on", async () => {
    await using server = await startOAuthServer();
    await using far = await startLoggedIn(server);
    server.expire();
    server.behaviour.tokenStatus = 503;
    const answer = await far.call();
    expect(said(answer)).toContain("cannot renew the token for server");
    expect(said(answer)).not.toContain("of the issuer");
    delete server.behaviour.tokenStatus;
    expect(await far.call()).toMatchObject(worked);
  });
});

describe("the issuer", () => {
  const misfits: readonly [string, (server: OAuthServer) => Partial<Behaviour>][] = [
    ["whose metadata is another's", () => ({ issuer: "https://other.example.com" })],
    ["that signs the answer with another name", () => ({ iss: "https://other.example.com" })],
    ["that signs it almost right", (server) => ({ iss: `${server.issuer}/` })],
  ];
  test.each(misfits)("%s gets no code and gives no token", async (_name, misbehave) => {
    await using server = await startOAuthServer();
    Object.assign(server.behaviour, misbehave(server));
    await expect(logIn(remote(server.url))).rejects.toMatchObject({
      code: "DENIED",
      message: expect.stringContaining("another issuer"),
    });
    expect(server.seen.tokenRequests).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("that the config does not name is not asked", async () => {
    await using server = await startOAuthServer();
    const oauth = {
      grant: "authorization_code",
      callbackPort: 0,
      issuer: "https://other.example.com",
    } as const;
    await expect(logIn(remote(server.url, { oauth }))).rejects.toMatchObject({
      code: "DENIED",
      message: expect.stringContaining(server.issuer),
    });
    expect(server.seen.logins).toEqual([]);
  });

  test("of another issuer never gets tokens of the previous one", async () => {
    await using server = await startOAuthServer();
    await using other = await startOAuthServer();
    await using far = await startLoggedIn(server);
    server.behaviour.issuers = [other.issuer];
    server.expire();
    expect(said(await far.call())).toContain("guildhall login far");
    expect(other.seen.tokenRequests).toEqual([]);
    await logIn(remote(server.url));
    expect(other.seen.registrations).toHaveLength(1);
    expect(other.seen.logins[0]?.get("client_id")).toBe("client-1");
    expect(
      Object.keys((JSON.parse(readKept(server.url).text) as { accounts: object }).accounts),
    ).toEqual([server.issuer, other.issuer]);
  });

  test("gets a client of the config only if it is the one that got it before", async () => {
    await using server = await startOAuthServer();
    await using other = await startOAuthServer();
    const config = remote(server.url, {
      oauth: {
        grant: "authorization_code",
        callbackPort: 0,
        clientId: "by-hand",
        clientSecret: "by-hand-secret",
      },
    });
    await logIn(config);
    expect(server.seen.registrations).toEqual([]);
    expect(readKept(server.url).text).not.toContain("by-hand-secret");
    server.behaviour.issuers = [other.issuer];
    await expect(logIn(config)).rejects.toThrow();
    expect(other.seen.logins).toEqual([]);
  });
});

describe("the scope of a token", () => {
  test("is checked before anybody is asked to log in", async () => {
    await using server = await startOAuthServer({ resource: "https://elsewhere.example.com/mcp" });
    await expect(logIn(remote(server.url))).rejects.toMatchObject({
      message: expect.stringContaining("does not match"),
    });
    expect(server.seen.logins).toEqual([]);
  });

  test("is one server: another with the same issuer never sees it", async () => {
    await using server = await startOAuthServer();
    await using other = await startOAuthServer({ issuers: [server.issuer] });
    await logIn(remote(server.url));
    await using far = await startFar(remote(other.url));
    await until(() => far.hall.hall.fleet.get("far").state().kind === "down", "far down");
    expect(new Set(other.seen.bearers)).toEqual(new Set([undefined]));
  });

  test("stays with its address when a config gives the server's name to another", async () => {
    const store = createTokenStore("https://a.example.com/mcp", { folder });
    await store.write({
      issuer: "https://i.example.com",
      accounts: { "https://i.example.com": { client: { client_id: "c" } } },
    });
    expect(
      (await createTokenStore("https://b.example.com/mcp", { folder }).read()).accounts,
    ).toEqual({});
    const { file } = readKept("https://a.example.com/mcp");
    await createTokenStore("https://b.example.com/mcp", { folder }).write({ accounts: {} });
    const [other = ""] = readdirSync(folder).filter(
      (name) => name.endsWith(".sealed") && join(folder, name) !== file,
    );
    renameSync(file, join(folder, other));
    expect((await store.read()).accounts).toEqual({});
    expect(
      (await createTokenStore("https://b.example.com/mcp", { folder }).read()).accounts,
    ).toEqual({});
  });

  test("of version 0.1, in plain text, still works and is encrypted when it is next written", async () => {
    const url = "https://a.example.com/mcp";
    const logins = { issuer: "i", accounts: { i: { client: { client_id: "c" } } } };
    const name = createHash("sha256").update(url).digest("hex").slice(0, 32);
    const plain = join(folder, `${name}.json`);
    writeFileSync(plain, JSON.stringify({ url, ...logins }));
    const store = createTokenStore(url, { folder });
    expect(await store.read()).toMatchObject(logins);
    await store.write(logins);
    expect(existsSync(plain)).toBe(false);
    expect(await store.read()).toMatchObject(logins);
    expect(await store.clear()).toBe(true);
    expect((await store.read()).accounts).toEqual({});
  });

  test("wrong by the issuer's fault is found out after one renewal", async () => {
    await using server = await startOAuthServer();
    await using far = await startLoggedIn(server);
    server.expire();
    server.behaviour.audience = "https://elsewhere.example.com/mcp";
    expect(said(await far.call())).toContain("guildhall login far");
    expect(refreshesOf(server)).toBe(1);
  });
});

test("a challenge whose scope has no valid word names none", async () => {
  const challenge = (scope: string): Promise<Challenge> =>
    readChallenge(
      new Response(null, {
        status: 401,
        headers: { "www-authenticate": `Bearer scope="${scope}"` },
      }),
    );
  expect((await challenge("read a\u00e9b write")).scope).toBe("read write");
  expect((await challenge("a\u00e9b")).scope).toBeUndefined();
});

describe("more than was granted", () => {
  test("is named, remembered, and requested together with earlier ones", async () => {
    await using server = await startOAuthServer({ callScope: "tools:call" });
    await using far = await startLoggedIn(server);
    const answer = await far.call();
    expect(answer).toMatchObject({ result: { isError: true } });
    expect(said(answer)).toContain("needs login for the scope");
    await logIn(remote(server.url));
    expect(server.seen.logins.at(-1)?.get("scope")?.split(" ").sort()).toEqual([
      "offline_access",
      "tools:call",
      "tools:list",
    ]);
    await until(async () => said(await far.call()).includes('"a'), "far.echo works");
    expect(JSON.parse(readKept(server.url).text)).not.toHaveProperty("wantedScope");
  });

  test("is not asked for again when it was granted and did not help", async () => {
    await using server = await startOAuthServer({ callScope: "tools:list" });
    const config = remote(server.url);
    await logIn(config);
    const oauth = createOAuth({
      name: "far",
      config,
      store: createTokenStore(config.url, { folder }),
    });
    const { authorization } = await oauth.headers();
    const refusal = new Response(null, {
      status: 403,
      headers: { "www-authenticate": 'Bearer error="insufficient_scope", scope="tools:list"' },
    });
    expect(await oauth.authorize(refusal, authorization)).toBe(false);
    expect(await oauth.authorize(new Response(null, { status: 403 }), authorization)).toBe(false);
  });
});

describe("a client of its own", () => {
  const oauth = { grant: "client_credentials", callbackPort: 0, ...ownClient } as const;

  test("needs no person, also when its token expires", async () => {
    await using server = await startOAuthServer({ expiresIn: 0 });
    await using far = await startFar(remote(server.url, { oauth }));
    await until(() => far.hall.hall.registry.findTool("far.echo") !== undefined, "far.echo listed");
    expect(await far.call()).toMatchObject(worked);
    expect(server.seen.tokenRequests).toHaveLength(1);
    server.expire();
    expect(await far.call()).toMatchObject(worked);
    expect(server.seen.tokenRequests).toHaveLength(2);
    expect(Object.fromEntries(server.seen.tokenRequests[0]?.body ?? [])).toEqual({
      grant_type: "client_credentials",
      scope: "tools:list",
      resource: server.url,
    });
    expect(readKept(server.url).text).not.toContain(ownClient.clientSecret);
  });

  test("gets more when the server wants more", async () => {
    await using server = await startOAuthServer({ callScope: "tools:call" });
    await using far = await startFar(remote(server.url, { oauth }));
    await until(() => far.hall.hall.registry.findTool("far.echo") !== undefined, "far.echo listed");
    expect(await far.call()).toMatchObject(worked);
  });

  test("unknown to the issuer is reported, without its secret", async () => {
    await using server = await startOAuthServer();
    await using far = await startFar(
      remote(server.url, { oauth: { ...oauth, clientSecret: "wrong-secret-1234" } }),
    );
    await expect(far.hall.hall.fleet.get("far").discover()).rejects.toMatchObject({
      code: "DENIED",
      message: expect.stringContaining("invalid_client"),
    });
    expect(far.logged()).not.toContain("wrong-secret-1234");
  });
});

describe("the redirect page", () => {
  test("refuses requests without the state, answers once, and is gone", async () => {
    await using page = await openRedirectPage({
      port: 0,
      path: "/back",
      state: "s1",
      timeoutMs: 30_000,
    });
    const statusOf = async (query: string, init: RequestInit = {}): Promise<number> =>
      (await fetch(`${page.url}${query}`, init)).status;
    expect(await statusOf("?code=c&state=s2")).toBe(404);
    expect(await statusOf("?code=c")).toBe(404);
    expect(await statusOf("/other?code=c&state=s1")).toBe(404);
    expect(await statusOf("?code=c&state=s1", { method: "POST" })).toBe(404);
    expect(await statusOf("?code=c&state=s1")).toBe(200);
    expect((await page.answer).get("code")).toBe("c");
    await expect(statusOf("?code=c&state=s1")).rejects.toThrow();
  });

  test("is only open to this machine, and not for ever", async () => {
    await using page = await openRedirectPage({
      port: 0,
      path: "/back",
      state: "s1",
      timeoutMs: 50,
    });
    expect(page.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/back$/);
    await expect(page.answer).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("ignores an answer with a wrong state: the login keeps waiting", async () => {
    await using server = await startOAuthServer({ state: "not-what-was-sent" });
    const config = remote(server.url);
    const waiting = login({
      config,
      store: createTokenStore(config.url, { folder }),
      timeoutMs: 300,
      show: (page) => void fetch(page),
    });
    await expect(waiting).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(server.seen.tokenRequests).toEqual([]);
  });
});

describe("addresses a server names", () => {
  test.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://login.example.com/authorize",
    "data:text/html,x",
  ])("%s is not shown to anybody", async (endpoint) => {
    await using server = await startOAuthServer({ authorizationEndpoint: endpoint });
    const shown: URL[] = [];
    const config = remote(server.url);
    const trying = login({
      config,
      store: createTokenStore(config.url, { folder }),
      timeoutMs: 1_000,
      show: (page) => void shown.push(page),
    });
    await expect(trying).rejects.toThrow();
    expect(shown).toEqual([]);
  });

  test("inside this network are refused, unless the server is there too", () => {
    const outside = { url: "https://mcp.example.com", allowPrivate: false };
    for (const url of [
      "https://127.0.0.1/",
      "https://10.0.0.1/",
      "https://169.254.169.254/latest",
      "https://router.lan/",
    ]) {
      expect(() => refuseUnsafe(new URL(url), outside)).toThrow("which is a private address");
      expect(() => refuseUnsafe(new URL(url), { ...outside, allowPrivate: true })).not.toThrow();
    }
    expect(() => refuseUnsafe(new URL("http://login.example.com/"), outside)).toThrow(
      "not encrypted",
    );
    expect(() => refuseUnsafe(new URL("https://login.example.com/"), outside)).not.toThrow();
  });

  test("that lead elsewhere, or never end, lead nowhere", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/away")
        response.writeHead(302, { location: "http://localhost:1/" }).end();
      else if (request.url === "/round") response.writeHead(302, { location: "/round" }).end();
      else if (request.url === "/here") response.writeHead(302, { location: "/there" }).end();
      else if (request.url === "/endless") response.end(Buffer.alloc(2 * 1024 * 1024));
      else response.end("there");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const get = createOAuthFetch({ url: base, allowPrivate: false });
    try {
      expect((await get(`${base}/away`)).status).toBe(404);
      expect((await get(`${base}/round`)).status).toBe(404);
      expect(await (await get(`${base}/here`)).text()).toBe("there");
      expect((await get(`${base}/here`, { method: "POST", body: "secret" })).status).toBe(404);
      await expect(get(`${base}/endless`)).rejects.toMatchObject({ code: "TOO_LARGE" });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

test("a new connection reads the logins again", async () => {
  const config = remote("https://far.example");
  const store = createTokenStore(config.url, { folder });
  let reads = 0;
  const account = createOAuth({
    name: "far",
    config,
    store: {
      ...store,
      read() {
        reads++;
        return store.read();
      },
    },
  });
  await account.headers();
  await account.headers();
  expect(reads).toBe(1);
  account.forget();
  await account.headers();
  expect(reads).toBe(2);
});

test("calls that find the logins too old read them once, and later ones do not wait", async () => {
  const config = remote("https://far.example");
  const store = createTokenStore(config.url, { folder });
  let reads = 0;
  const account = createOAuth({
    name: "far",
    config,
    store: {
      ...store,
      read() {
        reads++;
        return store.read();
      },
    },
  });
  await Promise.all(Array.from({ length: 20 }, () => account.headers()));
  expect(reads).toBe(1);
  expect(account.headers()).toEqual({});
  account.forget();
  await Promise.all(Array.from({ length: 20 }, () => account.headers()));
  expect(reads).toBe(2);
});
