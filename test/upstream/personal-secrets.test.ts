// Secrets of single people: each value is used for the calls of its person only.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Scope } from "../../src/base/scope.ts";
import { collectServers } from "../../src/config/configured-servers.ts";
import type { Caller, Outcome } from "../../src/tool.ts";
import { type ConfigFolder, makeConfigFolder } from "../config/folder.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { type Scripted, said, startScripted } from "../servers/scripted.ts";
import { until } from "../servers/until.ts";

const program = `
  import { createInterface } from "node:readline";
  const tool = { name: "key", inputSchema: { type: "object" } };
  const results = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "keys", version: "1" },
    }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": () => ({ content: [{ type: "text", text: process.env.KEY }] }),
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = results[method]?.(params);
    const error = { code: -32601, message: "unknown method" };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
  });
`;

let folder: ConfigFolder;
let far: Scripted;
let hall: TestHall;
beforeAll(async () => {
  far = await startScripted({
    tools: { echo: ({ args, answer }) => answer(said(String(args.n))) },
  });
  folder = makeConfigFolder({
    "server.mjs": program,
    "guildhall.json": {
      mcpServers: {
        far: {
          url: far.config.url,
          headers: { "x-key": `key \${FAR_KEY}`, "x-team": `\${TEAM}` },
          perPerson: ["FAR_KEY"],
        },
        near: {
          command: process.execPath,
          args: ["server.mjs"],
          env: { KEY: `\${NEAR_KEY}` },
          perPerson: ["NEAR_KEY"],
        },
      },
    },
  });
  for (const name of ["FAR_KEY", "NEAR_KEY"]) await setSecret(name, `${name} of the hall`);
  const loaded = await folder.load({ env: { TEAM: "blue" } });
  const servers = collectServers(loaded);
  const near = { ...servers.near, cwd: folder.path } as (typeof servers)[string];
  hall = await startHall({
    toolkits: [],
    servers: { ...servers, near },
    secretStore: folder.store,
  });
  for (const tool of ["far.echo", "near.key"])
    await until(() => hall.hall.registry.findTool(tool) !== undefined, `${tool} listed`);
});
afterAll(async () => {
  await hall[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function setSecret(name: string, value: string, person?: string): Promise<void> {
  // The user's, for all projects: the tests run in another folder than the config's.
  await folder.store.set({ name, person }, value);
}

let count = 0;
function call(name: string, user: string | undefined, n = 0): Promise<Outcome> {
  const person = user === undefined ? undefined : { user, groups: [], token: "editor" };
  const caller: Caller = {
    connection: `c${++count}`,
    principal: user ?? "local",
    person,
    client: "test",
  };
  const nothing = (): void => {};
  return hall.hall.gateway.call(
    { id: `call-${count}`, name, arguments: { n }, caller, target: undefined },
    { scope: new Scope(), caller, progress: nothing, log: nothing, ask: async () => ({}) },
  );
}

test("300 concurrent calls of two people and the hall's user carry the secret of their caller", async () => {
  const people = ["anna@https://id.example", "ben@https://id.example", undefined];
  for (const person of people)
    if (person !== undefined) await setSecret("FAR_KEY", `key of ${person}`, person);

  await Promise.all(
    Array.from({ length: 300 }, (_, n) => call("far.echo", people[n % people.length], n)),
  );

  const calls = far.seen.filter(({ message }) => message?.method === "tools/call");
  expect(calls).toHaveLength(300);
  const wrong = calls.filter(({ headers, message }) => {
    const params = message?.params as { readonly arguments: { readonly n: number } } | undefined;
    const person = people[(params?.arguments.n ?? 0) % people.length];
    return headers["x-key"] !== `key ${person ? `key of ${person}` : "FAR_KEY of the hall"}`;
  });
  expect(wrong).toEqual([]);
  expect(new Set(calls.map(({ headers }) => headers["x-team"]))).toEqual(new Set(["blue"]));
});

test("a program gets the secret of its person in a process of its own", async () => {
  const people = ["anna", "ben"];
  for (const person of people) await setSecret("NEAR_KEY", `key of ${person}`, person);
  const callers = [...people, undefined, ...people];
  const answers = await Promise.all(callers.map((person) => call("near.key", person)));
  expect(answers.map(({ content }) => content[0])).toEqual(
    ["key of anna", "key of ben", "NEAR_KEY of the hall", "key of anna", "key of ben"].map(
      (text) => ({ type: "text", text }),
    ),
  );
});

test("without a secret of their own a person gets the advice to set it, and the hall's is not used", async () => {
  const before = far.count("echo");
  await setSecret("FAR_KEY", "key of anna", "anna");
  await expect(call("far.echo", "ben")).rejects.toMatchObject({
    code: "DENIED",
    message: expect.stringContaining('the secret FAR_KEY of "ben" is not set'),
    next: [{ do: "run-command", command: 'secret set FAR_KEY --person "ben"' }],
  });
  expect(far.count("echo")).toBe(before);

  await setSecret("FAR_KEY", "key of ben", "ben");
  await hall.hall.fleet.get("far").restart();
  await call("far.echo", "ben");
  expect(far.seen.at(-1)?.headers["x-key"]).toBe("key key of ben");
});

test("people's secrets are encrypted, and the config does not use them", async () => {
  await setSecret("FAR_KEY", "key of anna", "anna");
  const files = readdirSync(join(folder.path, "secrets"));
  for (const file of files)
    expect(readFileSync(join(folder.path, "secrets", file), "latin1")).not.toContain("key of anna");
  const { config } = await folder.load({ env: { TEAM: "blue" } });
  expect(config.mcpServers.far).toMatchObject({ headers: { "x-key": "key FAR_KEY of the hall" } });
});
