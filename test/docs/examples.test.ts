import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { makeConfigFolder } from "../config/folder.ts";
import { type Example, examplesIn, readPages } from "./pages.ts";
import { Workplace } from "./workplace.ts";

let workplace: Workplace;

beforeAll(async () => {
  workplace = new Workplace();
  await workplace.prepare({
    place: "docs/authoring.md:1",
    language: "js",
    text: "",
    needs: new Map([
      ["project", "reviewed"],
      ["file", "speech.js"],
      ["hall", ""],
    ]),
  });
});

afterAll(() => workplace[Symbol.asyncDispose]());

describe("every config of the documentation loads", () => {
  const configs = examplesIn("json", "jsonc", "toml").filter(
    ({ needs }) => !needs.has("registration") && !needs.has("output"),
  );

  test.each(configs)("$place", async ({ language, text, needs }) => {
    using folder = makeConfigFolder();
    const file = language === "toml" ? "guildhall.toml" : "guildhall.json";
    folder.write(needs.get("config") === "user" ? "user" : file, text);
    // Long enough for a key.
    const value = "value".repeat(8);
    const names = [...text.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => [name, value]);
    const { unusable, warnings } = await folder.load({ env: Object.fromEntries(names) });
    expect({ unusable, warnings }).toEqual({ unusable: {}, warnings: [] });
  });
});

describe("every output of the documentation is what the command prints", () => {
  const outputs = examplesIn("json").filter(({ needs }) => needs.has("output"));

  test.each(outputs)("$place", async ({ text, needs }) => {
    const { stdout } = await workplace.run("guildhall", needs.get("output")?.split(",") ?? []);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(text));
  });
});

describe("every program of the documentation runs", () => {
  test.each(examplesIn("js", "ts"))("$place", async (example) => {
    workplace.home.write(
      "./example.js",
      example.text.replace("http://127.0.0.1:8080", workplace.url),
    );
    const { code, stdout, stderr } = await workplace.run("node", ["example.js"], inputFor(example));
    expect(code, stderr).toBe(0);
    if (example.needs.has("stdio")) expect(stdout).toContain('"name":"shout"');
  });

  test.each(examplesIn("python"))("$place", async ({ text }) => {
    workplace.home.write("./example.py", text.replace("http://127.0.0.1:8080", workplace.url));
    const { code, stdout, stderr } = await workplace.run("python3", ["example.py"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toBe("memory_put_v1\n");
  });

  test.each(examplesIn("javascript"))("$place", async ({ text }) => {
    workplace.home.write("./example.js", text);
    const { code, stdout, stderr } = await workplace.run("guildhall", ["js", "example.js"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/2 issues[\s\S]*A typo in the manual[\s\S]*Crash on start/);
  });

  test.each(examplesIn("lisp").filter(isSaved))("$place", async ({ text, needs }) => {
    const name = needs.get("saved") ?? "";
    workplace.home.write(`./.guildhall/tools/${name}.lisp`, text);
    expect(await workplace.run("guildhall", ["verify", "--yes"])).toMatchObject({ code: 0 });
    const tool = `programs.${name.replaceAll("-", "_")}`;
    const { stdout } = await workplace.run("guildhall", ["call", tool, "week=2026-W47"]);
    expect(stdout).toContain("A slow list");
  });

  const programs = examplesIn("lisp").filter((example) => !isSaved(example));
  test.each(programs)("$place", async ({ text }) => {
    workplace.home.write("./example.lisp", text);
    const { code, stdout, stderr } = await workplace.run("guildhall", ["lisp", "example.lisp"]);
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toContain("18446744073709551616");
  });
});

test("lines for other programs are those that serve prints", async () => {
  const printed = await servePrints();
  const spans = readPages().flatMap(({ text }) => [...text.matchAll(/`([^`\n]+)`/g)]);
  const lines = spans
    .map(([, span = ""]) => span)
    .filter((span) => /^(claude|codex|code) |^\{"mcpServers":\{"guildhall"/.test(span));
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) expect(printed).toContain(line);
});

test("every command in running text exists, with its options", () => {
  for (const { name, text } of readPages()) {
    const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
    for (const [span, words = ""] of prose.matchAll(/`guildhall ([a-z][^`\n]*)`/g))
      expect(unknownIn(words.split(" ")), `${name}: ${span}`).toEqual([]);
  }
});

function isSaved({ needs }: Example): boolean {
  return needs.has("saved");
}

/** What an MCP client would send to a server on stdio. */
function inputFor({ needs }: Example): string {
  if (!needs.has("stdio")) return "";
  const clientInfo = { name: "docs", version: "1" };
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const messages = [
    { id: 1, method: "initialize", params: hello },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
  ];
  return messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
}

/** The output of `serve`, as if it listened on 8080, came from /path/to/guildhall, and had no project. */
async function servePrints(): Promise<string> {
  await using other = new Workplace();
  const { stdout } = await other.runLine("guildhall serve", new Map());
  return stdout
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080")
    .replace(/[^ "]+\/dist\/cli\.js/g, "/path/to/guildhall/dist/cli.js")
    .replaceAll(` --folder ${other.home.project}`, "")
    .replaceAll(process.execPath, "node");
}

/** Words that are neither a command nor an option of it. */
function unknownIn(words: readonly string[]): readonly string[] {
  const program = createProgram();
  let command = program;
  let isFound = false;
  for (const word of words) {
    const inner = command.commands.find((one) => one.name() === word);
    if (!inner) break;
    command = inner;
    isFound = true;
  }
  const options = [...program.options, ...command.options].flatMap(({ long, short }) => [
    long,
    short,
  ]);
  // Words after `--` belong to another program.
  const ours = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const unknown = ours.filter((word) => word.startsWith("--") && !options.includes(word));
  return isFound ? unknown : [words[0] ?? "", ...unknown];
}
