// What the user takes back is obeyed by every hall of the user, not only by the one that is told.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { withResolvers } from "../../src/base/timing.ts";
import { openNamedTokens } from "../../src/server/http/tokens.ts";
import { reviewServer } from "../../src/trust/review.ts";
import { openDoor } from "../servers/door.ts";
import { connectWebSocket } from "../servers/door-clients.ts";
import { allowUnattended } from "../servers/home.ts";
import { buildTestCli } from "../servers/process.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import { type CliProcess, callTool, usePlaces } from "../servers/upstreams.ts";
import { openWorld } from "../trust/world.ts";

const server = fileURLToPath(new URL("../servers/defined.mjs", import.meta.url));
const places = usePlaces();
let cli: string;

beforeAll(async () => {
  cli = await buildTestCli();
});
afterAll(() => {
  places.remove();
});

const tools = ["look", "delete_it"].map((name) => ({ name, inputSchema: { type: "object" } }));

function newProject(name: string): string {
  const folder = join(dirname(places.runtime), name);
  mkdirSync(folder);
  const file = join(folder, "tools.json");
  writeFileSync(file, JSON.stringify(tools));
  const shelf = { command: process.execPath, args: [server, file, join(folder, "starts")] };
  writeFileSync(
    join(folder, "guildhall.json"),
    JSON.stringify({ expose: "tools", mcpServers: { shelf } }),
  );
  return folder;
}

async function run(folder: string, line: string): Promise<string> {
  await using command = places.spawn(cli, line.split(" "), folder);
  command.child.stdin.end();
  expect({ line, code: await command.exited, stderr: command.output.stderr }).toMatchObject({
    line,
    code: 0,
  });
  return command.output.stdout;
}

async function said(hall: CliProcess, tool: string, args: JsonObject = {}): Promise<string> {
  return JSON.stringify((await callTool(hall, tool, args)).result);
}

test("a hall that is not notified obeys `revoke` and `trust reset` at its next call", async () => {
  const folder = newProject("told-by-nobody");
  await run(folder, "build --yes");
  await run(folder, "trust shelf.delete_it");
  // It has no socket: no command can reach it.
  await using alone = places.spawn(cli, ["mcp", "--alone"], folder);
  await alone.greet();
  expect(await said(alone, "shelf.delete_it")).toContain("ran delete_it");

  await run(folder, "revoke shelf.delete_it");
  expect(await said(alone, "shelf.delete_it")).toContain("approval_needed");
  expect(await said(alone, "shelf.look")).toContain("ran look");

  await run(folder, "trust shelf.delete_it");
  expect(await said(alone, "shelf.delete_it")).toContain("ran delete_it");
  await run(folder, "trust reset --yes");
  expect(await said(alone, "shelf.look")).toContain("has not been reviewed");
});

test("a resource is not read after the review of its server was taken back", async () => {
  const resources = [{ uri: "note://1", name: "note" }];
  const shelf = createToolkit(
    "shelf",
    {},
    {
      source: "upstream",
      resources: {
        list: async () => resources,
        templates: async () => [],
        read: async (uri) => ({ contents: [{ uri, text: "words" }] }),
      },
    },
  );
  await using world = await openWorld({ toolkits: [shelf] });
  const { servers } = await world.ledger.read();
  const review = reviewServer({ source: "", reached: "", tools: [], resources });
  await world.ledger.change((entries) => ({ ...entries, servers: { ...servers, shelf: review } }));
  const client = await world.connect();
  const read = { uri: "note://1" };
  expect(await client.request("resources/read", read)).toMatchObject({ result: {} });
  await world.ledger.change((entries) => ({ ...entries, servers }));
  expect(await client.request("resources/read", read)).toMatchObject({
    error: { message: expect.stringContaining("has not been reviewed") },
  });
});

test("trust for the running hall ends with a revocation in another process", async () => {
  const folder = newProject("while-it-runs");
  await run(folder, "build --yes");
  await using hall = places.spawn(cli, ["mcp"], folder);
  await hall.greet();
  hall.ask("tools/call", { name: "shelf.delete_it", arguments: {} });
  await run(folder, `approve ${await untilPending(folder)} --hall`);
  expect(await said(hall, "shelf.delete_it", { path: "b" })).toContain("ran delete_it");
  await run(folder, "revoke shelf");
  hall.ask("tools/call", { name: "shelf.delete_it", arguments: { path: "c" } });
  await untilPending(folder);
});

/** The token of the call that waits. */
function untilPending(folder: string): Promise<string> {
  return until(async () => {
    const [pending] = JSON.parse(await run(folder, "approvals --json")) as { token: string }[];
    return pending?.token;
  }, "a call waits for approval");
}

test.each(["--hall", "--always", ""])(
  "an approval that no call has used ends with a revocation: approve %s",
  async (answer) => {
    const folder = newProject(`unused${answer}`);
    await run(folder, "build --yes");
    await using hall = places.spawn(cli, ["mcp"], folder);
    await hall.greet();
    const call = { name: "shelf.delete_it", arguments: { path: "the same" } };
    const requestId = hall.ask("tools/call", call);
    const token = await untilPending(folder);
    hall.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    expect(await said(hall, "shelf.look")).toContain("ran look");
    await run(folder, `approve ${token} ${answer}`.trim());
    await run(folder, "revoke shelf");
    hall.ask("tools/call", call);
    expect(await untilPending(folder)).not.toBe(token);
  },
);

test("an edit of `trust` in the user's config counts in running halls once they have reloaded it", async () => {
  const config = join(dirname(places.runtime), "config");
  const folder = newProject("edited-config");
  allowUnattended(config, { trust: { tools: { "shelf.delete_it": "safe" } } });
  await run(folder, "build --yes");
  await using alone = places.spawn(cli, ["mcp", "--alone", "--log-level", "info"], folder);
  await alone.greet();
  expect(await said(alone, "shelf.delete_it")).toContain("ran delete_it");

  const reloads = (count: number) =>
    until(() => alone.output.stderr.split("config reloaded").length > count, "the reload");
  allowUnattended(config);
  await reloads(1);
  expect(await said(alone, "shelf.delete_it")).toContain("approval_needed");
  expect(await said(alone, "shelf.look")).toContain("ran look");
  allowUnattended(config, { trust: { policy: "all" } });
  await reloads(2);
  expect(await said(alone, "shelf.look")).toContain("approval_needed");
});

test("a WebSocket that was opened with a revoked token runs no further call", async () => {
  const tokens = openNamedTokens(join(dirname(places.runtime), "tokens"));
  const token = await tokens.create("ci");
  let ran = 0;
  const counter = createToolkit("counter", {
    count: {
      run: () => {
        ran++;
        return text("counted");
      },
    },
  });
  await using door = await openDoor({ toolkits: [counter], findOwner: tokens.find });
  const client = await connectWebSocket(door, { headers: { authorization: `Bearer ${token}` } });
  await client.greet();
  await callTool(client, "counter.count");
  expect(ran).toBe(1);
  await tokens.revoke("ci");
  client.ask("tools/call", { name: "counter.count", arguments: {} });
  expect(await client.closed).toBe(1008);
  expect(ran).toBe(1);
});

describe("a call that waits for its turn", () => {
  /** Two calls of a trusted tool that runs one at a time: the first one runs until it is released. */
  async function queueTwo() {
    const world = await openWorld({
      trusted: ["files.delete_file"],
      hall: { capacities: { toolkits: { files: { concurrent: 1, queue: 5 } } } },
    });
    const { files } = world;
    const run = files.call.bind(files);
    const released = withResolvers<void>();
    files.call = async (...given) => {
      await released.promise;
      return run(...given);
    };
    const client = await world.connect();
    const ids = ["a", "b"].map((path) =>
      client.ask("tools/call", { name: "files.delete_file", arguments: { path } }),
    );
    await until(() => world.decisions.length === 2);
    const answers = async () => {
      released.resolve();
      return Promise.all(ids.map(async (id) => (await client.answer(id)).result));
    };
    return { world, client, answers };
  }

  test("does not run if the trust is taken back meanwhile", async () => {
    const { world, answers } = await queueTwo();
    await using _world = world;
    await world.ledger.change((entries) => ({ ...entries, grants: {} }));
    expect(await answers()).toMatchObject([
      { content: [{ text: "done" }] },
      {
        isError: true,
        structuredContent: {
          error_type: "denied",
          message: expect.stringContaining("was no longer allowed when its turn came"),
        },
      },
    ]);
    expect(world.ran).toEqual(["files.delete_file"]);
  });

  test("runs although its conversation has read outside content meanwhile", async () => {
    const { world, client, answers } = await queueTwo();
    await using _world = world;
    expect(
      await client.result("tools/call", { name: "web.fetch_page", arguments: { url: "x" } }),
    ).toMatchObject({ content: [{ text: "nothing" }] });
    const done = { content: [{ text: "done" }] };
    expect(await answers()).toMatchObject([done, done]);
    expect(world.ran).toEqual(["files.delete_file", "files.delete_file"]);
  });
});
