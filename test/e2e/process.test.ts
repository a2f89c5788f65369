import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { version } from "../../src/base/version.ts";
import { modern } from "../servers/client.ts";
import {
  buildTestCli,
  type ProcessClient,
  residentMegabytes,
  runCli,
  spawnHall,
} from "../servers/process.ts";
import { said } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/** The real command line in a process of its own, where only that shows: signals, exit codes, streams, memory. */
let cli: string;

beforeAll(async () => {
  cli = await buildTestCli();
});

describe("guildhall mcp", () => {
  test("serves both eras with the tools it is built with, and ends with 0 when its input ends", async () => {
    await using hall = spawnHall();
    expect(await hall.greet()).toMatchObject({
      serverInfo: { name: "guildhall", version },
      _meta: { resources_count: 3, prompts_count: 10 },
    });
    const difference = {
      name: "time_tool.time_difference",
      arguments: { start_time: "2026-11-15T00:00:00Z", end_time: "2026-11-15T01:30:00Z" },
    };
    expect(await hall.result("tools/call", difference)).toMatchObject({
      structuredContent: { difference: 1.5, unit: "hours" },
    });
    expect(await hall.result("tools/call", modern(difference))).toMatchObject({
      resultType: "complete",
      structuredContent: { difference: 1.5 },
    });
    hall.child.stdin.end();
    expect(await hall.exited).toEqual({ code: 0, signal: null });
    expect(hall.output.stderr).toBe("");
  });

  test("answers everything that was asked before its input ended", async () => {
    await using hall = spawnHall([], { cli });
    await hall.greet();
    const waiting = hall.ask("tools/call", { name: "slow.wait", arguments: { ms: 200 } });
    const ids = Array.from({ length: 500 }, (_, n) =>
      hall.ask("tools/call", { name: "echo.echo", arguments: { n } }),
    );
    hall.child.stdin.end();
    expect(await hall.exited).toEqual({ code: 0, signal: null });
    expect(said(await hall.answer(waiting))).toBe("waited");
    const answers = await Promise.all(ids.map((id) => hall.answer(id)));
    expect(answers.map(said)).toEqual(ids.map((_, n) => JSON.stringify({ n })));
    expect(hall.unread).toEqual([]);
  });

  test("ends with 0 after shutdown and exit", async () => {
    await using hall = spawnHall();
    await hall.greet();
    expect(await hall.request("shutdown")).toMatchObject({ result: null });
    hall.notify("exit");
    expect(await hall.exited).toEqual({ code: 0, signal: null });
  });

  test("ends when its answers cannot be read any more", async () => {
    await using hall = spawnHall([], { cli });
    await hall.greet();
    hall.child.stdout.destroy();
    hall.ask("tools/call", { name: "noisy.large", arguments: { bytes: 1_000_000 } });
    expect(await hall.exited).toEqual({ code: 0, signal: null });
  });

  test("writes only the protocol to stdout, even if a tool prints, and survives uncaught errors", async () => {
    await using hall = spawnHall([], { cli });
    await hall.greet();
    expect(said(await hall.request("tools/call", { name: "noisy.shout" }))).toBe("shouted");
    expect(said(await hall.request("tools/call", { name: "noisy.crash" }))).toBe("crashing");
    await until(() => (hall.output.stderr.match(/nobody caught this/g)?.length ?? 0) >= 2);
    hall.send("{");
    expect(await hall.next()).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await hall.request("ping")).toMatchObject({ result: {} });
    hall.child.stdin.end();
    await hall.exited;
    const lines = hall.output.stdout.split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line).jsonrpc)).toEqual(lines.map(() => "2.0"));
    expect(lines).toHaveLength(5);
    expect(hall.output.stderr).toContain("on stdout?");
    expect(hall.output.stderr).toContain("nobody caught this either");
  });

  test("with --static declares that its lists do not change", async () => {
    await using hall = spawnHall(["--static"]);
    const fixed = { listChanged: false };
    expect(await hall.greet()).toMatchObject({
      capabilities: { tools: fixed, resources: fixed, prompts: fixed },
    });
  });
});

describe("a signal", () => {
  test("lets a call that runs be answered, turns new ones away, and then ends the process with 0", async () => {
    await using hall = spawnHall([], { cli });
    await hall.greet();
    await hall.result("tools/call", { name: "echo.echo" });
    const id = hall.ask("tools/call", { name: "slow.wait", arguments: { ms: 700 } });
    await hall.request("ping");
    hall.kill("SIGTERM");
    await untilRefused(hall);
    expect(await hall.request("tools/call", { name: "echo.echo" })).toMatchObject({
      result: { isError: true, structuredContent: { error_type: "unavailable" } },
    });
    expect(said(await hall.answer(id))).toBe("waited");
    expect(await hall.exited).toEqual({ code: 0, signal: null });
  });

  test.each([
    ["SIGTERM", "SIGTERM"],
    ["SIGINT", "SIGTERM"],
  ] as const)(
    "%s followed by %s answers running calls with an error and ends",
    async (first, second) => {
      await using hall = spawnHall([], { cli });
      await hall.greet();
      const ids = Array.from({ length: 10 }, (_, n) =>
        hall.ask("tools/call", { name: n % 2 === 0 ? "slow.wait" : "slow.deaf" }),
      );
      await hall.request("ping");
      hall.kill(first);
      await untilRefused(hall);
      expect(hall.child.exitCode).toBeNull();
      hall.kill(second);
      expect(await hall.exited).toEqual({ code: 0, signal: null });
      for (const id of ids) {
        expect(await hall.answer(id)).toMatchObject({
          result: {
            isError: true,
            structuredContent: { error_type: "unavailable", message: "the hall is shutting down" },
          },
        });
      }
    },
  );

  test("ends a standing subscription with its result", async () => {
    await using hall = spawnHall();
    const id = hall.ask(
      "subscriptions/listen",
      modern({ notifications: { toolsListChanged: true } }),
    );
    await hall.heard("notifications/subscriptions/acknowledged");
    hall.kill("SIGTERM");
    expect(await hall.answer(id)).toMatchObject({ result: { resultType: "complete" } });
    expect(await hall.exited).toEqual({ code: 0, signal: null });
  });

  test("given again ends the process although its client does not read", async () => {
    await using hall = spawnHall([], { cli });
    await hall.greet();
    hall.child.stdout.pause();
    for (let n = 0; n < 10; n++)
      hall.ask("tools/call", { name: "noisy.large", arguments: { bytes: 300_000 } });
    await until(() => hall.child.stdout.readableLength > 0, "answers wait to be read");
    const hasEnded = (): boolean => hall.child.exitCode !== null || hall.child.signalCode !== null;
    await until(() => {
      hall.kill("SIGTERM");
      return hasEnded();
    }, "the process ends");
    expect(hasEnded()).toBe(true);
  });

  /** The process has handled the signal once it refuses requests. */
  async function untilRefused(hall: ProcessClient): Promise<void> {
    await until(async () => (await hall.request("ping")).error, "requests are refused");
  }
});

test("a client that never reads is not read from any more, and the hall stays small", async () => {
  await using hall = spawnHall([], { cli });
  const { pid = 0, stdin, stdout } = hall.child;
  await hall.result("tools/call", modern({ name: "noisy.large", arguments: { bytes: 1 } }));
  stdout.pause();
  const before = residentMegabytes(pid);
  // 20,000 calls would be answered with 400 MB.
  for (let sent = 0; sent < 20_000; sent++) {
    hall.ask("tools/call", modern({ name: "noisy.large", arguments: { bytes: 20_000 } }));
    if (sent % 100 === 0) await nextTurn();
  }
  let [waiting, unchanged] = [0, 0];
  await until(() => {
    unchanged = stdin.writableLength === waiting ? unchanged + 1 : 0;
    waiting = stdin.writableLength;
    return unchanged === 50;
  }, "the input is not read any more");
  expect(waiting).toBeGreaterThan(0);
  // Garbage that was not collected yet counts too: up to 120 MB on Node 24.
  expect(residentMegabytes(pid) - before).toBeLessThan(200);
});

describe.concurrent("the command line", () => {
  test("prints its version", async () => {
    expect(await runCli(["--version"])).toEqual({
      code: 0,
      signal: null,
      stdout: `${version}\n`,
      stderr: "",
    });
  });

  test("helps", async () => {
    const { code, stdout, stderr } = await runCli(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: guildhall \[options\] \[command\]\n/);
    for (const words of [
      "mcp [options]",
      "-V, --version",
      "-h, --help",
      "Examples:",
      "$ guildhall mcp",
    ])
      expect(stdout).toContain(words);
    const help = await runCli(["mcp", "--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    for (const option of ["--expose <faces>", "--static", "--log-level <level>", "Examples:"])
      expect(help.stdout).toContain(option);
  });

  test.each([
    [
      "an unknown command",
      ["xyzzyxy"],
      'guildhall: unknown command "xyzzyxy"\n  Run it with --help for usage and examples.\n',
    ],
    ["a mistyped command", ["mpc"], 'unknown command "mpc"; did you mean mcp?\n'],
    ["an unknown option", ["mcp", "--nope"], 'guildhall: unknown option "--nope"\n'],
    ["an argument too many", ["mcp", "extra"], 'too many arguments for "mcp"; it takes none\n'],
    [
      "an option without its value",
      ["mcp", "--expose"],
      'guildhall: option "--expose <faces>" argument missing\n',
    ],
    [
      "a face there is not",
      ["mcp", "--expose", "tools,nope"],
      'unknown face "nope" (expected: tools',
    ],
    ["no face", ["mcp", "--expose", ""], 'unknown face "" (expected: tools'],
    [
      "a log level there is not",
      ["mcp", "--log-level", "loud"],
      'unknown log level "loud" (expected: trace, debug, info, warn, error, silent)',
    ],
  ])("refuses %s with 2 and says why on stderr", async (_, args, words) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(words);
  });

  test.each([
    ["is not JSON", "{", /guildhall\.json/],
    ["is no object", "[]", /guildhall\.json/],
    [
      "has a field nobody knows",
      '{"expos":"tools"}',
      /guildhall\.json.*"?expos"?.*did you mean "expose"/s,
    ],
    ["has a field of the wrong type", '{"expose":5}', /guildhall\.json.*expose/s],
  ])("refuses a config that %s with 78 and names file and field", async (_, config, words) => {
    const cwd = mkdtempSync(join(tmpdir(), "guildhall-config-"));
    try {
      writeFileSync(join(cwd, "guildhall.json"), config);
      const { code, stdout, stderr } = await runCli(["mcp"], { cwd });
      expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
      expect(stderr).toMatch(words);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});
