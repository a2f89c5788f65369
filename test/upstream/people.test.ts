// A server to which each person logs in: nobody's login is used for anybody else.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Hall } from "../../src/hall/hall.ts";
import { listenHttp } from "../../src/server/http/listener.ts";
import type { CallContext, Caller, ClientLink, Outcome } from "../../src/tool.ts";
import type { RemoteServerConfig } from "../../src/upstream/issuer.ts";
import { login } from "../../src/upstream/login.ts";
import { createTokenStore } from "../../src/upstream/token-store.ts";
import { modern } from "../servers/client.ts";
import { modernHeaders } from "../servers/door-clients.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { type OAuthServer, startOAuthServer } from "../servers/oauth-server.ts";
import { until } from "../servers/until.ts";

let folder: string;
let server: OAuthServer;
let hall: TestHall;
let config: RemoteServerConfig;
/** The header of the login of the hall's own user. */
let ofHall: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-people-"));
  server = await startOAuthServer();
  config = {
    type: "http",
    url: server.url,
    headers: {},
    start: "lazy",
    idleTimeoutSeconds: 0,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: false,
    oauth: { grant: "authorization_code", callbackPort: 0, perPerson: true },
  };
  ofHall = await logIn();
  hall = await startHall({ toolkits: [], servers: { far: config }, tokenFolder: folder });
  await until(() => hall.hall.registry.findTool("far.echo") !== undefined, "far.echo listed");
});
afterEach(async () => {
  await hall[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Of a person, or of the hall's own user; returns the header that the login leads to. */
async function logIn(person?: string): Promise<string> {
  const store = createTokenStore(config.url, { folder, person });
  await login({ config, store, show: (page) => void fetch(page).then((page) => page.text()) });
  const { issuer = "", accounts } = await store.read();
  return `Bearer ${accounts[issuer]?.tokens?.access_token}`;
}

let count = 0;
function call(
  { gateway }: Hall,
  user: string | undefined,
  n: number,
  more: Partial<CallContext> & { readonly link?: ClientLink } = {},
): Promise<Outcome> {
  const principal = user ?? "local";
  const person = user === undefined ? undefined : { user, groups: [], token: "editor" };
  const { link, ...context } = more;
  const caller: Caller = { connection: `c${++count}`, principal, person, client: "test", link };
  const nothing = (): void => {};
  return gateway.call(
    { id: `call-${count}`, name: "far.echo", arguments: { n }, caller, target: undefined },
    {
      scope: new Scope(),
      caller,
      progress: nothing,
      log: nothing,
      ask: async () => ({}),
      ...context,
    },
  );
}

test("1,000 concurrent calls of ten people carry the login of their caller", async () => {
  const people = Array.from({ length: 10 }, (_, index) => `person-${index}@https://id.example`);
  const bearers = new Map<string | undefined, string>([[undefined, ofHall]]);
  for (const person of people) bearers.set(person, await logIn(person));
  expect(new Set(bearers.values()).size).toBe(11);

  const callers = [...bearers.keys()];
  const ofCall = (n: number): string | undefined => callers[n % callers.length];
  const all = Array.from({ length: 1_000 }, (_, n) => call(hall.hall, ofCall(n), n));
  expect(await Promise.all(all)).toHaveLength(1_000);

  expect(server.seen.calls).toHaveLength(1_000);
  const wrong = server.seen.calls.filter(
    ({ bearer, given }) => bearer !== bearers.get(ofCall((given as { readonly n: number }).n)),
  );
  expect(wrong).toEqual([]);
});

test("without a login of their own a person gets the advice to log in, and no other login is used", async () => {
  await logIn("anna@https://id.example");
  await expect(call(hall.hall, "ben@https://id.example", 1)).rejects.toMatchObject({
    code: "DENIED",
    next: [{ do: "run-command", command: 'login far --person "ben@https://id.example"' }],
  });
  expect(server.seen.calls).toEqual([]);
});

describe("a client that opens URLs", () => {
  const capabilities = { elicitation: { url: {} } };
  /** Answers with this action, after something happened. */
  function asking(action: string, meanwhile: () => Promise<unknown> = async () => {}) {
    const asked: JsonObject[] = [];
    const ask: CallContext["ask"] = async (questions) => {
      const [[key, { params }] = ["", { params: {} }]] = Object.entries(questions);
      asked.push(params ?? {});
      await meanwhile();
      return { [key]: { action } };
    };
    return { asked, ask };
  }
  beforeEach(() => {
    hall.hall.server.url = "https://hall.example";
  });

  test("is sent to the hall's page, and the call continues after the login", async () => {
    const told: [string, JsonObject][] = [];
    const link = { notify: (...note: [string, JsonObject]) => told.push(note), onClosed() {} };
    let own = "";
    const { ask, asked } = asking("accept", async () => {
      // Logged in a moment after the question was answered.
      setTimeout(async () => {
        own = await logIn("anna");
      }, 50);
    });
    const more = { capabilities, ask, link: link as unknown as ClientLink };
    expect(await call(hall.hall, "anna", 1, more)).toHaveProperty("content");
    expect(asked).toMatchObject([{ mode: "url", url: "https://hall.example/#/own" }]);
    const elicitationId = asked[0]?.elicitationId;
    expect(told).toEqual([["notifications/elicitation/complete", { elicitationId }]]);
    expect(server.seen.calls).toEqual([{ bearer: own, given: { n: 1 } }]);
  });

  test("a login that another person made with the same link does not let the call through", async () => {
    const scope = new Scope();
    const { ask } = asking("accept", () => logIn("ben"));
    const progress = vi.fn(() => {
      // It waits: nothing is left to hope for in this test.
      scope.cancel(new HallError("CANCELLED", "enough"));
    });
    const waits = call(hall.hall, "anna", 1, { capabilities, ask, scope, progress });
    await expect(waits).rejects.toMatchObject({ code: "CANCELLED" });
    expect(progress).toHaveBeenCalled();
    expect(server.seen.calls).toEqual([]);
  });

  test("a person who declines, a client without URLs, and a hall without a page get the advice", async () => {
    const advice = { code: "DENIED", next: [{ command: 'login far --person "anna"' }] };
    const declined = asking("decline");
    const answer = call(hall.hall, "anna", 1, { capabilities, ask: declined.ask });
    await expect(answer).rejects.toMatchObject(advice);
    expect(declined.asked).toHaveLength(1);
    const { ask, asked } = asking("accept");
    const forms = { elicitation: { form: {} } };
    const withoutUrls = call(hall.hall, "anna", 1, { capabilities: forms, ask });
    await expect(withoutUrls).rejects.toMatchObject(advice);
    hall.hall.server.url = undefined;
    await expect(call(hall.hall, "anna", 1, { capabilities, ask })).rejects.toMatchObject(advice);
    expect(asked).toEqual([]);
  });
});

test("when tokens expire, each person's is renewed with their own refresh token", async () => {
  const people = ["anna", "ben"];
  for (const person of people) await logIn(person);
  server.expire();
  await Promise.all(people.map((person, n) => call(hall.hall, person, n)));
  for (const { bearer, given } of server.seen.calls) {
    const person = people[(given as { readonly n: number }).n];
    const { issuer = "", accounts } = await createTokenStore(config.url, { folder, person }).read();
    expect(bearer).toBe(`Bearer ${accounts[issuer]?.tokens?.access_token}`);
  }
});

test("the token that a client sends to the hall never reaches the server", async () => {
  const token = "the-token-of-a-client";
  const identity = { principal: "anna", person: { user: "anna", groups: [] } };
  const listener = await listenHttp({
    server: hall.hall.server,
    log: createLog({ level: "silent" }),
    version: "0",
    host: "127.0.0.1",
    port: 0,
    token: "unused-0123456789",
    findOwner: (given) =>
      given === token ? { ...identity, rights: { scopes: ["call"] } } : undefined,
  });
  const own = await logIn("anna");
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: modern({ name: "far.echo", arguments: { n: 1 } }),
  };
  const response = await fetch(`${listener.url}/mcp`, {
    method: "POST",
    headers: {
      ...modernHeaders(body),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify(body),
  });
  expect(await response.text()).toContain("content");
  expect(server.seen.calls).toEqual([{ bearer: own, given: { n: 1 } }]);
  expect(server.seen.bearers).not.toContain(`Bearer ${token}`);
  await listener.close();
});

test("logins are encrypted, a file for each person", async () => {
  const bearer = await logIn("anna");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sealed"));
  expect(files).toHaveLength(2);
  for (const file of files)
    expect(readFileSync(join(folder, file), "latin1")).not.toContain(bearer.slice(7));
});
