// A person logs in to a server and sets secrets in the page of a hall that runs elsewhere. An answer of an issuer
// counts once, for the person and in the session that asked for it.
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { PendingLogins } from "../../src/hall/page/own.ts";
import { modern } from "../servers/client.ts";
import { modernHeaders } from "../servers/door-clients.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { type OAuthServer, startOAuthServer } from "../servers/oauth-server.ts";
import { builtCli, type ServeProcess, watchProcess } from "../servers/serve-process.ts";
import { startIssuer, type TokenIssuer } from "../servers/token-issuer.ts";

let home: Home;
let far: OAuthServer;
let issuer: TokenIssuer;
let hall: ServeProcess;
let url: string;

beforeAll(async () => {
  far = await startOAuthServer();
  issuer = await startIssuer();
  await issuer.addKey("k1");
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  home = makeHome({
    "~/.config/guildhall/config.json": {
      auth: { url, issuers: { team: { url: issuer.url } } },
      listen: { port },
      mcpServers: {
        far: { url: far.url, oauth: { perPerson: true } },
        desk: {
          command: process.execPath,
          args: [keyServer],
          env: { DESK_KEY: `\${DESK_KEY}` },
          perPerson: ["DESK_KEY"],
        },
        plain: { url: far.url },
      },
    },
  });
  // With the hall's own key its tools are listed.
  const env = { ...home.env, DESK_KEY: "key-of-the-hall" };
  const approved = await home.run(builtCli(), ["build", "--yes"], env);
  expect(approved.stdout).toContain("desk");
  hall = watchProcess([builtCli(), "serve", "--json"], { cwd: home.project, env });
  await hall.firstLine;
}, 60_000);
afterAll(async () => {
  await hall?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
  await far?.[Symbol.asyncDispose]();
  home?.[Symbol.dispose]();
});

/** Says which key it was started with. */
const keyServer = new URL("../servers/key-server.mjs", import.meta.url).pathname;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const tokenOf = (sub: string, scope = "call"): Promise<string> =>
  issuer.sign({
    iss: issuer.url,
    aud: url,
    sub,
    scope,
    exp: Math.floor(Date.now() / 1_000) + 600,
  });

interface Browser {
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  status(method: string, params?: JsonObject): Promise<number>;
}

async function post(method: string, params: JsonObject, headers = {}): Promise<Response> {
  return fetch(`${url}/api/page/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(params),
  });
}

/** A browser that is signed in with an access token. */
async function signIn(token: string): Promise<Browser> {
  const response = await post("sign-in", { token });
  expect(response.status).toBe(200);
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { result } = (await response.json()) as { result: { csrf: string } };
  const headers = { cookie, "x-guildhall-csrf": result.csrf };
  return {
    ask: async (method, params = {}) =>
      (await (await post(method, params, headers)).json()) as JsonObject,
    status: async (method, params = {}) => (await post(method, params, headers)).status,
  };
}

/** Follows the login to the issuer of the server, where everybody agrees. The query of the way back. */
async function visit(page: string): Promise<string> {
  const response = await fetch(page, { redirect: "manual" });
  const back = new URL(response.headers.get("location") ?? "");
  expect(`${back.origin}${back.pathname}`).toBe(`${url}/oauth/callback`);
  return back.search.slice(1);
}

async function begin(browser: Browser): Promise<string> {
  const { result } = await browser.ask("loginOwn", { server: "far" });
  return (result as { readonly url: string }).url;
}

async function call(sub: string, name: string): Promise<string> {
  const params = modern({ name, arguments: { n: sub } });
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      ...modernHeaders(message),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${await tokenOf(sub)}`,
    },
    body: JSON.stringify(message),
  });
  return response.text();
}

const loginOf = async (browser: Browser): Promise<unknown> => {
  const { result } = await browser.ask("own");
  const { servers } = result as { readonly servers: readonly { name: string; login: string }[] };
  return servers.find(({ name }) => name === "far")?.login;
};
const refused = {
  error: { code: "DENIED", message: "no login with this state was begun in this browser session" },
};

describe("a login in the page", () => {
  test("ends at the hall's own address, counts once, and is this person's only", async () => {
    const anna = await signIn(await tokenOf("anna"));
    expect(await loginOf(anna)).toBe("missing");
    const answer = await visit(await begin(anna));
    expect(await anna.ask("finishLogin", { answer })).toEqual({ result: { server: "far" } });
    expect(await loginOf(anna)).toBe("present");

    const exchanges = far.seen.tokenRequests.length;
    expect(await anna.ask("finishLogin", { answer })).toMatchObject(refused);
    expect(far.seen.tokenRequests.length).toBe(exchanges);

    expect(await loginOf(await signIn(await tokenOf("ben")))).toBe("missing");
    expect(await anna.ask("logoutOwn", { server: "far" })).toEqual({ result: {} });
    expect(await loginOf(anna)).toBe("missing");
  });

  test("is not ended by another person, another browser of the same person, or without a session", async () => {
    const [anna, ben] = [await signIn(await tokenOf("anna")), await signIn(await tokenOf("ben"))];
    // Anna sends the link to Ben, who logs in with his account.
    const answer = await visit(await begin(anna));
    const exchanges = far.seen.tokenRequests.length;
    expect(await ben.ask("finishLogin", { answer })).toMatchObject(refused);
    const elsewhere = await signIn(await tokenOf("anna"));
    expect(await elsewhere.ask("finishLogin", { answer })).toMatchObject(refused);
    expect((await post("finishLogin", { answer })).status).toBe(401);
    expect(far.seen.tokenRequests.length).toBe(exchanges);
    expect([await loginOf(anna), await loginOf(ben)]).toEqual(["missing", "missing"]);
    // The browser that began it still can.
    expect(await anna.ask("finishLogin", { answer })).toEqual({ result: { server: "far" } });
    expect([await loginOf(anna), await loginOf(ben)]).toEqual(["present", "missing"]);
    await anna.ask("logoutOwn", { server: "far" });
  });

  test("does not take an answer with the state of another login, none, or a made-up one", async () => {
    const [anna, ben] = [await signIn(await tokenOf("anna")), await signIn(await tokenOf("ben"))];
    const ofAnna = new URLSearchParams(await visit(await begin(anna)));
    const ofBen = new URLSearchParams(await visit(await begin(ben)));
    const exchanges = far.seen.tokenRequests.length;
    for (const state of [ofBen.get("state") ?? "", "", "x".repeat(43)]) {
      const swapped = new URLSearchParams(ofAnna);
      swapped.set("state", state);
      expect(await anna.ask("finishLogin", { answer: swapped.toString() })).toMatchObject(refused);
    }
    const without = new URLSearchParams(ofAnna);
    without.delete("state");
    expect(await anna.ask("finishLogin", { answer: without.toString() })).toMatchObject(refused);
    expect(far.seen.tokenRequests.length).toBe(exchanges);
    // Ben's code under Anna's state: the issuer gave it for another PKCE secret.
    ofAnna.set("code", ofBen.get("code") ?? "");
    const injected = await anna.ask("finishLogin", { answer: ofAnna.toString() });
    expect(injected).toMatchObject({ error: { code: "DENIED" } });
    expect([await loginOf(anna), await loginOf(ben)]).toEqual(["missing", "missing"]);
  });

  test("ends within five minutes", async () => {
    let now = 0;
    const pending = new PendingLogins(undefined, () => now);
    const issuer = { id: "i", url: "https://i", metadata: undefined, resource: undefined };
    const kept = {
      target: far.url,
      client: { client_id: "c" },
      verifier: "v",
      issuer,
      redirectUrl: url,
    };
    const login = {
      server: "far",
      person: "anna",
      session: "s",
      kept: { ...kept, scope: undefined },
    };
    await pending.add("in time", login);
    await pending.add("late", login);
    now = 299_999;
    expect(await pending.take("in time", "s")).toEqual(JSON.parse(JSON.stringify(login)));
    now = 300_000;
    await expect(pending.take("late", "s")).rejects.toThrow("no login with this state");
  });

  test("is only for servers that want one of each person", async () => {
    const anna = await signIn(await tokenOf("anna"));
    for (const server of ["plain", "desk", "none"]) {
      const answered = await anna.ask("loginOwn", { server });
      expect(answered).toMatchObject({ error: { code: "DENIED" } });
    }
    expect(await anna.status("login", { server: "plain" })).toBe(403);
  });
});

describe("secrets in the page", () => {
  test("are the person's own, used for their calls, and never shown", async () => {
    const [anna, ben] = [await signIn(await tokenOf("anna")), await signIn(await tokenOf("ben"))];
    const set = { name: "DESK_KEY", value: "key-of-anna-1234" };
    expect(await anna.ask("setOwnSecret", set)).toEqual({ result: {} });
    const secretsOf = async (browser: Browser): Promise<unknown> =>
      ((await browser.ask("own")).result as { servers: JsonObject[] }).servers.find(
        ({ name }) => name === "desk",
      )?.secrets;
    expect(await secretsOf(anna)).toEqual([{ name: "DESK_KEY", isSet: true }]);
    expect(await secretsOf(ben)).toEqual([{ name: "DESK_KEY", isSet: false }]);
    expect(await call("ben", "desk.key")).toContain("DESK_KEY");
    expect(await call("anna", "desk.key")).toContain("starts with key-of-anna");
    await ben.ask("setOwnSecret", { name: "DESK_KEY", value: "key-of-ben-5678" });
    expect(await call("ben", "desk.key")).toContain("starts with key-of-ben");
    expect(JSON.stringify(home.files())).not.toContain("key-of-anna-1234");
  });

  test("are no other names than servers want, and never the hall's", async () => {
    const anna = await signIn(await tokenOf("anna"));
    const other = { name: "PATH", value: "anything" };
    expect(await anna.ask("setOwnSecret", other)).toMatchObject({ error: { code: "DENIED" } });
    expect(await anna.status("setSecret", other)).toBe(403);
  });
});

describe("a session of an access token", () => {
  test("has the token's rights, and shows a person without `read` only their own", async () => {
    const anna = await signIn(await tokenOf("anna"));
    const { result } = await anna.ask("start", { reads: { status: {}, servers: {} } });
    expect(result).toMatchObject({ session: { isPerson: true, project: "" }, answers: {} });
    expect(await anna.status("status")).toBe(403);
    const reader = await signIn(await tokenOf("rita", "call read"));
    expect(await reader.status("status")).toBe(200);
    expect((await post("sign-in", { token: `${await tokenOf("anna")}x` })).status).toBe(401);
  });

  test("the way back from an issuer is the page itself, without a session", async () => {
    const response = await fetch(`${url}/oauth/callback?code=x&state=y`, {
      headers: { accept: "text/html" },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(await response.text()).not.toContain("code=x");
  });
});
