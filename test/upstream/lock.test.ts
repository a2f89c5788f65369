import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Handshake } from "../../src/client/handshake.ts";
import { pinOf } from "../../src/trust/pin.ts";
import type { Offer } from "../../src/upstream/lists.ts";
import {
  emptyLock,
  type Lock,
  lockPath,
  lockServer,
  readLock,
  writeLock,
} from "../../src/upstream/lock.ts";
import { modern } from "../servers/client.ts";
import { said } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import { callTool, faulty, locked, readStarts, startUpstreams } from "../servers/upstreams.ts";

/** The known offers of servers that are not started. */
const root = mkdtempSync(join(tmpdir(), "guildhall-lock-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
function newFolder(): string {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
}

const handshake: Handshake = {
  era: "legacy",
  version: "2025-11-25",
  capabilities: { tools: {} },
  info: { name: "box", version: "1" },
  instructions: undefined,
};
const tool = {
  name: "add",
  title: "Add",
  description: "adds",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
};
const offer: Offer = {
  tools: [{ ...tool, name: "zed" }, tool],
  resources: [
    { uri: "b://", name: "b" },
    { uri: "a://", name: "a" },
  ],
  templates: [{ uriTemplate: "t://{x}" }],
  prompts: [{ name: "p" }],
};

describe("the file", () => {
  test("is the same to the byte for the same servers, in any order of servers and fields", async () => {
    const [one, other] = [newFolder(), newFolder()];
    const server = lockServer("hash", handshake, offer);
    const reversed: Offer = {
      tools: [...offer.tools]
        .reverse()
        .map((each) => Object.fromEntries(Object.entries(each).reverse()) as typeof each),
      resources: [...offer.resources].reverse(),
      templates: offer.templates,
      prompts: offer.prompts,
    };
    await writeLock(one, { lockVersion: 1, servers: { b: server, a: server } });
    await writeLock(other, {
      servers: { a: lockServer("hash", handshake, reversed), b: server },
      lockVersion: 1,
    });
    const text = readFileSync(lockPath(one), "utf8");
    expect(readFileSync(lockPath(other), "utf8")).toBe(text);
    expect(text.endsWith("}\n")).toBe(true);
    expect(text.indexOf('"a": {')).toBeLessThan(text.indexOf('"b": {'));
    expect(text.indexOf('"name":"add"')).toBeLessThan(text.indexOf('"name":"zed"'));
    expect(readdirSync(join(one, ".guildhall"))).toEqual(["tools.lock.json"]);
  });

  test("holds definitions, a pin of each tool, and how the server speaks; and is read as it was written", async () => {
    const folder = newFolder();
    const lock: Lock = {
      lockVersion: 1,
      servers: { box: lockServer("hash", { ...handshake, instructions: "Be kind." }, offer) },
    };
    expect(await writeLock(folder, lock)).toBe(join(folder, ".guildhall", "tools.lock.json"));
    const warnings: string[] = [];
    expect(await readLock(folder, (message) => warnings.push(message))).toEqual(lock);
    expect(warnings).toEqual([]);
    expect(lock.servers.box).toMatchObject({
      source: "hash",
      era: "legacy",
      protocol: "2025-11-25",
      instructions: "Be kind.",
      pins: { add: pinOf(tool) },
    });
  });

  test("keeps the parameters of a tool in their author's order", async () => {
    const folder = newFolder();
    const properties = { url: { type: "string" }, depth: { type: "number", maximum: 3 } };
    const inputSchema = { type: "object", properties };
    const offered = { ...offer, tools: [{ name: "crawl", inputSchema }] };
    const servers = { box: lockServer("hash", handshake, offered) };
    await writeLock(folder, { lockVersion: 1, servers });
    const { servers: read } = await readLock(folder, (message) => expect.unreachable(message));
    const [crawl] = read.box?.offer.tools ?? [];
    expect(Object.keys((crawl?.inputSchema.properties ?? {}) as JsonObject)).toEqual([
      "url",
      "depth",
    ]);
  });

  test("is replaced in one step: a reader sees the old one or the new one", async () => {
    const folder = newFolder();
    const lockOf = (size: number): Lock => ({
      lockVersion: 1,
      servers: { box: lockServer("x".repeat(size), handshake, offer) },
    });
    await writeLock(folder, lockOf(1));
    const sizes = new Set<number>();
    let isDone = false;
    const reading = (async () => {
      while (!isDone) {
        const { servers } = await readLock(folder, (message) => expect.unreachable(message));
        sizes.add(servers.box?.source.length ?? 0);
      }
    })();
    for (let n = 0; n < 30; n++) await writeLock(folder, lockOf(n % 2 === 0 ? 1_000_000 : 1));
    isDone = true;
    await reading;
    expect([...sizes].filter((size) => size !== 1 && size !== 1_000_000)).toEqual([]);
  });

  test("that is not there is empty, and nothing to talk about", async () => {
    expect(await readLock(newFolder(), (message) => expect.unreachable(message))).toEqual(
      emptyLock,
    );
  });

  test.each([
    ["half a file", '{"lockVersion": 1, "servers": {', "cannot use"],
    ["a merge conflict", "<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n", "cannot use"],
    ["another version", '{"lockVersion": 2, "servers": {}}', "has another format version"],
    ["something else", "[]", "has another format version"],
  ])(
    "with %s is reported with the next move, and counts as none",
    async (_what, text, complaint) => {
      const folder = newFolder();
      mkdirSync(join(folder, ".guildhall"));
      writeFileSync(lockPath(folder), text);
      const warnings: string[] = [];
      expect(await readLock(folder, (message) => warnings.push(message))).toEqual(emptyLock);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(complaint);
      expect(warnings[0]).toContain("guildhall build");
    },
  );
});

describe("a pin", () => {
  test.each<[string, JsonObject]>([
    ["name", { name: "adD" }],
    ["title", { title: "Add." }],
    ["description", { description: "adds " }],
    ["inputSchema", { inputSchema: { ...tool.inputSchema, required: ["a"] } }],
    ["outputSchema", { outputSchema: { type: "object" } }],
    ["annotations", { annotations: { readOnlyHint: true } }],
    ["_meta", { _meta: { x: 1 } }],
    ["icons", { icons: [1] }],
  ])("changes with the %s", (_field, change) => {
    expect(pinOf({ ...tool, ...change })).not.toBe(pinOf(tool));
  });

  test("does not change with the order of fields", () => {
    const reordered = {
      inputSchema: { properties: { b: { type: "number" }, a: { type: "number" } }, type: "object" },
      description: "adds",
      title: "Add",
      name: "add",
    };
    expect(pinOf(reordered)).toBe(pinOf(tool));
  });
});

describe.concurrent("a hall", () => {
  test("with a lock answers every list in both eras with no process alive, and starts one for the first call, once", async () => {
    const starts = join(newFolder(), "starts");
    const config = faulty(`whoami resources prompts starts=${starts}`);
    const known = locked(config, ["echo", "whoami"], {
      offer: {
        tools: [{ name: "echo", description: "from the lock", inputSchema: { type: "object" } }],
        resources: [{ uri: "note://1", name: "one" }],
        templates: [{ uriTemplate: "note://by-name/{name}" }],
        prompts: [{ name: "greet" }],
      },
    });
    await using hall = await startUpstreams(
      { box: config },
      { lock: { lockVersion: 1, servers: { box: known } } },
    );
    const { client } = hall;
    expect(await client.result("tools/list")).toMatchObject({
      tools: [{ name: "box__echo", description: "from the lock" }],
    });
    expect(await client.result("resources/list")).toMatchObject({
      resources: [{ uri: "note://1" }],
    });
    expect(await client.result("resources/templates/list")).toMatchObject({
      resourceTemplates: [{ uriTemplate: "note://by-name/{name}" }],
    });
    expect(await client.result("prompts/list")).toMatchObject({
      prompts: [{ name: "box__greet" }],
    });
    expect(await client.result("server/discover", modern())).toMatchObject({
      supportedVersions: ["2026-07-28"],
    });
    expect(await client.result("tools/list", modern())).toMatchObject({
      tools: [{ name: "box__echo" }],
    });
    expect(readStarts(starts)).toEqual([]);
    expect(hall.upstream("box").state()).toEqual({ kind: "stopped" });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => callTool(client, "box.echo", { n })),
    );
    expect(answers.map(said)).toEqual(answers.map((_, n) => JSON.stringify({ n })));
    expect(readStarts(starts)).toHaveLength(1);
  });

  test("discovers servers that are not in the lock in the background, all at once, and announces the longer list", async () => {
    const known = faulty("number=1");
    const servers = {
      known,
      slow: faulty("slow-start=1500"),
      slower: faulty("slow-start=1600"),
      other: faulty("slow-start=1400"),
    };
    await using hall = await startUpstreams(servers, {
      lock: { lockVersion: 1, servers: { known: locked(known, ["echo"]) } },
    });
    expect(["slow", "slower", "other"].map((name) => hall.upstream(name).state().kind)).toEqual([
      "starting",
      "starting",
      "starting",
    ]);
    expect((await hall.client.result("tools/list")).tools).toMatchObject([{ name: "known__echo" }]);
    await hall.client.heard("notifications/tools/list_changed");
    await Promise.all(
      ["slow.echo", "slower.echo", "other.echo"].map((name) => hall.untilListed(name)),
    );
    expect(hall.upstream("known").state()).toEqual({ kind: "stopped" });
  });

  test("looks again by itself at a server that could not be looked up", async () => {
    const starts = join(newFolder(), "starts");
    await using hall = await startUpstreams({ box: faulty(`fail-starts=2 starts=${starts}`) });
    await hall.untilListed("box.echo");
    expect(readStarts(starts)).toHaveLength(3);
    await hall.client.heard("notifications/tools/list_changed");
  });

  test("does not believe an entry that was made for another command, or that is no entry", async () => {
    const config = faulty("told");
    const stale = { ...locked(config, ["gone"]), source: "of another command" };
    const damaged = { source: locked(config, []).source, era: "legacy" } as unknown as typeof stale;
    const servers = { stale: config, damaged: config };
    await using hall = await startUpstreams(servers, {
      lock: { lockVersion: 1, servers: { stale, damaged } },
    });
    expect(hall.hall.registry.findTool("stale.gone")).toBeUndefined();
    await Promise.all(["stale.told", "damaged.told"].map((name) => hall.untilListed(name)));
  });

  test("reads an eager server's lists when it starts, not over and over", async () => {
    const config = faulty("heard", { start: "eager" });
    await using hall = await startUpstreams(
      { box: config },
      { lock: { lockVersion: 1, servers: { box: locked(config, ["old"]) } } },
    );
    await hall.untilListed("box.heard");
    await hall.untilListed("box.old", false);
    const lists = async (): Promise<number> =>
      JSON.parse(String(said(await callTool(hall.client, "box.heard")))).filter(
        ({ method }: JsonObject) => method === "tools/list",
      ).length;
    await until(async () => (await lists()) > 0, "the first listing");
    for (let n = 0; n < 20; n++) expect(await lists()).toBeLessThanOrEqual(2);
  });

  test("keeps offering what a server offered when it ends, crashes or idles", async () => {
    await using hall = await startUpstreams({ box: faulty("crash", { idleTimeoutSeconds: 1 }) });
    await hall.untilListed("box.crash");
    await hall.untilState("box", "stopped");
    expect((await hall.client.result("tools/list")).tools).toHaveLength(2);
    expect(said(await callTool(hall.client, "box.echo", { a: 1 }))).toBe('{"a":1}');
    await callTool(hall.client, "box.crash");
    expect((await hall.client.result("tools/list")).tools).toHaveLength(2);
  });
});
