/** A clone or an archive decides what is in the place of every file that the hall opens in a project. */
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { clients } from "../../src/hall/import/clients.ts";
import { type Home, makeHome } from "../servers/home.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const recorder = new URL("../servers/opened-files.mjs", import.meta.url).href;
const canary = "sk-canary-of-another-file";
const description =
  "Count the words of every text file in a folder and print the ten longest files";
const feature = "specs/001-words";

const specify = `call speckit.specify ${JSON.stringify({ feature_description: description, spec_directory: feature }).replaceAll(" ", "\u00a0")}`;
const calculate = 'call calculator.calculate {"expression":"1+1"}';
const step = (name: string): string =>
  `call speckit.${name} ${JSON.stringify({ spec_directory: feature })}`;

/** Files of other clients, which `init` reads and `install` writes. */
export const clientFiles = clients
  .flatMap((client) => client.files)
  .filter(({ scope }) => scope === "project")
  .flatMap(({ path }) => (typeof path === "string" ? path.replace("./", "") : []))
  .filter((path) => !path.includes("*"));

/** Every file that the hall opens in a project, and a command that opens it. */
export const files: Readonly<Record<string, string>> = {
  "guildhall.json": "init --yes",
  "guildhall.toml": "tools",
  ...Object.fromEntries(clientFiles.map((path) => [path, "init --yes"])),
  ".cursor/mcp.json": "install cursor --yes",
  "CLAUDE.md": "build --yes",
  "AGENTS.md": "build --yes",
  ".guildhall/instructions.md": "mcp",
  ".guildhall/agents/helper.md": "mcp",
  ".guildhall/policies/team.cedar": "tools",
  ".guildhall/agents.lock.json": "build --yes",
  ".guildhall/tools.lock.json": "build --yes",
  ".guildhall/.gitignore": calculate,
  ".guildhall/state.db": calculate,
  ".guildhall/state.db-wal": "status",
  ".guildhall/state.db-shm": "status",
  ".guildhall/workflow/001-words.json": step("plan"),
  ".specify/feature.json": "spec status",
  ".specify/memory/constitution.md": step("plan"),
  ".specify/templates/spec-template.md": specify,
  [`${feature}/spec.md`]: step("plan"),
  [`${feature}/plan.md`]: step("tasks"),
};

export const folders: Readonly<Record<string, string>> = {
  ".guildhall": "build --yes",
  ".guildhall/agents": "mcp",
  ".guildhall/policies": "tools",
  ".guildhall/logs": step("plan"),
  ".guildhall/workflow": step("plan"),
  ".vscode": "install vscode --yes",
  specs: step("plan"),
};

interface Trial {
  readonly stdout: string;
  readonly stderr: string;
  readonly hasEnded: boolean;
  readonly opened: readonly string[];
  readonly rssMax: number;
}

/** Runs one command, or an MCP session that reads the instructions and all lists. */
export async function run(home: Home, line: string): Promise<Trial> {
  const record = join(home.path, "opened");
  rmSync(record, { force: true });
  const child = spawn(
    process.execPath,
    ["--import", recorder, cli, ...line.split(" ").map((word) => word.replaceAll("\u00a0", " "))],
    {
      cwd: home.project,
      env: { ...home.env, OPENED_FILES: record, SECRET_API_KEY: canary },
    },
  );
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (bytes: Buffer) => {
    output.stdout += bytes;
  });
  child.stderr.on("data", (bytes: Buffer) => {
    output.stderr += bytes;
  });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  if (line === "mcp") {
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`,
    );
    for (const [index, method] of ["tools/list", "prompts/list", "resources/list"].entries())
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: index + 2, method })}\n`);
  }
  child.stdin.end();

  const timer = setTimeout(() => child.kill("SIGKILL"), 100_000);
  const signal = await new Promise((resolve) => child.on("close", (_, name) => resolve(name)));
  clearTimeout(timer);
  const lines = existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : [];
  const sizes = lines.flatMap((text) => /^maxRSS (\d+)$/.exec(text)?.[1] ?? []);
  const opened = lines.filter((text) => text.startsWith(`${home.project}/`));
  return {
    ...output,
    hasEnded: signal === null,
    opened: opened.map((path) => path.slice(home.project.length + 1)),
    rssMax: Math.max(0, ...sizes.map(Number)) * 1024,
  };
}

export function makeProject(): Home {
  return makeHome({
    "./guildhall.json": { expose: "tools" },
    "./.guildhall/agents/helper.md":
      "---\nname: helper\ndescription: Helps with sums.\ntools: calculator.calculate\n---\nHelp.\n",
    "./.guildhall/policies/team.cedar": "// None yet.\n",
    [`./${feature}/spec.md`]: "# Feature Specification: Words\n\nCount words.\n",
    [`./${feature}/plan.md`]: "# Implementation Plan: Words\n\nUse Node.\n",
    "./.specify/memory/constitution.md": "# Constitution\n",
  });
}

/** Things that a repository or an archive may hold in the place of a file or folder. */
export const traps: Readonly<Record<string, (path: string, outside: string) => void>> = {
  "a link to a file": (path, outside) => symlinkSync(join(outside, "precious"), path),
  "a link to nothing": (path, outside) => symlinkSync(join(outside, "absent"), path),
  "a link to a folder": (path, outside) => symlinkSync(outside, path),
  "a pipe": (path) => execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", path]),
  "a folder": (path) => mkdirSync(path),
  "a file of 1 GB": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 1024 ** 3);
  },
};

function snapshot(folder: string): unknown {
  return readdirSync(folder).map((name) => {
    const { mode, mtimeMs, size } = statSync(join(folder, name));
    return { name, mode, mtimeMs, size };
  });
}

export async function tryTrap(names: readonly string[], line: string, trap: string): Promise<void> {
  using home = makeProject();
  const outside = mkdtempSync(join(home.path, "outside-"));
  writeFileSync(join(outside, "precious"), `${canary}\n`, { mode: 0o644 });
  const before = snapshot(outside);
  for (const name of names) {
    const path = join(home.project, name);
    rmSync(path, { recursive: true, force: true });
    if (name === "guildhall.toml") rmSync(join(home.project, "guildhall.json"));
    mkdirSync(dirname(path), { recursive: true });
    traps[trap]?.(path, outside);
  }

  const { stdout, stderr, hasEnded, rssMax } = await run(home, line);
  const told = `${trap}: ${stdout}${stderr}`;
  expect(hasEnded, told).toBe(true);
  expect(told).not.toContain(canary);
  expect(snapshot(outside), told).toEqual(before);
  expect(rssMax, told).toBeGreaterThan(0);
  expect(rssMax, told).toBeLessThan(500 * 1024 ** 2);
}
