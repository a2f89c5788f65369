import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { PageDoor, type PageHost } from "../../src/server/http/page-door.ts";
import { openPageFiles } from "../../src/server/http/page-files.ts";
import { openPageSessions, type PageSessions } from "../../src/server/http/page-sessions.ts";
import { openNamedTokens } from "../../src/server/http/tokens.ts";
import { type Door, doorToken, type Knock, openDoor, type Reply } from "../servers/door.ts";

/** The page is a way in: who may use it, from where, and for what. */
const folder = mkdtempSync(join(tmpdir(), "guildhall-page-door-"));
writeFileSync(join(folder, "index.html"), "<!doctype html><title>page</title>");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const named = openNamedTokens(folder);

interface PageSite extends AsyncDisposable {
  readonly door: Door;
  readonly sessions: PageSessions;
  /** Sends an event to the page that follows. */
  emit(): void;
  /** The methods that reached the hall. */
  readonly reached: string[];
  now: number;
  post(method: string, knock?: Knock): Promise<Reply>;
  signIn(given: { code: string } | { token: string }): Promise<Signed>;
}

interface Signed {
  readonly status: number;
  readonly cookie: string;
  readonly csrf: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function openPageSite(): Promise<PageSite> {
  const reached: string[] = [];
  let emit = (): void => {};
  const time = { now: 1_000_000_000_000 };
  const sessions = openPageSessions({ token: doorToken, named, folder, now: () => time.now });
  const scopes: Readonly<Record<string, string>> = { look: "read", use: "call", decide: "admin" };
  const host: PageHost = {
    scopeOf: (method) => (Object.hasOwn(scopes, method) ? scopes[method] : undefined),
    async ask(method) {
      reached.push(method);
      return {};
    },
    follow(_after, _caller, send) {
      emit = () => send({ data: "news" });
      return () => {};
    },
  };
  const door = await openDoor({ page: { files: openPageFiles(folder), sessions, host } });
  const post = (
    method: string,
    { headers = {}, body = {}, ...knock }: Knock = {},
  ): Promise<Reply> =>
    door.send({
      path: `/api/page/${method}`,
      ...knock,
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  return {
    door,
    sessions,
    reached,
    emit: () => emit(),
    get now() {
      return time.now;
    },
    set now(next) {
      time.now = next;
    },
    post,
    async signIn(given) {
      const { status, headers, json } = await post("sign-in", { body: given });
      const cookie = String(headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";
      const { csrf = "" } = (json?.result ?? {}) as { csrf?: string };
      return { status, cookie, csrf, headers: { cookie, "x-guildhall-csrf": csrf } };
    },
    [Symbol.asyncDispose]: () => door[Symbol.asyncDispose](),
  };
}

describe("signing in to the page", () => {
  test("a code works once, and only for 60 seconds", async () => {
    await using site = await openPageSite();
    const code = await site.sessions.createCode();
    expect(await site.signIn({ code })).toMatchObject({ status: 200 });
    expect(await site.signIn({ code })).toMatchObject({ status: 401 });
    const late = await site.sessions.createCode();
    site.now += 60_000;
    expect(await site.signIn({ code: late })).toMatchObject({ status: 401 });
    expect(await site.signIn({ token: "wrong-wrong-wrong-wrong" })).toMatchObject({ status: 401 });
  });

  test("its cookie is for the page's own requests, and no script can read it", async () => {
    await using site = await openPageSite();
    const { headers } = await site.post("sign-in", {
      body: { code: await site.sessions.createCode() },
    });
    expect(String(headers["set-cookie"])).toMatch(
      /^guildhall_\d+=[\w-]{43}; Path=\/api\/page; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    );
  });

  test("its cookie is never sent in the clear once it came over TLS", async () => {
    await using site = await openPageSite();
    const host: PageHost = { scopeOf: () => "read", ask: async () => ({}), follow: () => () => {} };
    const files = openPageFiles(folder);
    const door = new PageDoor({ files, sessions: site.sessions, host, bodyBytesMax: 1_000 });
    const http = createServer((request, response) => {
      Object.assign(request.socket, { encrypted: true });
      void door.serve(request, response, "/api/page/sign-in");
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: await site.sessions.createCode() }),
    });
    expect(answer.headers.get("set-cookie")).toMatch(/; Secure$/);
    http.close();
  });

  test("a session ends when it is signed out, after seven days, and with its token", async () => {
    await using site = await openPageSite();
    const first = await site.signIn({ token: doorToken });
    expect(await site.post("look", first)).toMatchObject({ status: 200 });
    await site.post("sign-out", first);
    expect(await site.post("look", first)).toMatchObject({ status: 401 });

    const token = await named.create("visitor", { scopes: ["read"] });
    const visitor = await site.signIn({ token });
    expect(await site.post("look", visitor)).toMatchObject({ status: 200 });
    await named.revoke("visitor");
    // A new token of the same name does not open the old session.
    await named.create("visitor", { scopes: ["admin"] });
    expect(await site.post("look", visitor)).toMatchObject({ status: 401 });
    await named.revoke("visitor");

    const last = await site.signIn({ code: await site.sessions.createCode() });
    site.now += 7 * 24 * 3_600_000;
    expect(await site.post("look", last)).toMatchObject({ status: 401 });
  });

  test("a hall with another token does not accept the session", async () => {
    await using site = await openPageSite();
    const { cookie, csrf } = await site.signIn({ token: doorToken });
    const id = cookie.split("=")[1] ?? "";
    const other = openPageSessions({
      token: "another-token-0123456789",
      named,
      folder,
      now: () => site.now,
    });
    expect(await site.sessions.find(id, csrf)).toBeDefined();
    expect(await other.find(id, csrf)).toBeUndefined();
  });
});

describe("a request of the page", () => {
  test("needs the cookie and the header, which belong together", async () => {
    await using site = await openPageSite();
    const one = await site.signIn({ token: doorToken });
    const other = await site.signIn({ token: doorToken });
    const refused = [
      {},
      { cookie: one.cookie },
      { "x-guildhall-csrf": one.csrf },
      { cookie: one.cookie, "x-guildhall-csrf": other.csrf },
      { cookie: `${one.cookie}; ${other.cookie}`, "x-guildhall-csrf": one.csrf },
      { authorization: `Bearer ${doorToken}` },
    ];
    for (const headers of refused)
      expect(await site.post("decide", { headers }), JSON.stringify(headers)).toMatchObject({
        status: 401,
      });
    expect(site.reached).toEqual([]);
    expect(await site.post("decide", one)).toMatchObject({ status: 200 });
  });

  test.each([
    ["another site", { origin: "http://evil.example", "sec-fetch-site": "cross-site" }],
    ["another port of this host", { origin: "http://127.0.0.1:9", "sec-fetch-site": "same-site" }],
    ["another port, without fetch metadata", { origin: "http://127.0.0.1:9" }],
    ["an opaque origin", { origin: "null" }],
    ["a form", { "sec-fetch-site": "cross-site" }],
    ["a rebound name", { host: "evil.example" }],
  ])("from %s is refused, with a valid session", async (_what, headers) => {
    await using site = await openPageSite();
    const signed = await site.signIn({ token: doorToken });
    const reply = await site.post("decide", { headers: { ...signed.headers, ...headers } });
    expect(reply.status).toBe(403);
    expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
    expect(site.reached).toEqual([]);
  });

  test("must be JSON, so that no form can send it", async () => {
    await using site = await openPageSite();
    const { headers } = await site.signIn({ token: doorToken });
    const reply = await site.post("decide", {
      headers: { ...headers, "content-type": "text/plain" },
    });
    expect(reply.status).toBe(415);
    expect(await site.post("decide", { headers, method: "GET" })).toMatchObject({ status: 405 });
    expect(site.reached).toEqual([]);
  });

  test.each([
    ["read", { look: 200, use: 403, decide: 403 }],
    ["call", { look: 403, use: 200, decide: 403 }],
    ["admin", { look: 200, use: 200, decide: 200 }],
  ])("of a token with the scope %s does no more than that", async (scope, expected) => {
    await using site = await openPageSite();
    const token = await named.create("scoped", { scopes: [scope] });
    try {
      const { headers } = await site.signIn({ token });
      for (const [method, status] of Object.entries(expected))
        expect(await site.post(method, { headers }), method).toMatchObject({ status });
      const events = await site.post("events", { headers, method: "PUT" });
      expect(events.status).toBe(405);
    } finally {
      await named.revoke("scoped");
    }
  });

  test("to follow the hall needs a session with the scope read", async () => {
    await using site = await openPageSite();
    expect(await site.door.send({ method: "GET", path: "/api/page/events" })).toMatchObject({
      status: 401,
    });
    const token = await named.create("caller", { scopes: ["call"] });
    const { headers } = await site.signIn({ token });
    const reply = await site.door.send({ method: "GET", path: "/api/page/events", headers });
    await named.revoke("caller");
    expect(reply.status).toBe(403);
  });
});

test("a page gets no more events once its session has ended", async () => {
  await using site = await openPageSite();
  const { headers } = await site.signIn({ token: doorToken });
  const { events } = await site.door.open({ method: "GET", path: "/api/page/events", headers });
  site.emit();
  expect(await events.next()).toMatchObject({ data: "news" });
  await site.post("sign-out", { headers });
  site.emit();
  await events.ended;
  expect(events.events).toHaveLength(1);
});

describe("the page itself", () => {
  const browser = { accept: "text/html,application/xhtml+xml" };

  test("cannot be framed, and runs only scripts of the hall", async () => {
    await using site = await openPageSite();
    const { status, headers } = await site.door.send({
      method: "GET",
      path: "/",
      headers: browser,
    });
    expect(status).toBe(200);
    const policy = String(headers["content-security-policy"]);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers).toMatchObject({
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
    });
  });

  test("is served to browsers only: everything else at / stays MCP", async () => {
    await using site = await openPageSite();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const posted = await site.door.send({ path: "/", headers: browser, body: ping });
    expect(posted.json).toMatchObject({ jsonrpc: "2.0" });
    const stream = { accept: "text/event-stream" };
    const got = await site.door.send({ method: "GET", path: "/", headers: stream });
    expect(got.status).toBe(405);
    const path = "/assets/../../package.json";
    expect(await site.door.send({ method: "GET", path, headers: browser })).toMatchObject({
      status: 404,
    });
  });

  test("is not loaded again while it is the same", async () => {
    await using site = await openPageSite();
    const first = await site.door.send({ method: "GET", path: "/", headers: browser });
    const headers = { ...browser, "if-none-match": String(first.headers.etag) };
    const again = await site.door.send({ method: "GET", path: "/", headers });
    expect(again).toMatchObject({ status: 304, text: "" });
  });
});
