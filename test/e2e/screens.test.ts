import { execFile } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { version } from "../../src/base/version.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { buildTestCli } from "../servers/process.ts";
import { openTerminal } from "../servers/terminal.ts";
import { faultyFile } from "../servers/upstreams.ts";

/** The screens of a project with a good server and three bad ones, on pseudo terminals that `script` makes. */
const run = promisify(execFile);
let home: Home;
let cli: string;

beforeAll(async () => {
  cli = await buildTestCli();
  home = makeHome();
  terminalEnv = { ...home.env, PATH: `${home.path}/bin:/usr/bin:/bin`, TERM: "xterm-256color" };
  // Programs with paths of the same length everywhere, so that lines break at the same places.
  const notes = writeProgram("notes-server", "resources prompts told");
  const billing = writeProgram("billing-server", "crash-start stderr=licence");
  home.write("~/.cursor/mcp.json", {
    mcpServers: {
      notes: { command: notes, args: ["--root", "/srv/notes/of/the/whole/team"] },
      "billing-and-invoices": { command: billing },
    },
  });
  home.write("~/.claude.json", {
    mcpServers: {
      thinking: { command: "no-such-program-anywhere", args: ["--verbose"] },
      tickets: { command: notes, args: ["--key", `\${GUILDHALL_TEST_UNSET}`] },
    },
  });
});
afterAll(() => {
  home[Symbol.dispose]();
});

let terminalEnv: NodeJS.ProcessEnv;

function writeProgram(name: string, words: string): string {
  const line = `exec '${process.execPath}' '${faultyFile}' ${words}`;
  const file = home.write(`~/bin/${name}`, `#!/bin/sh\n${line}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** By name: the command, and how to come back to where it was the first time. */
const screens: Readonly<Record<string, { readonly line: string; reset?(): Promise<unknown> }>> = {
  init: {
    line: "init --yes",
    reset: async () => rmSync(home.locate("./guildhall.json"), { force: true }),
  },
  verify: { line: "verify --yes", reset: () => home.run(cli, ["trust", "reset", "--yes"]) },
  build: { line: "build --yes", reset: () => home.run(cli, ["build", "--yes"]) },
  status: { line: "status" },
  list: { line: "list" },
  guildhall: { line: "" },
  resources: { line: "resources" },
  doctor: { line: "doctor" },
};

const variants = [
  { columns: 80, colours: "coloured", env: {} },
  { columns: 120, colours: "plain", env: { NO_COLOR: "1" } },
];

describe.each(Object.entries(screens))("the screen of guildhall %s", (name, { line, reset }) => {
  test.each(variants)("fits $columns columns, $colours", async ({ columns, colours, env }) => {
    await reset?.();
    const screen = steady(await show(line, columns, env));
    await expect(screen).toMatchFileSnapshot(`../golden/screens/${name}-${columns}-${colours}.txt`);
    // Only what is there to be copied, and what has no space in it, may be longer.
    const long = stripVTControlCharacters(screen.replaceAll("\\e", "\u001b"))
      .split("\n")
      .filter((each) => each.length > columns && !/^ *(Run it by hand|export|\S+$)/.test(each));
    expect(long).toEqual([]);
  });
});

describe("the lists of a review", () => {
  test.each(variants)("fit $columns columns, $colours", async ({ columns, colours, env }) => {
    rmSync(home.locate("./guildhall.json"), { force: true });
    await home.run(cli, ["trust", "reset", "--yes"]);
    await using terminal = openTerminal([process.execPath, cli, "init"], {
      folder: home.project,
      env: { ...terminalEnv, ...env },
      columns,
    });
    await terminal.shows("q: stop");
    const found = terminal.raw();
    terminal.type("\r");
    await terminal.shows("What these servers offer");
    await terminal.shows("q: stop");
    const offered = terminal.raw().slice(terminal.raw().indexOf("What these servers offer"));
    terminal.type("q");
    await terminal.ended;
    const screen = steady(`${found}\n\n${offered}\n`.replaceAll("\r\n", "\n"));
    await expect(screen).toMatchFileSnapshot(`../golden/screens/review-${columns}-${colours}.txt`);
    const lines = stripVTControlCharacters(screen.replaceAll("\\e", "\u001b")).split("\n");
    expect(lines.filter((each) => each.length > columns)).toEqual([]);
  });
});

/** What a command prints on a terminal of this width. Progress goes to stderr, in no fixed order. */
async function show(line: string, columns: number, env: NodeJS.ProcessEnv): Promise<string> {
  const sized = `stty cols ${columns} rows 40; '${process.execPath}' '${cli}' ${line} 2>/dev/null; true`;
  const { stdout } = await run("script", ["-qec", sized, "/dev/null"], {
    cwd: home.project,
    env: { ...terminalEnv, SHELL: "/bin/sh", ...env },
  });
  return stdout.replaceAll("\r\n", "\n");
}

/** Takes out what differs from run to run; `\e` is the escape character. */
function steady(screen: string): string {
  return screen
    .replaceAll(home.path.slice(-6), "XXXXXX")
    .replaceAll(version, "VERSION")
    .replace(/\b\d\.\d s\b/g, "N.N s")
    .replace(/\(20\d*(-[\d :-]*)?/g, "(DATE")
    .replaceAll("\u001b", "\\e");
}
