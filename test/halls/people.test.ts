// People behind a balancer: each request may reach another hall than the one before.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type OAuthServer, startOAuthServer } from "../servers/oauth-server.ts";
import { startIssuer, type TokenIssuer } from "../servers/token-issuer.ts";
import { type Cluster, startCluster } from "../store/cluster.ts";
import {
  ask,
  askStopped,
  type HttpAnswer,
  post,
  startTeam,
  type Team,
  type TestHall,
} from "./team.ts";

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
  /** Default: through the balancer. */
  ask(method: string, params?: JsonObject, url?: string): Promise<HttpAnswer>;
}

async function signIn(token: string): Promise<Browser> {
  const { headers, body } = await page("sign-in", { token });
  const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
  const { csrf } = body.result as { readonly csrf: string };
  const session = { cookie, "x-guildhall-csrf": csrf };
  return { ask: (method, params = {}, url = team.url) => page(method, params, session, url) };
}

function page(
  method: string,
  params: JsonObject,
  headers = {},
  url = team.url,
): Promise<HttpAnswer> {
  // A browser has one address for all halls; the name of its cookie depends on it.
  const { host } = new URL(team.url);
  return post(url, params, { ...headers, host }, { path: `/api/page/${method}` });
}

/** The query with which the issuer of the server sends the browser back. */
async function visit(answer: HttpAnswer): Promise<string> {
  const { url } = answer.body.result as { readonly url: string };
  const response = await fetch(url, { redirect: "manual" });
  return new URL(response.headers.get("location") ?? "").search.slice(1);
}

async function call(sub: string, name: string): Promise<HttpAnswer> {
  return ask(team.url, "tools/call", { name, arguments: {} }, { token: await tokenOf(sub) });
}

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

test("a hall that was stopped knows who signed in and out meanwhile", async () => {
  const [other, stopped] = team.halls as [TestHall, TestHall];
  const token = await tokenOf("anna");
  let anna: Browser | undefined;
  // The balancer gives nothing to a hall that does not answer.
  stopped.isOpen = false;
  const signedIn = await askStopped(
    stopped,
    async () => {
      anna = await signIn(token);
    },
    async () => anna?.ask("own", {}, stopped.url),
  );
  expect(signedIn?.status).toBe(200);
  const signOut = async () => anna?.ask("sign-out", {}, other.url);
  const signedOut = await askStopped(stopped, signOut, async () =>
    anna?.ask("own", {}, stopped.url),
  );
  expect(signedOut?.status).toBe(401);
  stopped.isOpen = true;
});

test("a login begun in one hall ends in any hall, once, and only for the person who began it", async () => {
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
