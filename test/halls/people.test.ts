// People behind a balancer: each request may reach another hall than the one before.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type OAuthServer, startOAuthServer } from "../servers/oauth-server.ts";
import { builtCli, watchProcess } from "../servers/serve-process.ts";
import { startIssuer, type TokenIssuer } from "../servers/token-issuer.ts";
import { until } from "../servers/until.ts";
import { type Cluster, startCluster } from "../store/cluster.ts";
import { ask, type HttpAnswer, post, startTeam, type Team } from "./team.ts";

let cluster: Cluster;
let far: OAuthServer;
let issuer: TokenIssuer;
let team: Team;
const keyServer = fileURLToPath(new URL("../servers/key-server.mjs", import.meta.url));

beforeAll(async () => {
  [cluster, far, issuer] = await Promise.all([startCluster(), startOAuthServer(), startIssuer()]);
  await issuer.addKey("k1");
  team = await startTeam(cluster, {
    count: 2,
    env: { DESK_KEY: "key-of-the-hall" },
    user: (url) => ({
      auth: { url, issuers: { team: { url: issuer.url } } },
      mcpServers: {
        far: { url: far.url, oauth: { perPerson: true } },
        desk: {
          command: process.execPath,
          args: [keyServer],
          env: { DESK_KEY: `\${DESK_KEY}` },
          perPerson: ["DESK_KEY"],
        },
      },
    }),
  });
});
afterAll(async () => {
  await team?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
  await far?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

const tokenOf = (sub: string): Promise<string> =>
  issuer.sign({
    iss: issuer.url,
    aud: team.url,
    sub,
    scope: "call",
    exp: Math.floor(Date.now() / 1_000) + 600,
  });

interface Browser {
  ask(method: string, params?: JsonObject): Promise<HttpAnswer>;
}

async function signIn(token: string): Promise<Browser> {
  const { headers, body } = await page("sign-in", { token });
  const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
  const { csrf } = body.result as { readonly csrf: string };
  const session = { cookie, "x-guildhall-csrf": csrf };
  return { ask: (method, params = {}) => page(method, params, session) };
}

function page(method: string, params: JsonObject, headers = {}): Promise<HttpAnswer> {
  return post(team.url, params, headers, { path: `/api/page/${method}` });
}

/** The query with which the issuer of the server sends the browser back. */
async function visit(answer: HttpAnswer): Promise<string> {
  const { url } = answer.body.result as { readonly url: string };
  const response = await fetch(url, { redirect: "manual" });
  return new URL(response.headers.get("location") ?? "").search.slice(1);
}

async function logIn(browser: Browser): Promise<void> {
  const answer = await visit(await browser.ask("loginOwn", { server: "far" }));
  expect((await browser.ask("finishLogin", { answer })).body).toEqual({
    result: { server: "far" },
  });
}

async function call(sub: string, name: string, more: JsonObject = {}): Promise<HttpAnswer> {
  const params = { name, arguments: name.startsWith("far") ? { n: sub } : {}, ...more };
  const token = await tokenOf(sub);
  return ask(team.url, "tools/call", params, { token, capabilities: { elicitation: { url: {} } } });
}

test("a command's login to a server counts in all halls", async () => {
  expect((await call("anna", "far.echo")).body.error).toBeDefined();
  const command = watchProcess([builtCli(), "login", "far", "--json"], {
    cwd: team.project,
    env: team.environment(0),
  });
  const { open } = JSON.parse(await command.firstLine);
  await (await fetch(open)).text();
  expect((await command.exited).code).toBe(0);
  for (const { url } of team.halls)
    await until(async () => {
      const listed = await ask(url, "tools/list");
      return JSON.stringify(listed.body).includes("far__echo");
    }, "far.echo is listed");
});

test("a browser is signed in to every hall, and signed out of every hall", async () => {
  const anna = await signIn(await tokenOf("anna"));
  for (let count = 0; count < 4; count++) expect((await anna.ask("own")).status).toBe(200);
  const [{ body } = { body: "" }] = (await cluster.query(
    `SELECT string_agg(key || body, ' ') AS body FROM ${team.schema}.board WHERE topic = 'sessions'`,
  )) as readonly { readonly body: string }[];
  expect(body.length).toBeGreaterThan(500);
  // A token has its claims in plain base64.
  expect(body).not.toContain((await tokenOf("anna")).split(".")[0]);
  expect((await anna.ask("sign-out")).status).toBe(200);
  for (let count = 0; count < 2; count++) expect((await anna.ask("own")).status).toBe(401);
});

test("a login begun in one hall ends in another, once, and is used in both", async () => {
  const [anna, ben] = [await signIn(await tokenOf("anna")), await signIn(await tokenOf("ben"))];
  const answer = await visit(await anna.ask("loginOwn", { server: "far" }));
  // In both halls: another person's browser ends nothing.
  for (let count = 0; count < 2; count++)
    expect((await ben.ask("finishLogin", { answer })).body).toMatchObject({
      error: { code: "DENIED" },
    });
  const ends = await Promise.all([1, 2].map(() => anna.ask("finishLogin", { answer })));
  const results = ends.map(({ body }) => (body.result ? "done" : (body.error as JsonObject).code));
  expect(results.sort()).toEqual(["DENIED", "done"]);

  const calls = far.seen.calls.length;
  for (let count = 0; count < 4; count++)
    expect((await call("anna", "far.echo")).body.result).toMatchObject({ resultType: "complete" });
  const bearers = new Set(far.seen.calls.slice(calls).map(({ bearer }) => bearer));
  expect(bearers.size).toBe(1);
});

test("halls renew a person's token once, because a refresh token may count only once", async () => {
  const renewals = (): number =>
    far.seen.tokenRequests.filter(({ body }) => body.get("grant_type") === "refresh_token").length;
  const before = renewals();
  far.expire();
  const all = await Promise.all([1, 2, 3, 4].map(() => call("anna", "far.echo")));
  for (const { body } of all) expect(body.result).toMatchObject({ resultType: "complete" });
  // Anna's, and the hall's own.
  const people = far.seen.calls.slice(-4).map(({ bearer }) => bearer);
  expect(new Set(people).size).toBe(1);
  expect(renewals() - before).toBeLessThanOrEqual(2);
});

test("a call that needs a login asks for it, and continues in its hall after a login in another", async () => {
  const asked = await call("carl", "far.echo");
  const { resultType, requestState, inputRequests } = asked.body.result as JsonObject;
  expect(resultType).toBe("input_required");
  const [[key, question] = []] = Object.entries(inputRequests as JsonObject);
  expect(question).toMatchObject({
    method: "elicitation/create",
    params: { mode: "url", url: `${team.url}/#/own` },
  });
  const inputResponses = { [String(key)]: { action: "accept" } };
  const waiting = call("carl", "far.echo", { requestState, inputResponses });
  // Carl passed the link on: Dora logs in as herself, and Carl's call goes on waiting.
  await logIn(await signIn(await tokenOf("dora")));
  const later = Symbol("waits");
  const first = await Promise.race([waiting, call("dora", "far.echo").then(() => later)]);
  expect(first).toBe(later);
  await logIn(await signIn(await tokenOf("carl")));
  expect((await waiting).body.result).toMatchObject({ resultType: "complete" });
  const [ofDora, ofCarl] = far.seen.calls.slice(-2);
  expect([ofDora?.given, ofCarl?.given]).toEqual([{ n: "dora" }, { n: "carl" }]);
  expect(ofDora?.bearer).not.toBe(ofCarl?.bearer);
});

test("a secret that a person sets in one hall is used in all", async () => {
  const anna = await signIn(await tokenOf("anna"));
  const set = { name: "DESK_KEY", value: "key-of-anna-1234" };
  expect((await anna.ask("setOwnSecret", set)).body).toEqual({ result: {} });
  for (let count = 0; count < 4; count++)
    expect(JSON.stringify((await call("anna", "desk.key")).body)).toContain("key-of-anna");
  const [{ body } = { body: "" }] = (await cluster.query(
    `SELECT string_agg(key || body, ' ') AS body FROM ${team.schema}.board`,
  )) as readonly { readonly body: string }[];
  expect(body).not.toContain("anna");
});

test("a code of one hall signs a browser in to all", async () => {
  const { stdout } = await team.run(0, "open", "--json");
  const code = /#\/sign-in\/([\w-]+)/.exec(stdout)?.[1] ?? "";
  const { headers, body } = await page("sign-in", { code });
  const session = {
    cookie: String(headers["set-cookie"]).split(";")[0] ?? "",
    "x-guildhall-csrf": String((body.result as JsonObject).csrf),
  };
  for (let count = 0; count < 4; count++)
    expect((await page("status", {}, session)).status).toBe(200);
  for (let count = 0; count < 2; count++)
    expect((await page("sign-in", { code })).status).toBe(401);
});
