import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CommandLine, makeCommandLine } from "../servers/command-line.ts";

function makeProject(): CommandLine {
  const line = makeCommandLine();
  const tools = ["echo", "erase", "$(touch pwned)", "`id`"].map((name) => ({
    name,
    inputSchema: {},
  }));
  const offer = { tools, resources: [], templates: [], prompts: [] };
  const base = { source: "", era: "legacy", protocol: "", info: {}, capabilities: {}, pins: {} };
  mkdirSync(join(line.root, "repo", ".guildhall"), { recursive: true });
  mkdirSync(join(line.root, "repo", ".git"));
  mkdirSync(join(line.root, "repo", "src"));
  writeFileSync(
    join(line.root, "repo", ".guildhall", "tools.lock.json"),
    JSON.stringify({ lockVersion: 1, servers: { files: { ...base, offer } } }),
  );
  writeFileSync(
    join(line.root, "repo", "guildhall.json"),
    '{"mcpServers": {"files": {"command": "no-such-program", "prefix": "f"}, "x;id": {}}}',
  );
  return line;
}

test("commands, subcommands, flags, servers and tools are completed, also below the project's folder", async () => {
  using line = makeProject();
  const complete = async (...words: string[]): Promise<readonly string[]> =>
    (await line.run("repo/src", "__complete", ...words)).stdout.split("\n").filter(Boolean);
  expect(await complete("dis")).toEqual(["disable"]);
  expect(await complete("disable", "")).toEqual(["files"]);
  expect(await complete("call", "f.e")).toEqual(["f.echo", "f.erase"]);
  expect(await complete("groups", "m")).toEqual(["move"]);
  expect(await complete("groups", "create", "mine", "f.echo", "f.er")).toEqual(["f.erase"]);
  expect(await complete("trust", "f")).toEqual(["files", "f.echo", "f.erase"]);
  expect(await complete("build", "--r")).toEqual(["--regroup"]);
  expect(await complete("install", "cu")).toEqual(["cursor"]);
  expect(await complete("nonsense", "")).toEqual([]);
});

test("the script for bash completes the program's answers, and never runs names from a clone", async () => {
  using line = makeProject();
  const script = (await line.run("repo", "completion", "bash")).stdout;
  const { stdout } = await line.run("repo", "__complete", "call", "f.");
  const typed = `guildhall() { printf '%s' '${stdout}'; }
${script}
COMP_WORDS=(guildhall call f.); COMP_CWORD=2; _guildhall
printf '%s\\n' "\${COMPREPLY[@]}"; complete -p guildhall`;
  const said = execFileSync("bash", ["-ec", typed], { encoding: "utf8" });
  expect(said).toBe("f.echo\nf.erase\ncomplete -o default -F _guildhall guildhall\n");
  expect(await line.run("repo", "completion", "tcsh")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("expected: bash, zsh, fish"),
  });
});

test("guildhall alone prints in six lines the project, its problems and the next step", async () => {
  using line = makeProject();
  writeFileSync(
    join(line.root, "repo", "guildhall.json"),
    '{"mcpServers": {"files": {"command": "node"}, "old": {"command": "node", "disabled": true}}}',
  );
  const { exit, stdout } = await line.run("repo/src");
  expect(exit).toBe(0);
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(/^Guildhall \S+ in \S*repo$/),
    "Servers: 1 disabled, 1 held; 4 tools",
    "Hall:    not running; a client or `guildhall serve` starts it",
    "Issues:  held until you review them: files",
    "Next:    guildhall verify",
    "Help:    guildhall --help",
    "",
  ]);
});

test("guildhall --json prints the same as data, and so does a usage error", async () => {
  using line = makeProject();
  writeFileSync(join(line.root, "repo", "guildhall.json"), '{"mcpServers": {"files": {}}}');
  const { exit, stdout } = await line.run("repo", "--json");
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ folder: join(line.root, "repo"), next: ["doctor"] });
  const ended = await line.run("repo", "buld", "--json");
  expect(ended.stderr).toBe(
    'guildhall: unknown command "buld"; did you mean build?\n  Run it with --help for usage and examples.\n',
  );
  expect(JSON.parse(ended.stdout)).toMatchObject({
    error: { code: "USAGE", message: 'unknown command "buld"; did you mean build?' },
  });
});

test("a program that is missing is one problem for doctor", async () => {
  using line = makeProject();
  writeFileSync(
    join(line.root, "repo", "guildhall.json"),
    '{"mcpServers": {"files": {"command": "no-such-program"}}}',
  );
  const { stdout } = await line.run("repo", "doctor", "files");
  expect(stdout).toContain('program "no-such-program" not found');
  expect(stdout.match(/^ {2}✘/gm)).toHaveLength(1);
});

test("a held server that was never started is built, not only reviewed", async () => {
  using line = makeProject();
  const server = '{"command": "node"}';
  writeFileSync(
    join(line.root, "repo", "guildhall.json"),
    `{"mcpServers": {"files": ${server}, "other": ${server}}}`,
  );
  expect((await line.run("repo")).stdout).toContain("\nNext:    guildhall build\n");
  expect((await line.run("repo", "list")).stdout).toContain("run `guildhall build`");
  const { stderr } = await line.run("repo", "call", "other.read");
  expect(stderr).toContain("No tools of other are known.");
  expect(stderr).toContain("Run: guildhall build other");
});

test("a misspelled server of a tool leads to the list of tools", async () => {
  using line = makeProject();
  writeFileSync(join(line.root, "repo", "guildhall.json"), '{"builtin": "all"}');
  const { stderr } = await line.run("repo", "call", "time_tol.current_time");
  expect(stderr).toContain("did you mean time_tool.current_time");
  expect(stderr).toContain("Run: guildhall tools");
});

test("a broken policy file and a module that is not loaded are named as issues", async () => {
  using line = makeProject();
  const { root } = line;
  writeFileSync(join(root, "repo", "guildhall.json"), '{"toolkits": ["tools/*.js"]}');
  mkdirSync(join(root, "repo", "tools"));
  writeFileSync(join(root, "repo", "tools", "speech.js"), "export default {};");
  const { stdout } = await line.run("repo");
  expect(stdout).toMatch(/^Issues: {2}not loaded: tools\/speech.js$/m);
  expect(stdout).toContain("\nNext:    guildhall doctor\n");
  const { stderr } = await line.run("repo", "call", "speech.shout");
  expect(stderr).toContain("tools/speech.js: not loaded: new or changed");
  expect(stderr).toContain("Run: guildhall doctor");

  mkdirSync(join(root, "repo", ".guildhall", "policies"));
  writeFileSync(join(root, "repo", ".guildhall", "policies", "bad.cedar"), "forbid (nobody);");
  const [overview, status] = [await line.run("repo"), await line.run("repo", "status")];
  expect(overview.stdout).toMatch(/^Issues: {2}the policies deny everything: .*bad\.cedar/m);
  expect(overview.stdout).toContain("\nNext:    guildhall policy check\n");
  expect(status.stdout).toContain("cannot be used: any tool: the policies deny everything");
});

test("before a review, status shows a server as held and build names the review as the next step", async () => {
  using line = makeProject();
  writeFileSync(
    join(line.root, "repo", "guildhall.json"),
    '{"mcpServers": {"files": {"command": "node"}}}',
  );
  expect((await line.run("repo", "status")).stdout).toMatch(/^files {2,}held {2,}/m);
  const { stdout } = await line.run("repo", "build");
  expect(stdout).toMatch(/\nNext:\n {2}guildhall verify +review what is held\n/);
});
