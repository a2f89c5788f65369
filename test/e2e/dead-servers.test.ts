// Servers that do not answer: commands without a hall neither start them nor wait for them.
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Home, makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const faulty = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));

let home: Home;
const started = (name: string): string => home.locate(`~/started-${name}`);

beforeAll(async () => {
  home = makeHome();
  const dead = (name: string): object => ({
    command: "sh",
    args: ["-c", `[ -e ${home.path}/ready ] && touch ${started(name)}; exit 1`],
  });
  home.write("./guildhall.json", {
    builtin: "all",
    mcpServers: {
      box: { command: process.execPath, args: [faulty, "tools=1"] },
      first: dead("first"),
      second: { ...dead("second"), start: "eager" },
      third: dead("third"),
    },
  });
  expect((await home.run(cli, ["build", "--yes"])).stdout).toContain("1 of 4 servers answered");
  home.write("~/ready", "");
});
afterAll(() => home[Symbol.dispose]());

const note = "note: no tools of first, second, third are known yet; run `guildhall build`";

test.each([
  { line: "tools", output: "box.echo", noted: "stderr" },
  { line: "tools echo", output: "box.echo", noted: "stderr" },
  { line: "resources", output: "", noted: "stderr" },
  { line: "prompts", output: "", noted: "stderr" },
  { line: "status", output: "box", noted: "stdout" },
  { line: "tools show box.echo", output: "box.echo" },
  { line: "call box.echo", output: "" },
  { line: "call calculator.calculate expression=1+1", output: "2" },
] as const)("`guildhall $line` starts none of them", async ({ line, output, ...rest }) => {
  const ran = await home.run(cli, line.split(" "));
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(output) });
  if ("noted" in rest) expect(ran[rest.noted]).toContain(note);
  expect(["first", "second", "third"].filter((name) => existsSync(started(name)))).toEqual([]);
});

test("`guildhall ask` starts none of them", async () => {
  const { stderr } = await home.run(cli, ["ask", "what is 1+1?"]);
  expect(stderr).toContain(note);
  expect(["first", "second", "third"].filter((name) => existsSync(started(name)))).toEqual([]);
});

test("a call of one of them starts that one alone", async () => {
  const { code, stderr } = await home.run(cli, ["call", "third.anything"]);
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining("third")]);
  expect(code).not.toBe(0);
  expect(["first", "second", "third"].filter((name) => existsSync(started(name)))).toEqual([
    "third",
  ]);
});

test("`guildhall doctor NAME` checks that one alone", async () => {
  const { code, stdout } = await home.run(cli, ["doctor", "box", "--json"]);
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(["box"]);
  expect((await home.run(cli, ["doctor", "boks"])).stderr).toContain("did you mean box?");
});

test("`guildhall add` of one says in a few lines that it does not answer", async () => {
  const { code, stdout, stderr } = await home.run(cli, ["add", "fourth", "--yes", "--", "false"]);
  expect(code).toBe(69);
  expect(stdout).toMatch(/^added fourth to guildhall\.json: .*\n$/);
  expect(stderr.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^✘ fourth: /),
    "guildhall: fourth did not answer",
    "  Run: guildhall doctor fourth",
  ]);
});

test("a call of a server that was not reviewed says so for all arguments", async () => {
  rmSync(home.locate("~/.local/share/guildhall/trust"), { recursive: true });
  const { code, stderr } = await home.run(cli, ["call", "box.echo", "nonsense=1"]);
  expect(code).toBe(77);
  expect(stderr).toContain("has not been reviewed");
  expect(stderr).toContain("guildhall verify box");
  expect(stderr).not.toContain("nonsense");
});
