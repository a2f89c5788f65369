import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { Scope } from "../../src/base/scope.ts";
import { openMcpConnection, type ServerConnection } from "../../src/client/connection.ts";
import { createGuard } from "../../src/upstream/guard.ts";
import { startProcess, type UpstreamProcess } from "../../src/upstream/process.ts";
import type { ProcessSpec } from "../../src/upstream/program.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { buildTestCli, residentMegabytes } from "../servers/process.ts";
import { guardMs, until } from "../servers/until.ts";
import {
  faulty,
  faultyFile,
  isAlive,
  readStarts,
  saidJson,
  usePlaces,
} from "../servers/upstreams.ts";

/** One child process: what it gets, how it is heard, how it ends. */
const folder = mkdtempSync(join(tmpdir(), "guildhall-process-"));
const guard = createGuard();
afterAll(() => {
  guard.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Opened extends AsyncDisposable {
  readonly child: UpstreamProcess;
  readonly line: ServerConnection;
  call(tool: string, args?: JsonObject): Promise<JsonObject>;
}

const scopes: Scope[] = [];

afterEach(() => {
  for (const scope of scopes.splice(0)) scope.close();
});

async function open(words: string, spec: Partial<ProcessSpec> = {}): Promise<Opened> {
  const { command, args, env } = faulty(words);
  const child = await startProcess(
    { command, args, env, ...spec },
    { limits: defaultLimits, guard },
    new Scope(),
  );
  const scope = new Scope(undefined, guardMs);
  scopes.push(scope);
  const line = await openMcpConnection(child.channel, {
    limits: defaultLimits,
    log: createLog({ level: "silent" }),
    scope,
    listChanged() {},
    resourceUpdated() {},
    closed() {},
  });
  return {
    child,
    line,
    call: async (name, sent = {}) => ({
      result: await line.request("tools/call", { name, arguments: sent }, scope),
    }),
    async [Symbol.asyncDispose]() {
      await child.stop();
    },
  };
}

describe("a server gets", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test("only the variables that the list allows and the config names", async () => {
    vi.stubEnv("GITHUB_TOKEN", "secret");
    vi.stubEnv("NODE_OPTIONS", "--no-warnings");
    vi.stubEnv("LD_PRELOAD", "");
    vi.stubEnv("LANG", "C.UTF-8");
    const passed = {
      HTTPS_PROXY: "http://proxy.example:3128",
      no_proxy: "localhost",
      NODE_EXTRA_CA_CERTS: "",
      LC_MESSAGES: "C",
      npm_config_cache: "/var/cache/npm",
      UV_CACHE_DIR: "/var/cache/uv",
    };
    for (const [name, value] of Object.entries(passed)) vi.stubEnv(name, value);
    vi.stubEnv("NPM_CONFIG_CACHE", join(process.cwd(), "cache-of-the-project"));
    vi.stubEnv("npm_config_registry", "https://registry.example");
    await using server = await open("whoami", { env: { API_KEY: "given", TZ: "Asia/Tokyo" } });
    const { env } = saidJson(await server.call("whoami")) as { env: Record<string, string> };
    expect(env).toMatchObject({
      PATH: process.env.PATH,
      LANG: "C.UTF-8",
      API_KEY: "given",
      TZ: "Asia/Tokyo",
      ...passed,
    });
    const allowed = [
      "HOME",
      "LANG",
      "LC_ALL",
      "LC_CTYPE",
      "LOGNAME",
      "PATH",
      "SHELL",
      "TERM",
      "TMPDIR",
      "TZ",
      "USER",
    ];
    const others = Object.keys(env).filter(
      (name) =>
        !allowed.includes(name) &&
        !Object.hasOwn(passed, name) &&
        !/^(XDG_(CACHE|CONFIG|DATA)_HOME|(https?|all|no)_proxy|SSL_CERT_(FILE|DIR)|\w+_CA_BUNDLE)$/i.test(
          name,
        ),
    );
    expect(others).toEqual(["API_KEY"]);
  });

  test("exactly the arguments of the config, without a shell", async () => {
    const odd = [
      "$(touch made-by-shell)",
      "; touch made-by-shell",
      "`id`",
      "*",
      "a b",
      "",
      '"quoted"',
      "$HOME",
      "ünï\ncode",
    ];
    await using server = await open("", { args: [faultyFile, "whoami", ...odd], cwd: folder });
    const { argv, cwd } = saidJson(await server.call("whoami")) as { argv: string[]; cwd: string };
    expect(argv).toEqual(["whoami", ...odd]);
    expect(cwd).toBe(realpathSync(folder));
    expect(existsSync(join(folder, "made-by-shell"))).toBe(false);
  });

  test("is a process group of its own", async () => {
    await using server = await open("");
    const { pid } = server.child;
    expect(groupOf(pid)).toBe(pid);
    expect(groupOf(pid)).not.toBe(groupOf(process.pid));
  });
});

describe.concurrent("a program that cannot be started", () => {
  const start = (spec: Partial<ProcessSpec>): Promise<UpstreamProcess> =>
    startProcess(
      { command: "node", args: [], env: {}, ...spec },
      { limits: defaultLimits, guard },
      new Scope(),
    );

  test("is named when it is not there", async () => {
    await expect(start({ command: "no-such-program-anywhere" })).rejects.toThrow(
      '"no-such-program-anywhere" was not found',
    );
  });

  test("is not looked for in a shell", async () => {
    await expect(start({ command: "echo hello; true" })).rejects.toThrow("was not found");
  });

  test("says why when it may not be run", async () => {
    const file = join(folder, "not-executable");
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, 0o600);
    await expect(start({ command: file })).rejects.toThrow("it is not executable");
  });

  test("is not blamed when its folder is what is missing", async () => {
    const missing = join(folder, "no-such-folder");
    await expect(start({ command: process.execPath, cwd: missing })).rejects.toThrow(missing);
  });
});

describe.concurrent("the output of a server", () => {
  test("is skipped and counted where it is no message", async () => {
    await using server = await open("banner garbage invalid_lines unknown_id twice");
    const before = server.line.junkCount;
    expect(before).toBeGreaterThanOrEqual(3);
    await server.call("garbage");
    const afterGarbage = server.line.junkCount;
    expect(afterGarbage - before).toBeGreaterThanOrEqual(6);
    await server.call("invalid_lines");
    expect(server.line.junkCount - afterGarbage).toBe(2);
    await server.call("unknown_id");
    expect(server.line.junkCount - afterGarbage).toBe(4);
    await server.call("twice");
    await until(() => server.line.junkCount - afterGarbage === 5, "the second answer is counted");
  });

  test("on stderr is freed of secrets before it is cut", async () => {
    const printed: string[] = [];
    const secret = "hunter2-hunter2";
    const script = `console.error("x".repeat(1995) + "${secret}"); process.stderr.write("${secret}" + "y".repeat(1995)); process.stdin.resume()`;
    const child = await startProcess(
      { command: process.execPath, args: ["-e", script], env: {} },
      {
        limits: defaultLimits,
        guard,
        printed: (line) => printed.push(line),
        scrub: (text) => text.replaceAll(secret, "***"),
      },
      new Scope(),
    );
    await until(() => child.evidence().at(-1)?.endsWith("yyy") === true, "all of it");
    expect(printed).toEqual([`${"x".repeat(1995)}***`]);
    expect(child.evidence()).toEqual([...printed, `***${"y".repeat(1995)}`]);
    await child.stop();
  });

  test("on stderr is kept to its last 200 lines of 2,000 characters", async () => {
    const script = `for (let n = 0; n < 1000; n++) console.error("line", n); console.error("x".repeat(100000)); process.stderr.write("ünd half"); process.stdin.resume()`;
    const child = await startProcess(
      { command: process.execPath, args: ["-e", script], env: {} },
      { limits: defaultLimits, guard },
      new Scope(),
    );
    await until(() => child.evidence().at(-1) === "ünd half", "all of it");
    expect(child.evidence()).toHaveLength(200);
    expect(child.evidence().at(-2)).toHaveLength(2_000);
    expect(child.evidence().at(-3)).toBe("line 999");
    await child.stop();
    expect(child.evidence().at(-1)).toBe("ünd half");
  });
});

describe.concurrent("the end of a server", () => {
  test.each([
    ["process.exit(3)", "exited with code 3"],
    ["process.exit(0)", "exited with code 0"],
    ["process.kill(process.pid, 'SIGKILL')", "ended by SIGKILL"],
  ])("by %s is described", async (script, words) => {
    const child = await startProcess(
      { command: process.execPath, args: ["-e", script], env: {} },
      { limits: defaultLimits, guard },
      new Scope(),
    );
    expect(await child.ended).toBe(words);
  });

  test("follows the end of its input", async () => {
    const server = await open("");
    await server.child.stop();
    expect(await server.child.ended).toBe("exited with code 0");
  });

  test("follows SIGTERM if it ignores the end of its input", async () => {
    const child = await startProcess(
      { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], env: {} },
      { limits: defaultLimits, guard },
      new Scope(),
    );
    await child.stop();
    expect(await child.ended).toBe("ended by SIGTERM");
  });

  test("is forced with SIGKILL if it ignores both, also on the processes it started", async () => {
    const server = await open("stubborn fork");
    const { pid } = saidJson(await server.call("fork")) as { pid: number };
    await server.child.stop();
    expect(await server.child.ended).toBe("ended by SIGKILL");
    await until(() => !isAlive(pid), "the grandchild is gone");
  });

  test("may be requested by several callers at once", async () => {
    const server = await open("");
    await Promise.all([server.child.stop(), server.child.stop(), server.child.stop()]);
    await server.child.stop();
  });
});

describe.concurrent("the guard", () => {
  const startGroup = (script: string): number => {
    const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: "ignore" });
    child.unref();
    return child.pid ?? 0;
  };

  test("ends the watched groups when its input closes, and leaves the released ones", async () => {
    const own = createGuard();
    const [polite, stubborn, released] = [
      startGroup("exec sleep 600"),
      startGroup("trap '' TERM; sleep 600; sleep 600"),
      startGroup("exec sleep 600"),
    ];
    for (const pid of [polite, released, stubborn]) own.watch(pid);
    own.release(released);
    expect([polite, stubborn, released].map(isAlive)).toEqual([true, true, true]);
    own.close();
    await until(() => ![polite, stubborn].some(isAlive), "both are gone");
    expect(isAlive(released)).toBe(true);
    process.kill(-released, "SIGKILL");
  });

  test("leaves groups that were watched and released several times", async () => {
    const own = createGuard();
    const pids = Array.from({ length: 5 }, () => startGroup("exec sleep 600"));
    for (let round = 0; round < 3; round++) {
      for (const pid of pids) own.watch(pid);
      for (const pid of pids) own.release(pid);
    }
    // Survives until the guard kills, its last step.
    const stubborn = startGroup(
      `trap '' TERM; echo > ${join(folder, "trapped")}; sleep 600; sleep 600`,
    );
    await until(() => existsSync(join(folder, "trapped")), "the trap is set");
    own.watch(stubborn);
    own.close();
    await until(() => !isAlive(stubborn), "the guard is done");
    expect(pids.map(isAlive)).toEqual(pids.map(() => true));
    for (const pid of pids) process.kill(-pid, "SIGKILL");
  });
});

describe("a hall in a process of its own", () => {
  const places = usePlaces();
  let cli: string;
  beforeAll(async () => {
    cli = await buildTestCli();
  });
  afterAll(() => {
    places.remove();
  });

  test("that is killed with -9 takes every process it has started with it, stubborn ones and their children included", async () => {
    const files = ["polite", "stubborn", "hanging"].map((name) => join(folder, `${name}.starts`));
    const project = await places.newProject({
      polite: faulty(`starts=${files[0]}`),
      stubborn: faulty(`stubborn fork starts=${files[1]}`),
      hanging: faulty(`hang-start starts=${files[2]}`),
    });
    await using hall = places.spawn(cli, ["mcp", "--alone"], project);
    await hall.greet();
    await until(async () => {
      const { tools } = await hall.result("tools/list");
      return (tools as JsonObject[]).some(({ name }) => name === "stubborn__fork");
    }, "the stubborn one is listed");
    const { pid: grandchild } = saidJson(
      await hall.request("tools/call", { name: "stubborn.fork" }),
    ) as { pid: number };
    await until(() => files.every((file) => readStarts(file).length === 1), "all have started");
    const pids = [...files.flatMap((file) => readStarts(file)), grandchild];
    expect(pids.map(isAlive)).toEqual([true, true, true, true]);
    const guards = childrenOf(hall.pid).filter((pid) => !pids.includes(pid));
    hall.child.kill("SIGKILL");
    await hall.exited;
    await until(() => !pids.some(isAlive), "no survivors");
    expect(guards).toHaveLength(1);
    await until(() => !guards.some(isAlive), "the guard is gone as well");
  });

  test("stays small while a server sends a line of 90 MB and bytes without end", async () => {
    const project = await places.newProject({
      box: faulty("huge"),
      flood: faulty("endless", { timeoutSeconds: 1 }),
    });
    await using hall = places.spawn(cli, ["mcp", "--alone"], project);
    await hall.greet();
    await until(async () => {
      const { tools } = await hall.result("tools/list");
      return (
        (tools as JsonObject[]).filter(
          ({ name }) => name === "box__huge" || name === "flood__endless",
        ).length === 2
      );
    }, "both are listed");
    const { pid } = hall;
    await hall.request("tools/call", { name: "box.echo" });
    // The first call also opens the store, later and in a thread of its own.
    await until(() => existsSync(join(project, ".guildhall", "state.db")), "the store is open");
    const before = residentMegabytes(pid);
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, residentMegabytes(pid));
    }, 5);
    try {
      const huge = await hall.answer(
        hall.ask("tools/call", { name: "box.huge", arguments: { megabytes: 90 } }),
      );
      expect(huge).toMatchObject({
        result: { isError: true, structuredContent: { error_type: "too_large" } },
      });
      const endless = await hall.answer(hall.ask("tools/call", { name: "flood.endless" }));
      // Either the deadline of the call or the limit of an endless line ends it.
      expect(endless).toMatchObject({
        result: {
          isError: true,
          structuredContent: { error_type: expect.stringMatching(/^(timeout|unavailable)$/) },
        },
      });
    } finally {
      clearInterval(watching);
    }
    // Read buffers are freed when the collector runs. A line kept whole would take twice its size.
    expect(most - before).toBeLessThan(128);
  });
});

function groupOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[2]);
}

function childrenOf(parent: number): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return (
        Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1]) === parent
      );
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}
