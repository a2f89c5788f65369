import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { version } from "../../src/base/version.ts";
import { type Lock, type LockedServer, lockPath } from "../../src/upstream/lock.ts";
import { buildTestCli } from "../servers/process.ts";
import { until } from "../servers/until.ts";
import {
  type CliProcess,
  callTool,
  definitionOf,
  faulty,
  faultyFile,
  isAlive,
  locked,
  readStarts,
  type StdioConfig,
  saidJson,
  usePlaces,
} from "../servers/upstreams.ts";

/**
 * The commands a person types, in a project with real servers. Text for people, JSON for programs,
 * exit codes for scripts.
 */
const places = usePlaces();
let cli: string;

beforeAll(async () => {
  cli = await buildTestCli();
});
afterAll(() => {
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
  writeLock(servers: Readonly<Record<string, LockedServer>>): void;
}

async function newProject(
  servers: Readonly<Record<string, StdioConfig>>,
  more: JsonObject = {},
): Promise<Project> {
  const folder = await places.newProject(servers, more);
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
      await client.answer(
        client.ask("initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "test", version: "1" },
        }),
      );
      client.notify("notifications/initialized");
      return client;
    },
    writeLock(known) {
      mkdirSync(dirname(lockPath(folder)), { recursive: true });
      writeFileSync(lockPath(folder), JSON.stringify({ lockVersion: 1, servers: known }));
    },
  };
  return project;
}

const startsOf = (project: string): string => join(places.runtime, `${project}.starts`);

async function untilCalled(client: CliProcess, name: string): Promise<void> {
  await until(async () => (await callTool(client, name)).error === undefined, `${name} is known`);
}

describe.concurrent("guildhall build", () => {
  test("discovers every server once and writes the same bytes each time", async () => {
    const starts = startsOf("build");
    const project = await newProject({
      old: faulty(`resources prompts starts=${starts}`),
      young: faulty("modern told"),
    });
    const file = lockPath(project.folder);
    expect(await project.json("build")).toMatchObject({
      lock: file,
      servers: [
        {
          name: "old",
          ok: true,
          protocol: "2025-11-25",
          tools: ["echo"],
          resources: 2,
          prompts: 1,
        },
        {
          name: "young",
          ok: true,
          protocol: "2026-07-28",
          tools: ["echo", "told"],
          resources: 0,
          prompts: 0,
        },
      ],
      waiting: [],
    });
    const first = readFileSync(file, "utf8");
    expect(JSON.parse(first)).toMatchObject({
      lockVersion: 1,
      servers: {
        old: { pins: { echo: expect.any(String) } },
        young: { era: "modern" },
      },
    });
    const { code, stdout, stderr } = await project.run("build", "--yes");
    expect(code).toBe(0);
    expect(stdout).toMatch(/server +protocol +tools/);
    expect(stdout).toContain("2 of 2 servers answered; 3 tools written to");
    expect(stderr).toContain("✔ old: 1 tool (");
    expect(readFileSync(file, "utf8")).toBe(first);
    expect(readStarts(starts)).toHaveLength(2);
    expect(readStarts(starts).some(isAlive)).toBe(false);
  });

  test("starts only the servers it is given, and keeps the entries of the others", async () => {
    const starts = startsOf("build-one");
    const project = await newProject({ old: faulty(`starts=${starts}`), young: faulty() });
    await project.run("build", "--yes");
    const before = readFileSync(lockPath(project.folder), "utf8");
    expect(await project.json("build", "young")).toMatchObject({ servers: [{ name: "young" }] });
    expect(readStarts(starts)).toHaveLength(1);
    expect(readFileSync(lockPath(project.folder), "utf8")).toBe(before);
    expect(await project.run("build", "yung")).toMatchObject({
      code: 66,
      stderr: expect.stringContaining('unknown server "yung"; did you mean young?'),
    });
  });

  test("continues without servers that are down, keeps their entries, and prints why", async () => {
    const bad = faulty("crash-start");
    const project = await newProject({
      good: faulty(),
      bad,
      missing: faulty("", { command: "no-such-program-anywhere" }),
    });
    const { code, stdout, stderr } = await project.run("build");
    expect(code).toBe(0);
    expect(stdout).toContain("1 of 3 servers answered");
    expect(stdout).toMatch(/bad +failed .*exited with code 9/);
    // Problems come first, with a summary.
    expect(stdout.indexOf("bad ")).toBeLessThan(stdout.indexOf("good "));
    expect(stdout).toContain("bad, missing failed; run `guildhall doctor` to see why");
    expect(stderr).toContain("no-such-program-anywhere");
    // It was there the last time.
    const before = locked(bad, ["remembered"]);
    project.writeLock({ bad: before });
    const built = await project.json<{ servers: JsonObject[] }>("build");
    expect(built.servers).toContainEqual({
      name: "bad",
      ok: false,
      reason: expect.stringContaining("exited with code 9"),
      installing: false,
      stderr: ["cannot start: no licence"],
    });
    const { servers } = JSON.parse(readFileSync(lockPath(project.folder), "utf8"));
    expect(Object.keys(servers)).toEqual(["bad", "good"]);
    expect(servers.bad).toEqual(before);
  });

  test("ends with 69 when no server answers, and groups the hall's own tools when there is none", async () => {
    const down = await (await newProject({ bad: faulty("crash-start") })).run("build");
    expect(down).toMatchObject({ code: 69, stderr: expect.stringContaining("guildhall doctor") });
    const none = await (await newProject({})).run("build");
    expect(none).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/mcpServers.*\n\d+ agents?: /),
      stderr: "",
    });
  });
});

describe.concurrent("guildhall status, logs and restart", () => {
  test("without a hall print the config, the lock and the next step", async () => {
    const config = faulty();
    const project = await newProject({ box: config });
    project.writeLock({ box: locked(config, ["echo"]) });
    expect(await project.json("status")).toMatchObject({
      running: false,
      upstreams: [
        {
          name: "box",
          state: { kind: "stopped" },
          protocol: "2025-11-25",
          tools: 1,
        },
      ],
    });
    const text = await project.run("status");
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(
      /^no hall is running in this project; .*`guildhall serve`.*\nknown from earlier:\n\nserver +state/,
    );
    expect(await project.run("restart", "box")).toMatchObject({
      code: 69,
      stderr: expect.stringContaining("no hall is running"),
    });
    expect(await project.json("logs", "box")).toEqual({ lines: [] });
  });

  test("without a hall print the last failure", async () => {
    const project = await newProject({ box: faulty("error"), bad: faulty("crash-start") });
    await project.run("build");
    expect((await project.run("logs", "bad")).stdout).toMatch(
      /cannot start: no licence\n.*guildhall: exited with code 9\n/,
    );
    await project.run("call", "box.error");
    const at = expect.stringMatching(/\(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)$/);
    expect(await project.json("status")).toMatchObject({
      upstreams: [
        { name: "box", calls: 1, errors: 1, lastError: expect.stringMatching(/ box\.error \(/) },
        { name: "bad", calls: 0, lastError: expect.stringMatching(/exited with code 9 \(/) },
      ],
    });
    expect(await project.json("status")).toMatchObject({
      upstreams: [{ lastError: at }, { lastError: at }],
    });
    writeFileSync(
      join(project.folder, "guildhall.json"),
      JSON.stringify({ mcpServers: { bad: { command: process.execPath, args: [faultyFile] } } }),
    );
    await project.run("build", "--yes");
    expect(await project.json("status")).not.toHaveProperty("upstreams.0.lastError");
  });

  test("with a hall show each server with its state, the reason when it is down, and its counts", async () => {
    const project = await newProject({ good: faulty("error"), bad: faulty("crash-start") });
    await using client = await project.open();
    await untilCalled(client, "good.echo");
    await callTool(client, "good.error");
    // It is tried again and again, and down in between.
    await until(async () => {
      const status = await project.json<{ upstreams: { state: JsonObject }[] }>("status");
      expect(status).toMatchObject({ running: true, version, pid: client.pid, clients: 1 });
      expect(status.upstreams[0]).toMatchObject({
        name: "good",
        state: { kind: "ready" },
        calls: expect.any(Number),
        errors: 1,
        lastError: "no luck",
      });
      expect(status.upstreams[1]).toMatchObject({ name: "bad", tools: 0 });
      return (
        status.upstreams[1]?.state.kind === "down" &&
        status.upstreams[1]?.state.reason === "exited with code 9"
      );
    }, "it is down with its reason");
    await until(async () => {
      const { stdout } = await project.run("status");
      expect(stdout).toMatch(/^hall .* process \d+, running for \d+ min, 1 client\n/);
      expect(stdout).toMatch(/good +ready +2025-11-25 +2/);
      return /bad +down, retry in \d+ s .*exited with code 9/.test(stdout);
    }, "the text says so too");
  });

  test("logs shows the last words of a server, and restart gives it a new process", async () => {
    const project = await newProject({ box: faulty("whoami stderr=hello-from-stderr") });
    await using client = await project.open();
    await untilCalled(client, "box.whoami");
    const pidOf = async (): Promise<number> =>
      (saidJson(await callTool(client, "box.whoami")) as { pid: number }).pid;
    const before = await pidOf();
    const said = { server: "box", text: "hello-from-stderr" };
    const lines = await until(async () => {
      const found = (await project.json("logs", "box")) as { lines: readonly JsonObject[] };
      return found.lines.length > 0 ? found.lines : undefined;
    }, "the line is in the log");
    expect(lines[0]).toEqual({ ...said, at: expect.any(Number) });
    expect((await project.run("logs", "box")).stdout).toMatch(/^\S+ \S+ hello-from-stderr\n/);
    expect((await project.run("logs")).stdout).toMatch(/^\S+ \S+ box hello-from-stderr\n/);
    expect(await project.json("restart", "box")).toEqual({
      server: "box",
      state: { kind: "stopped" },
    });
    expect(isAlive(before)).toBe(false);
    expect(await pidOf()).not.toBe(before);
    expect((await project.run("restart", "box")).stdout).toBe(
      "box was stopped; it starts again at its next call\n",
    );
    for (const command of ["logs", "restart"]) {
      expect(await project.run(command, "bxo")).toMatchObject({
        code: 66,
        stdout: "",
        stderr: expect.stringContaining("did you mean box?"),
      });
    }
  });
});

// As `faulty.mjs` offers them: the lock counts only where it equals what was reviewed.
const note = { uri: "note://1", name: "one", mimeType: "text/plain", size: 3, _meta: { x: 1 } };
const notes = { uriTemplate: "note://by-name/{name}", name: "by name", "x-more": 1 };
const greet = {
  name: "greet",
  description: "says hello",
  arguments: [{ name: "who", required: true }],
  "x-more": 1,
};

/** A project whose lock knows more than its servers keep: one works in every way, one no longer starts. */
async function newLibrary(starts: string): Promise<Project> {
  const box = faulty(`told image terminal error crash resources prompts starts=${starts}`);
  const dead = faulty("crash-start");
  const stuck = faulty(`hang starts=${starts}`, { timeoutSeconds: 1 });
  const project = await newProject({ box, dead, stuck });
  const tools = ["echo", "told", "image", "terminal", "error", "crash"].map(definitionOf);
  const offer = { tools, resources: [note], templates: [notes], prompts: [greet] };
  project.writeLock({
    box: locked(box, [], { offer }),
    dead: locked(dead, ["echo"]),
    stuck: locked(stuck, ["hang"]),
  });
  return project;
}

/** What the hall says of itself is always there. */
const ownResources = ["health", "stats", "trust"].map((name) =>
  expect.objectContaining({ uri: `guildhall://${name}`, name }),
);
const ownTable =
  "resource            server  name\nguildhall://health  (hall)  health\nguildhall://stats   (hall)  stats\nguildhall://trust   (hall)  trust\n";

describe.concurrent("guildhall tools, resources and prompts", () => {
  test("list from the lock without starting anything, and find tools for a task", async () => {
    const starts = startsOf("listed");
    const project = await newLibrary(starts);
    const found = await project.json<{ tools: JsonObject[] }>("tools", "DOES", "told");
    expect(found.tools[0]).toMatchObject({
      name: "box.told",
      matched: expect.arrayContaining(["told"]),
    });
    expect((await project.run("tools", "told")).stdout).toMatch(
      /^best matches of \d+ tools:\n\ntool +matched +description\nbox\.told .*does told\n/,
    );
    expect((await project.run("tools")).stdout).toMatch(
      /^tool +description\nbox\.crash +does crash\nbox\.echo +does echo\n/,
    );
    expect((await project.run("tools", "qqqqqq")).stdout).toMatch(
      /^no (match among \d+ tools\n$|good match)/,
    );
    expect(await project.json("resources")).toEqual({
      resources: [...ownResources, note],
      templates: [notes],
    });
    expect((await project.run("resources")).stdout).toMatch(
      /\nnote:\/\/1 +box +one\nnote:\/\/by-name\/\{name\} +box +by name\n$/,
    );
    expect((await project.json<JsonObject[]>("prompts"))[0]).toEqual({
      ...greet,
      name: "box.greet",
    });
    expect((await project.run("prompts")).stdout).toMatch(
      /^prompt +description\nbox\.greet +says hello\nspeckit\.analyze /,
    );
    expect(readStarts(starts)).toEqual([]);
  });

  test("name the servers nothing is known of yet, so that no list is silently short", async () => {
    const starts = startsOf("unlisted");
    const project = await newProject({ box: faulty(`told starts=${starts}`) });
    for (const command of ["tools", "resources", "prompts"])
      expect((await project.run(command)).stderr).toContain("no tools of box are known yet");
    expect(readStarts(starts)).toEqual([]);
  });

  test("print a notice when there are none", async () => {
    const project = await newProject({});
    expect((await project.run("resources")).stdout).toBe(ownTable);
    expect((await project.run("prompts")).stdout).toMatch(
      /^prompt +description\nspeckit\.analyze /,
    );
  });

  test("show one tool with its schema, by its full or its bare name; a mistyped one with the near ones, and 66", async () => {
    const project = await newLibrary(startsOf("shown"));
    expect(await project.json("tools", "show", "box.told")).toMatchObject({
      name: "box.told",
      description: "does told",
      inputSchema: { type: "object" },
    });
    expect((await project.run("tools", "show", "told")).stdout).toMatch(
      /^box\.told\n\ndoes told\n\ninput: \{/,
    );
    expect(await project.run("tools", "show", "box.tolt")).toMatchObject({
      code: 66,
      stdout: "",
      stderr: expect.stringMatching(/did you mean .*box\.told/),
    });
  });
});

describe.concurrent("the output of a command precedes the end of its servers, which may take seconds:", () => {
  test.each([
    ["call", ["call", "box.echo"]],
    ["tools show", ["tools", "show", "box.echo"]],
  ])("%s", async (name, args) => {
    const starts = startsOf(`slow-end-${name.replace(" ", "-")}`);
    const project = await newProject({ box: faulty(`stubborn starts=${starts}`) });
    await using command = places.spawn(cli, args, project.folder);
    command.child.stdin.end();
    const alive = new Promise((resolve) =>
      command.child.stdout.once("data", () => resolve(readStarts(starts).some(isAlive))),
    );
    expect(await alive).toBe(true);
    expect(await command.exited).toBe(0);
    expect(readStarts(starts).some(isAlive)).toBe(false);
  });
});

describe.concurrent("guildhall call", () => {
  const starts = startsOf("called");
  let project: Project;
  beforeAll(async () => {
    project = await newLibrary(starts);
  });

  test("takes one JSON object, or pairs in the types of the schema", async () => {
    expect(await project.run("call", "box.echo", '{"a":[1,{"b":null}]}')).toEqual({
      code: 0,
      stdout: '{"a":[1,{"b":null}]}\n',
      stderr: "",
    });
    expect(
      (
        await project.run(
          "call",
          "box__echo",
          "n=1",
          "text=12",
          "list=[1,2]",
          "words=a=b c",
          "yes=true",
        )
      ).stdout,
    ).toBe('{"n":1,"text":"12","list":[1,2],"words":"a=b c","yes":true}\n');
    expect(await project.json("call", "box.echo", "a=1")).toMatchObject({
      content: [{ type: "text" }],
      structuredContent: { a: 1 },
    });
  });

  test("prints progress on stderr, and none with --json", async () => {
    const project = await newProject({ box: faulty("progress log") });
    const { code, stderr } = await project.run("call", "box.progress", "steps=2");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "[50 %] step 1\n[100 %] step 2\n" });
    expect(await project.run("call", "box.log")).toMatchObject({
      code: 0,
      stderr: '{"text":"careful"}\n',
    });
    await project.json("call", "box.log");
  });

  test("saves images, and makes invisible characters visible", async () => {
    const { code, stdout } = await project.run("call", "box.image");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "a pixel\nimage saved to box.image.png\n",
    });
    expect(readFileSync(join(project.folder, "box.image.png")).subarray(0, 8)).toEqual(
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    );
    expect((await project.run("call", "box.terminal")).stdout).toBe(
      "\\u{1b}[2J\\u{202e}hidden\\u{7}\n",
    );
  });

  test("works before a build, starts the servers it needs, and leaves nothing running", async () => {
    const own = startsOf("unbuilt");
    const fresh = await newProject({ box: faulty(`starts=${own}`) });
    expect(await fresh.run("call", "box.echo", "a=1")).toEqual({
      code: 0,
      stdout: '{"a":1}\n',
      stderr: "",
    });
    expect(existsSync(lockPath(fresh.folder))).toBe(false);
    expect(readStarts(own)).toHaveLength(1);
    expect(readStarts(own).some(isAlive)).toBe(false);
    expect(await fresh.json("status")).toMatchObject({ running: false });
  });

  test("uses the servers of a hall that is running", async () => {
    const own = startsOf("shared");
    const shared = await newProject({ box: faulty(`starts=${own}`) });
    await using client = await shared.open();
    await untilCalled(client, "box.echo");
    expect((await shared.run("call", "box.echo", "a=1")).stdout).toBe('{"a":1}\n');
    expect(readStarts(own)).toHaveLength(1);
  });

  test.each([
    ["a name nobody has", ["box.tolt"], 66, "box.told"],
    ["arguments that are no JSON", ["box.echo", "{a:1"], 2, "invalid JSON"],
    ["arguments that are no pairs", ["box.echo", "a"], 2, 'invalid argument "a"'],
    ["arguments that do not fit", ["box.echo", '{"text":5}'], 2, "text"],
    ["no name", [], 2, "missing required argument"],
    ["an option nobody knows", ["box.echo", "--jsn"], 2, "--json"],
    ["a tool that fails", ["box.told"], 1, "no such issue"],
    ["a server's own error", ["box.error"], 1, "no luck"],
    ["a server that ends", ["box.crash"], 69, 'server "box" is down: exited with code 7'],
    [
      "a server that does not start",
      ["dead.echo"],
      69,
      'server "dead" is down: exited with code 9',
    ],
    // While other commands of the same project come and go beside it.
    ["a tool that never answers", ["stuck.hang"], 75, "stuck.hang"],
  ])("with %s ends with the code that says so", async (_what, args, code, words) => {
    expect(await project.run("call", ...args)).toMatchObject({
      code,
      stdout: "",
      stderr: expect.stringContaining(words),
    });
  });

  afterAll(async () => {
    await until(() => !readStarts(starts).some(isAlive), "no server of any of these calls is left");
  });
});

describe.concurrent("guildhall doctor", () => {
  test("finds nothing wrong with servers that work", async () => {
    const project = await newProject({ box: faulty() });
    const findings =
      await project.json<{ name: string; ok: boolean; checks: { what: string; ok: boolean }[] }[]>(
        "doctor",
      );
    expect(findings).toMatchObject([{ name: "box", ok: true }]);
    expect(findings[0]?.checks.map(({ what }) => what)).toEqual([
      `program: ${process.execPath}`,
      "environment variables: none needed",
      expect.stringMatching(/^starts and speaks MCP 2025-11-25 \(\d+\.\d s\)$/),
      "lists 1 tool",
    ]);
  });

  test("prints the failure and the next step, and ends with 69", async () => {
    const missing = faulty("", { command: "no-such-program-anywhere" });
    const project = await newProject({
      good: faulty(),
      bad: faulty("crash-start"),
      missing,
      empty: faulty("no-tools"),
    });
    const { code, stdout, stderr } = await project.run("doctor", "--json");
    expect(code).toBe(69);
    expect(stderr).toContain("3 of 4 servers need attention");
    const { error } = JSON.parse(stdout) as { error: { details: { result: unknown } } };
    expect(error).toMatchObject({ code: "UNAVAILABLE", exit: 69 });
    expect(error.details.result).toMatchObject([
      { name: "good", ok: true },
      {
        name: "bad",
        ok: false,
        checks: [
          {},
          {},
          {
            what: expect.stringContaining("exited with code 9"),
            stderr: expect.arrayContaining([expect.stringContaining("cannot start: no licence")]),
          },
        ],
      },
      {
        name: "missing",
        ok: false,
        checks: [
          {
            what: expect.stringContaining("not found"),
            advice: expect.stringContaining("Install it"),
          },
          {},
        ],
      },
      { name: "empty", ok: false, checks: [{}, {}, {}, { what: "lists 0 tools", ok: false }] },
    ]);
    const text = await project.run("doctor");
    expect(text.stdout).toMatch(/^✔ good\n {2}✔ program: /);
    expect(text.stdout).toContain("✘ missing\n  ✘ program");
  });

  test("ends with 66 when there are no servers", async () => {
    expect(await (await newProject({})).run("doctor")).toMatchObject({
      code: 66,
      stderr: expect.stringContaining("no servers are configured"),
    });
  });
});

describe.concurrent("the reader of the output", () => {
  test("may stop reading, which is no failure and nothing to tell of", async () => {
    const project = await newProject({});
    await using command = places.spawn(cli, ["tools", "--json"], project.folder);
    command.child.stdout.destroy();
    expect({ code: await command.exited, stderr: command.output.stderr }).toEqual({
      code: 0,
      stderr: "",
    });
  });

  test("gets an error when it cannot be written", async () => {
    const project = await newProject({});
    const child = spawn(process.execPath, [cli, "tools"], {
      cwd: project.folder,
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    let stderr = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      stderr += bytes;
    });
    const [code] = await once(child, "close");
    expect(code).toBe(1);
    expect(stderr).toContain("could not write the output");
  });
});

describe.concurrent("a server whose own entry cannot be used", () => {
  const bad = faulty("", { args: [faultyFile, `\${GUILDHALL_TEST_UNSET}`] });
  const reason = `args[1]: the variable GUILDHALL_TEST_UNSET is not set: no secret of that name, and not in the environment of this command; run guildhall secret set GUILDHALL_TEST_UNSET`;

  test("is named with the reason, keeps its entry, and affects nothing else", async () => {
    const good = faulty("starts=nowhere");
    const project = await newProject({ good, bad });
    project.writeLock({ good: locked(good, ["echo"]), bad: locked(bad, ["echo"]) });
    const state = { kind: "unusable", reason: expect.stringContaining(reason) };
    expect(await project.json("status")).toMatchObject({
      upstreams: [{ name: "good" }, { name: "bad", state, tools: 1 }],
    });
    expect((await project.json<{ name: string }[]>("tools")).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["good.echo", "bad.echo"]),
    );
    expect(await project.run("call", "good.echo", "text=hello")).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(await project.run("call", "bad.echo", "text=hello")).toMatchObject({
      code: 69,
      stdout: "",
      stderr: expect.stringMatching(
        /cannot be used: the variable GUILDHALL_TEST_UNSET is not set.*guildhall secret set GUILDHALL_TEST_UNSET/s,
      ),
    });
    expect(await project.run("status")).toMatchObject({
      stdout: expect.stringMatching(
        /^1 of 2 servers cannot be used: bad; .*\n\n.*\nbad +unusable/m,
      ),
    });
    const doctor = await project.run("doctor");
    expect(doctor).toMatchObject({
      code: 69,
      stdout: expect.stringContaining(`✘ bad\n  ✘ invalid entry: ${reason}`),
    });
    expect(doctor.stdout).toContain("✔ good");
    const build = await project.run("build", "--yes");
    expect(build).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 of 2 servers answered"),
      stderr: expect.stringContaining(`✘ bad: cannot be used: ${reason}`),
    });
    expect(
      Object.keys((JSON.parse(readFileSync(lockPath(project.folder), "utf8")) as Lock).servers),
    ).toEqual(["bad", "good"]);
    expect(await project.run("call", "bad.unknown")).toMatchObject({
      code: 69,
      stderr: expect.stringContaining("bad cannot be used"),
    });
    for (const command of [
      ["verify", "bad", "--yes"],
      ["login", "bad"],
      ["diff", "bad"],
    ]) {
      expect(await project.run(...command)).toMatchObject({
        code: 69,
        stderr: expect.stringContaining("bad cannot be used"),
      });
    }
  });

  test("is taken out by an edit and put back by the next; the others keep running", async () => {
    const [good, other] = [faulty("whoami"), faulty("whoami")];
    const project = await newProject({ good, other });
    await using client = await project.open();
    for (const name of ["good.whoami", "other.whoami"]) await untilCalled(client, name);
    const pidOf = async (): Promise<number> =>
      (saidJson(await callTool(client, "good.whoami")) as { pid: number }).pid;
    const before = await pidOf();
    const write = (entry: object): void =>
      writeFileSync(
        join(project.folder, "guildhall.json"),
        JSON.stringify({
          mcpServers: { good: { command: good.command, args: good.args }, other: entry },
        }),
      );
    const stateOf = async (): Promise<unknown> =>
      (
        await project.json<{ upstreams: { name: string; state: JsonObject }[] }>("status")
      ).upstreams.find(({ name }) => name === "other")?.state.kind;
    write({ comand: other.command });
    await until(async () => (await stateOf()) === "unusable", "it is unusable");
    expect(await pidOf()).toBe(before);
    write({ command: other.command, args: other.args });
    await untilCalled(client, "other.whoami");
    expect(await pidOf()).toBe(before);
  });
});

test("a hall in a folder that is not there ends with 66", async () => {
  const project = await newProject({});
  expect(await project.run("mcp", "--folder", "nowhere")).toMatchObject({
    code: 66,
    stdout: "",
    stderr: expect.stringContaining('the folder "nowhere"'),
  });
});

test("every command ends with 78 when the config is broken, and names the place", async () => {
  const project = await newProject({});
  writeFileSync(join(project.folder, "guildhall.json"), '{"timeoutSeconds": "soon"}');
  const commands = [
    ["build"],
    ["tools"],
    ["call", "x"],
    ["resources"],
    ["prompts"],
    ["doctor"],
    ["status"],
    ["mcp"],
  ];
  const ran = await Promise.all(commands.map((args) => project.run(...args)));
  expect(ran.map(({ code }) => code)).toEqual(commands.map(() => 78));
  for (const { stdout, stderr } of ran) {
    expect(stdout).toBe("");
    expect(stderr).toContain("timeoutSeconds");
  }
});
