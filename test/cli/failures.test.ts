import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorTable } from "../../src/base/errors.ts";
import { explainToPerson } from "../../src/cli/exit.ts";
import { createProgram } from "../../src/cli/program.ts";
import { type CommandLine, type Ended, makeCommandLine } from "../servers/command-line.ts";

/**
 * How commands end when they fail: the same for a person, for a program that asked for JSON, and
 * for a script that looks at the exit code.
 */
let line: CommandLine;
beforeAll(() => {
  line = makeCommandLine();
  for (const [folder, config] of [
    ["sound", {}],
    ["broken", { timeoutSeconds: "soon" }],
  ] as const) {
    mkdirSync(join(line.root, folder));
    writeFileSync(join(line.root, folder, "guildhall.json"), JSON.stringify(config));
  }
});
afterAll(() => line[Symbol.dispose]());

const run = (folder: string, args: readonly string[]): Promise<Ended> => line.run(folder, ...args);

/** In which folder, what is typed, and what it ends with. */
const failing: readonly (readonly [folder: string, line: string, code: string, exit: number])[] = [
  ["sound", "serve --port many", "INVALID_PARAMS", 2],
  ["sound", "init --from nobody", "NOT_FOUND", 66],
  ["sound", "install nobody", "NOT_FOUND", 66],
  ["sound", "uninstall nobody", "NOT_FOUND", 66],
  ["sound", "add files --url nothing", "VALIDATION", 2],
  ["sound", "remove github", "NOT_FOUND", 66],
  ["sound", "enable github", "NOT_FOUND", 66],
  ["sound", "disable github", "NOT_FOUND", 66],
  ["broken", "list", "CONFIG", 78],
  ["sound", "build --planner nobody", "INVALID_PARAMS", 2],
  ["broken", "status", "CONFIG", 78],
  ["sound", "start --port many", "INVALID_PARAMS", 2],
  ["sound", "stop extra", "USAGE", 2],
  ["sound", "open extra", "USAGE", 2],
  ["sound", "service install extra", "USAGE", 2],
  ["sound", "service remove extra", "USAGE", 2],
  ["sound", "logs github", "NOT_FOUND", 66],
  ["sound", "restart github", "UNAVAILABLE", 69],
  ["sound", "login github", "NOT_FOUND", 66],
  ["sound", "logout github", "NOT_FOUND", 66],
  ["sound", "doctor", "NOT_FOUND", 66],
  ["sound", "verify github", "NOT_FOUND", 66],
  ["sound", "diff github", "NOT_FOUND", 66],
  ["sound", "trust github", "NOT_FOUND", 66],
  ["sound", "trust all", "INVALID_PARAMS", 2],
  ["broken", "trust list", "CONFIG", 78],
  ["sound", "trust list github", "NOT_FOUND", 66],
  ["sound", "trust reset", "INVALID_PARAMS", 2],
  ["sound", "revoke github", "NOT_FOUND", 66],
  ["sound", "approvals", "UNAVAILABLE", 69],
  ["sound", "approve 3f9c0b7ad1e24c55a8b6d012", "UNAVAILABLE", 69],
  ["sound", "token create local", "INVALID_PARAMS", 2],
  ["broken", "token show", "CONFIG", 78],
  ["sound", "token list extra", "USAGE", 2],
  ["sound", "secret set 1x", "INVALID_PARAMS", 2],
  ["sound", "secret list extra", "USAGE", 2],
  ["sound", "secret remove NONE", "NOT_FOUND", 66],
  ["sound", "token revoke nobody", "NOT_FOUND", 66],
  ["broken", "tools", "CONFIG", 78],
  ["sound", "tools show no.such_tool", "NOT_FOUND", 66],
  ["sound", "tools disable github.delete_*", "NOT_FOUND", 66],
  ["sound", "tools enable github.delete_*", "NOT_FOUND", 66],
  ["sound", "expose nothing", "INVALID_PARAMS", 2],
  ["sound", "lisp no-such-file.lisp", "NOT_FOUND", 66],
  ["sound", "js no-such-file.js", "NOT_FOUND", 66],
  ["sound", "call no.such_tool", "NOT_FOUND", 66],
  ["sound", "call calculator.calculate expression=1/0", "EXECUTION", 1],
  ["sound", "register no-such-file.json", "NOT_FOUND", 66],
  ["sound", "unregister nobody", "UNAVAILABLE", 69],
  ["broken", "resources", "CONFIG", 78],
  ["broken", "prompts", "CONFIG", 78],
  ["sound", "ask something", "NOT_FOUND", 66],
  ["sound", "groups list", "NOT_FOUND", 66],
  ["sound", "groups show x", "NOT_FOUND", 66],
  ["sound", "groups create x y", "NOT_FOUND", 66],
  ["sound", "groups move x y", "NOT_FOUND", 66],
  ["sound", "groups rename x y", "NOT_FOUND", 66],
  ["sound", "groups explain x", "NOT_FOUND", 66],
  ["sound", "runs list --limit many", "INVALID_PARAMS", 2],
  ["sound", "runs show run_x", "NOT_FOUND", 66],
  ["sound", "runs replay run_x", "NOT_FOUND", 66],
  ["sound", "models test", "NOT_FOUND", 66],
  ["broken", "spec list", "CONFIG", 78],
  ["sound", "spec new x --number many", "INVALID_PARAMS", 2],
  ["sound", "spec update x --feature 7", "NOT_FOUND", 66],
  ["sound", "spec run nonsense", "INVALID_PARAMS", 2],
  ["sound", "spec status 7", "NOT_FOUND", 66],
  ["sound", "spec resume 7", "NOT_FOUND", 66],
  ["sound", "stats --since soon", "INVALID_PARAMS", 2],
  ["sound", "audit --since soon", "INVALID_PARAMS", 2],
  ["sound", "audit --outcome foo", "INVALID_PARAMS", 2],
  ["broken", "policy list", "CONFIG", 78],
  ["broken", "policy check", "CONFIG", 78],
  ["broken", "policy explain x y", "CONFIG", 78],
  ["sound", "policy test x", "NOT_FOUND", 66],
  ["broken", "policy publish", "CONFIG", 78],
  ["broken", "sandbox list", "CONFIG", 78],
  ["sound", "sandbox explain x", "NOT_FOUND", 66],
  ["sound", "sandbox learn x", "NOT_FOUND", 66],
  ["broken", "migrate --to postgres://127.0.0.1:1/x", "CONFIG", 78],
  ["broken", "audit verify", "CONFIG", 78],
  ["broken", "audit accept", "CONFIG", 78],
];

describe("with --json a command that fails prints one object with the error", () => {
  test.each(failing)("in a %s project: %s", async (folder, typed, code, exit) => {
    const ended = await run(folder, [...typed.split(" "), "--json"]);
    expect(ended).toMatchObject({ exit, stdout: expect.stringMatching(/^\{\n/) });
    const { error, ...rest } = JSON.parse(ended.stdout) as { error: { message: string } };
    expect(rest).toEqual({});
    expect(error).toMatchObject({ code, exit, message: expect.stringMatching(/\w/) });
    expect(ended.stderr).toContain(error.message);
  });

  test("every command that prints JSON is among them", () => {
    const leaves = (command: Command, path: readonly string[]): readonly string[] => [
      ...(command.options.some(({ long }) => long === "--json") ? [path.join(" ")] : []),
      ...command.commands.flatMap((inner) => leaves(inner, [...path, inner.name()])),
    ];
    const missing = leaves(createProgram(), []).filter(
      (path) => !failing.some(([, typed]) => typed === path || typed.startsWith(`${path} `)),
    );
    expect(missing).toEqual([]);
  });
});

test("without --json, or with one that is another program's, nothing but the message is printed", async () => {
  const plain = await run("sound", ["tools", "show", "no.such_tool"]);
  expect(plain).toMatchObject({
    exit: 66,
    stdout: "",
    stderr: expect.stringContaining('unknown tool "no.such_tool"'),
  });
  expect(await run("sound", ["tui", "--timeout", "never", "--", "--json"])).toMatchObject({
    exit: 2,
    stdout: "",
  });
});

test("errors of the operating system come with advice", async () => {
  mkdirSync(join(line.root, "blocked"));
  writeFileSync(join(line.root, "blocked", "guildhall.json"), "{}");
  writeFileSync(join(line.root, "blocked", ".guildhall"), "a file");
  const blocked = await run("blocked", ["build", "--json"]);
  expect(blocked).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("is a file, not a folder\n  Move or rename it."),
  });
  expect(JSON.parse(blocked.stdout)).toMatchObject({
    error: { code: "VALIDATION", suggestion: "Move or rename it." },
  });
  expect(
    explainToPerson(
      Object.assign(new Error("ENOENT: no such file or directory, uv_cwd"), {
        code: "ENOENT",
        syscall: "uv_cwd",
      }),
    ),
  ).toBe("guildhall: the current directory no longer exists\n  Change to an existing directory.");
});

test("after a file that cannot be used, the advice is about that file", async () => {
  writeFileSync(join(line.root, "sound", "speech.mjs"), 'import { tool } from "guildhall";');
  expect((await run("sound", ["register", "speech.mjs"])).stderr).toContain(
    "Install it beside the file, from its folder or archive: npm install /path/to/guildhall",
  );
  expect((await run("sound", ["policy", "test", "no-such.yaml"])).stderr).toContain(
    'cannot read "no-such.yaml" (ENOENT)\n  Check the path.',
  );
  const { stderr } = await run("sound", ["policy", "publish"]);
  expect(stderr).toMatch(/Set "store\.url" in \S*guildhall\/config\.json\./);
});

test("help is no failure", async () => {
  expect(await run("sound", ["tools", "--json", "--help"])).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining("Usage:"),
  });
});

test("docs/commands.md lists every code a command can exit with", () => {
  const text = readFileSync(new URL("../../docs/commands.md", import.meta.url), "utf8");
  const told = [...text.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  const known = new Set([0, 1, 2, 78, ...Object.values(errorTable).map(({ exit }) => exit)]);
  expect(told).toEqual([...known].sort((a, b) => a - b));
});

test("an unapproved program is held back: the command names the review", async () => {
  const tools = join(line.root, "programs", ".guildhall", "tools");
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(line.root, "programs", "guildhall.json"), "{}");
  writeFileSync(join(tools, "add-up.js"), "// ---\n// description: Adds.\n// ---\n1 + 1\n");
  const held = await run("programs", ["call", "programs__add_up"]);
  expect(held.stderr).toContain("the program add_up is new or has changed; it is held back");
  expect(held.stderr).toContain("guildhall verify");
  expect((await run("programs", ["call", "programs.other"])).stderr).toContain("unknown tool");
});
