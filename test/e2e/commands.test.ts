import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { version } from "../../src/base/version.ts";
import { buildTestCli } from "../servers/process.ts";
import { type CliProcess, callTool, eventually, faulty, isAlive, readStarts, type StdioConfig, usePlaces } from "../servers/upstreams.ts";

/** The commands a person types, in a project with real servers. Text for people, JSON for programs, exit codes for scripts. */
const places = usePlaces();
let cli: string;
let removeCli: () => void;

beforeAll(async () => {
  ({ cli, remove: removeCli } = await buildTestCli());
});
afterAll(() => {
  removeCli();
  places.remove();
});

interface Ran {
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Project {
  readonly folder: string;
  run(...args: string[]): Promise<Ran>;
  /** The same with --json, read. Fails when the command does. */
  json<T = JsonObject>(...args: string[]): Promise<T>;
  /** A client on `guildhall mcp`, so that a hall is running. */
  open(): Promise<CliProcess>;
  lock(): string;
}

function newProject(servers: Readonly<Record<string, StdioConfig>>, more: JsonObject = {}): Project {
  const folder = places.newProject(servers, more);
  const project: Project = {
    folder,
    async run(...args) {
      await using command = places.spawn(cli, args, folder);
      command.child.stdin.end();
      const code = await command.exited;
      return { code, ...command.output };
    },
    async json<T>(...args: string[]) {
      const { code, stdout, stderr } = await project.run(...args, "--json");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout) as T;
    },
    async open() {
      const client = places.spawn(cli, ["mcp"], folder);
      await client.answer(client.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }), 15_000);
      client.notify("notifications/initialized");
      return client;
    },
    lock: () => join(folder, ".guildhall", "tools.lock.json"),
  };
  return project;
}

const startsOf = (project: string): string => join(places.runtime, `${project}.starts`);

describe.concurrent("guildhall build", () => {
  test("looks at every server once and writes what it found, the same bytes each time", async () => {
    const starts = startsOf("build");
    const project = newProject({ old: faulty(`resources prompts starts=${starts}`), young: faulty("modern told") });
    const built = await project.json<{ lock: string; servers: JsonObject[] }>("build");
    expect(built.lock).toBe(project.lock());
    expect(built.servers).toEqual([
      { name: "old", ok: true, era: "legacy", protocol: "2025-11-25", tools: ["echo"], resources: 2, prompts: 1 },
      { name: "young", ok: true, era: "modern", protocol: "2026-07-28", tools: ["echo", "told"], resources: 0, prompts: 0 },
    ]);
    const first = readFileSync(project.lock(), "utf8");
    expect(JSON.parse(first)).toMatchObject({
      lockVersion: 1,
      servers: { old: { era: "legacy", pins: { echo: expect.any(String) } }, young: { era: "modern" } },
    });
    const { code, stdout, stderr } = await project.run("build", "--yes");
    expect(code).toBe(0);
    expect(stdout).toMatch(/server +speaks +tools/);
    expect(stdout).toContain("2 of 2 servers answered; 3 tools are in");
    expect(stderr).toContain("✔ old: 1 tools");
    expect(readFileSync(project.lock(), "utf8")).toBe(first);
    expect(readStarts(starts)).toHaveLength(2);
    expect(readStarts(starts).some(isAlive)).toBe(false);
  });

  test("goes on without those that are down, keeps what was known of them, and says why", async () => {
    const starts = startsOf("once");
    const project = newProject({ good: faulty(), bad: faulty("crash-start"), missing: faulty("", { command: "no-such-program-anywhere" }) });
    writeFileSync(starts, "");
    const { code, stdout, stderr } = await project.run("build");
    expect(code).toBe(0);
    expect(stdout).toContain("1 of 3 servers answered");
    expect(stdout).toMatch(/bad +down .*exited with code 9/);
    expect(stderr).toContain("no-such-program-anywhere");
    const built = await project.json<{ servers: JsonObject[] }>("build");
    expect(built.servers).toContainEqual({
      name: "bad",
      ok: false,
      reason: expect.stringContaining("exited with code 9"),
      stderr: ["cannot start: no licence"],
    });
    // A server that was there last time and is down today.
    const lock = JSON.parse(readFileSync(project.lock(), "utf8"));
    lock.servers.bad = lock.servers.good;
    writeFileSync(project.lock(), JSON.stringify(lock));
    await project.json("build");
    expect(JSON.parse(readFileSync(project.lock(), "utf8")).servers.bad).toEqual(lock.servers.good);
  });

  test("ends with 69 when no server answers, and with 66 when there is none", async () => {
    const down = await newProject({ bad: faulty("crash-start") }).run("build");
    expect(down).toMatchObject({ code: 69, stderr: expect.stringContaining("guildhall doctor") });
    const none = await newProject({}).run("build");
    expect(none).toMatchObject({ code: 66, stdout: "", stderr: expect.stringContaining("mcpServers") });
  });
});

describe.concurrent("guildhall status, logs and restart", () => {
  test("without a hall say what is configured and known, and what to do", async () => {
    const project = newProject({ box: faulty() });
    await project.run("build");
    expect(await project.json("status")).toMatchObject({
      running: false,
      upstreams: [{ name: "box", state: { kind: "stopped" }, era: "legacy", protocol: "2025-11-25", tools: 1 }],
    });
    const text = await project.run("status");
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^no hall is running in this project\nserver +state/);
    for (const command of ["logs", "restart"]) {
      expect(await project.run(command, "box")).toMatchObject({ code: 69, stderr: expect.stringContaining("no hall is running") });
    }
  });

  test("with a hall show each server with its state, the reason when it is down, and its counts", async () => {
    const project = newProject({ good: faulty("error"), bad: faulty("crash-start") });
    await using client = await project.open();
    await eventually(async () => (await callTool(client, "good.echo")).error === undefined, "it is listed");
    await callTool(client, "good.error");
    const status = await project.json<{ upstreams: JsonObject[] }>("status");
    expect(status).toMatchObject({ running: true, version, pid: client.pid, clients: 1 });
    expect(status.upstreams).toMatchObject([
      { name: "good", state: { kind: "ready" }, calls: expect.any(Number), errors: 1, lastError: "no luck" },
      { name: "bad", state: { kind: "down", reason: "exited with code 9", failures: expect.any(Number) }, tools: 0 },
    ]);
    const { stdout } = await project.run("status");
    expect(stdout).toMatch(/^hall .* process \d+, 0 min, 1 clients\n/);
    expect(stdout).toMatch(/good +ready +legacy 2025-11-25 +2/);
    expect(stdout).toMatch(/bad +(down, again in \d+ s|starting) .*exited with code 9/);
  });

  test("logs shows the last words of a server, and restart gives it a new process", async () => {
    const project = newProject({ box: faulty("whoami stderr=hello-from-stderr") });
    await using client = await project.open();
    const pidOf = async (): Promise<number> =>
      JSON.parse(String(((await callTool(client, "box.whoami")).result as { content: [{ text: string }] }).content[0].text)).pid;
    await eventually(async () => (await callTool(client, "box.whoami")).error === undefined, "it is listed");
    const before = await pidOf();
    expect(await project.json("logs", "box")).toEqual({ server: "box", lines: ["hello-from-stderr"] });
    expect((await project.run("logs", "box")).stdout).toBe("hello-from-stderr\n");
    expect(await project.json("restart", "box")).toEqual({ server: "box", state: { kind: "stopped" } });
    expect(isAlive(before)).toBe(false);
    expect(await pidOf()).not.toBe(before);
    expect((await project.run("restart", "box")).stdout).toBe("box was stopped; it starts again at its next call\n");
  });

  test("a mistyped server is answered with the near one, and 66", async () => {
    const project = newProject({ github: faulty() });
    await using client = await project.open();
    void client;
    for (const command of ["logs", "restart"]) {
      expect(await project.run(command, "githbu")).toMatchObject({ code: 66, stdout: "", stderr: expect.stringContaining("did you mean github?") });
    }
  });
});

describe.concurrent("guildhall tools, resources and prompts", () => {
  test("list from the lock without starting anything, and narrow down by words", async () => {
    const starts = startsOf("listed");
    const project = newProject({ box: faulty(`told image resources prompts starts=${starts}`) });
    await project.run("build");
    expect(readStarts(starts)).toHaveLength(1);
    const tools = await project.json<JsonObject[]>("tools", "box");
    expect(tools.map(({ name }) => name)).toEqual(["box.echo", "box.image", "box.told"]);
    expect((await project.json<JsonObject[]>("tools", "DOES", "image")).map(({ name }) => name)).toEqual(["box.image"]);
    const text = await project.run("tools", "box");
    expect(text.stdout).toMatch(/^tool +what it does\nbox\.echo +does echo\n/);
    expect((await project.run("tools", "nothing-like-it")).stdout).toMatch(/^no tool matches; there are \d+\n$/);
    expect(await project.json("resources")).toEqual({
      resources: [
        { uri: "note://1", name: "one", mimeType: "text/plain", size: 3, _meta: { x: 1 } },
        { uri: "note://2", name: "two" },
      ],
      templates: [{ uriTemplate: "note://by-name/{name}", name: "by name", "x-more": 1 }],
    });
    expect((await project.run("resources")).stdout).toMatch(/^resource +name\nnote:\/\/1 +one\nnote:\/\/2 +two\nnote:\/\/by-name\/\{name\} +by name\n$/);
    expect(await project.json("prompts")).toMatchObject([{ name: "box.greet", description: "says hello" }]);
    expect((await project.run("prompts")).stdout).toMatch(/box\.greet +says hello\n$/);
    expect(readStarts(starts)).toHaveLength(1);
  });

  test("wait for servers nothing is known of yet, so that no list is silently short", async () => {
    const project = newProject({ box: faulty("told slow-start=300"), bad: faulty("crash-start") });
    expect((await project.json<JsonObject[]>("tools", "box")).map(({ name }) => name)).toEqual(["box.echo", "box.told"]);
  });

  test("say so when there is nothing", async () => {
    const project = newProject({});
    expect((await project.run("resources")).stdout).toBe("no server offers resources\n");
    expect((await project.run("prompts")).stdout).toBe("no server offers prompts\n");
  });

  test("show one tool with its schema, by its full or its bare name; a mistyped one with the near ones, and 66", async () => {
    const project = newProject({ box: faulty("told") });
    await project.run("build");
    expect(await project.json("tools", "show", "box.told")).toMatchObject({
      name: "box.told",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
    });
    expect((await project.run("tools", "show", "told")).stdout).toMatch(/^box\.told\n\ndoes told\n\ninput: \{/);
    expect(await project.run("tools", "show", "box.tald")).toMatchObject({ code: 66, stdout: "", stderr: expect.stringContaining("did you mean box.told?") });
  });
});

describe.concurrent("guildhall call", () => {
  test("takes one JSON object, or pairs in the types of the schema", async () => {
    const project = newProject({ box: faulty() });
    await project.run("build");
    expect(await project.run("call", "box.echo", '{"a":[1,{"b":null}]}')).toEqual({ code: 0, stdout: '{"a":[1,{"b":null}]}\n', stderr: "" });
    expect((await project.run("call", "box__echo", "n=1", "text=12", "list=[1,2]", "words=a=b c", "yes=true")).stdout).toBe(
      '{"n":1,"text":"12","list":[1,2],"words":"a=b c","yes":true}\n',
    );
    expect(await project.json("call", "echo.echo", "a=1")).toMatchObject({ content: [{ type: "text" }], structuredContent: { a: 1 } });
  });

  test("saves images next to it, and makes what cannot be seen visible", async () => {
    const project = newProject({ box: faulty("image terminal") });
    await project.run("build");
    const { code, stdout } = await project.run("call", "box.image");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "a pixel\nimage saved to box.image-2.png\n" });
    expect(readFileSync(join(project.folder, "box.image-2.png")).subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
    expect((await project.run("call", "box.terminal")).stdout).toBe("\\u{1b}[2J\\u{202e}hidden\\u{7}\n");
  });

  test("starts what it needs, and leaves nothing running", async () => {
    const starts = startsOf("call");
    const project = newProject({ box: faulty(`starts=${starts}`), other: faulty(`number=1 starts=${starts}`) });
    await project.run("build");
    const built = readStarts(starts).length;
    await project.run("call", "box.echo");
    expect(readStarts(starts)).toHaveLength(built + 1);
    expect(readStarts(starts).some(isAlive)).toBe(false);
    expect(await project.json("status")).toMatchObject({ running: false });
  });

  test("works before anything was built", async () => {
    const project = newProject({ box: faulty() });
    expect(await project.run("call", "box.echo", "a=1")).toEqual({ code: 0, stdout: '{"a":1}\n', stderr: "" });
    expect(existsSync(project.lock())).toBe(false);
  });

  test("uses the servers of a hall that is running", async () => {
    const starts = startsOf("shared");
    const project = newProject({ box: faulty(`starts=${starts}`) });
    await using client = await project.open();
    await eventually(async () => (await callTool(client, "box.echo")).error === undefined, "it is listed");
    expect((await project.run("call", "box.echo", "a=1")).stdout).toBe('{"a":1}\n');
    expect(readStarts(starts)).toHaveLength(1);
  });

  test.each([
    ["a name nobody has", ["box.tald"], 66, "did you mean box.told?"],
    ["arguments that are no JSON", ["box.echo", "{a:1"], 2, "not valid JSON"],
    ["arguments that are no pairs", ["box.echo", "a"], 2, '"a" is not key=value'],
    ["arguments that do not fit", ["box.echo", '{"text":5}'], 2, "text"],
    ["no name", [], 2, "missing required argument"],
    ["an option nobody knows", ["box.echo", "--jsn"], 2, "--json"],
    ["a tool that fails", ["box.told"], 1, "no such issue"],
    ["a server's own error", ["box.error"], 1, "no luck"],
    ["a server that ends", ["box.crash"], 69, "box is down: exited with code 7"],
    ["a server that does not start", ["dead.echo"], 69, "dead is down: exited with code 9"],
    ["a tool that never answers", ["box.hang"], 75, "box.hang"],
  ])("with %s ends with the code that says so", async (_what, args, code, words) => {
    const project = await shared();
    const ran = await project.run("call", ...args);
    expect(ran).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(words) });
  });

  /** One project for all that goes wrong: built while its second server was still alive. */
  let made: Promise<Project> | undefined;
  function shared(): Promise<Project> {
    made ??= (async () => {
      const project = newProject({ box: faulty("told error crash hang"), dead: faulty("crash-start") }, { timeoutSeconds: 1 });
      await project.run("build");
      const lock = JSON.parse(readFileSync(project.lock(), "utf8"));
      const { hashOf } = await import("../../src/upstream/lock.ts");
      const { command, args } = faulty("crash-start");
      lock.servers.dead = { ...lock.servers.box, source: hashOf([command, args, [], null]) };
      writeFileSync(project.lock(), JSON.stringify(lock));
      return project;
    })();
    return made;
  }
});

describe.concurrent("guildhall doctor", () => {
  test("finds nothing wrong with servers that work", async () => {
    const project = newProject({ box: faulty() });
    const findings = await project.json<{ name: string; ok: boolean; checks: { what: string; ok: boolean }[] }[]>("doctor");
    expect(findings).toMatchObject([{ name: "box", ok: true }]);
    expect(findings[0]?.checks.map(({ what }) => what)).toEqual([
      `the program is ${process.execPath}`,
      "its variables are set (none needed)",
      expect.stringMatching(/^it starts and speaks 2025-11-25 \(\d+\.\d s\)$/),
      "it lists 1 tools",
    ]);
    const text = await project.run("doctor");
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toMatch(/^✔ box\n {2}✔ the program is/);
  });

  test("says what is wrong and what to do, and ends with 69", async () => {
    const project = newProject({
      good: faulty(),
      bad: faulty("crash-start"),
      missing: faulty("", { command: "no-such-program-anywhere" }),
      empty: faulty("no-tools"),
    });
    const { code, stdout, stderr } = await project.run("doctor", "--json");
    expect(code).toBe(69);
    expect(stderr).toContain("3 of 4 servers need attention");
    expect(JSON.parse(stdout)).toMatchObject([
      { name: "good", ok: true },
      {
        name: "bad",
        ok: false,
        checks: [{}, {}, { what: expect.stringContaining("exited with code 9"), advice: expect.stringContaining("cannot start: no licence") }],
      },
      { name: "missing", ok: false, checks: [{ what: expect.stringContaining("was not found"), advice: expect.stringContaining("Install it") }, {}, {}] },
      { name: "empty", ok: false, checks: [{}, {}, {}, { what: "it lists 0 tools", ok: false }] },
    ]);
    expect((await project.run("doctor")).stdout).toContain("✘ missing\n  ✘ the program");
  });

  test("ends with 66 when there is nothing to look at", async () => {
    expect(await newProject({}).run("doctor")).toMatchObject({ code: 66, stderr: expect.stringContaining("no servers are configured") });
  });
});

test("every command ends with 78 when the config is broken, and names the place", async () => {
  const project = newProject({});
  writeFileSync(join(project.folder, "guildhall.json"), '{"mcpServers": {"box": {"command": 5}}}');
  const commands = [["build"], ["tools"], ["call", "x"], ["resources"], ["prompts"], ["doctor"], ["status"], ["mcp"]];
  const ran = await Promise.all(commands.map((args) => project.run(...args)));
  expect(ran.map(({ code }) => code)).toEqual(commands.map(() => 78));
  for (const { stdout, stderr } of ran) {
    expect(stdout).toBe("");
    expect(stderr).toContain("mcpServers.box.command");
  }
});
