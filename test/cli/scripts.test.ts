import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CompiledCode } from "../../src/cli/compiled-code.ts";
import { Scripts } from "../../src/cli/scripts.ts";
import { type Home, makeHome } from "../servers/home.ts";

let home: Home;
let build: string;
let compiled: string;

beforeEach(() => {
  home = makeHome({});
  vi.stubEnv("XDG_CACHE_HOME", join(home.path, "cache"));
  compiled = join(home.path, "cache", "guildhall", "compiled");
  build = join(home.path, "build");
  mkdirSync(join(build, "lazy"), { recursive: true });
  writeScript("main.cjs", 'exports.run = () => require("./lazy/twice.cjs").twice(21);');
  writeScript("lazy/twice.cjs", twice);
});

afterEach(() => {
  vi.unstubAllEnvs();
  home[Symbol.dispose]();
});

const twice = 'const { sep } = require("node:path"); exports.twice = (n) => sep.length * n * 2;';

function writeScript(name: string, text: string): void {
  writeFileSync(join(build, name), `(function (exports, require) {${text}})`);
}

/** Runs the scripts, keeps their code, and returns the scripts that V8 had to compile. */
function start(code = open()): { readonly result: number; readonly written: readonly string[] } {
  const written: string[] = [];
  const write = code.write.bind(code);
  code.write = (script, bytes) => {
    written.push(script);
    write(script, bytes);
  };
  const scripts = new Scripts(build, code);
  const { run } = scripts.load("main.cjs") as { run(): number };
  const result = run();
  scripts.keep();
  return { result, written };
}

const open = (command = "mcp", digest = "0123"): CompiledCode => new CompiledCode(command, digest);
const all = ["main.cjs", "lazy/twice.cjs"];

test("the second start takes the code that the first one has compiled", () => {
  expect(start()).toEqual({ result: 42, written: all });
  expect(start()).toEqual({ result: 42, written: [] });
});

test("a script runs once, however often it is required", () => {
  const scripts = new Scripts(build);
  expect(scripts.load("lazy/twice.cjs")).toBe(scripts.load("lazy/twice.cjs"));
});

test("a script imports modules of a project, also where its code was kept", async () => {
  writeFileSync(join(build, "module.mjs"), "export const answer = 42;");
  writeFileSync(
    join(build, "main.cjs"),
    `(function (exports, require, module, file, folder, url, importOfLoader) {
      exports.run = () => importOfLoader(new URL("./module.mjs", url).href);
    })`,
  );
  for (const times of [1, 2]) {
    const scripts = new Scripts(build, open());
    const { run } = scripts.load("main.cjs") as { run(): Promise<object> };
    expect(await run(), `start ${times}`).toMatchObject({ answer: 42 });
    scripts.keep();
  }
});

test("code for another text of a script is not used", () => {
  start();
  writeScript("lazy/twice.cjs", "exports.twice = (n) => n + 1000;");
  expect(start()).toEqual({ result: 1021, written: ["lazy/twice.cjs"] });
});

test("a file that is cut off, damaged or something else counts as none", () => {
  start();
  const name = readdirSync(compiled).find((file) => file.includes("main.cjs")) ?? "";
  const file = join(compiled, name);
  const whole = readFileSync(file);
  const damaged = Buffer.from(whole);
  damaged[whole.length - 200] = (damaged[whole.length - 200] ?? 0) ^ 1;
  const cutOff = [whole.subarray(0, -8), whole.subarray(0, 10), Buffer.alloc(0)];
  for (const bytes of [damaged, ...cutOff, Buffer.from("{}\n")]) {
    writeFileSync(file, bytes);
    expect(open().read("main.cjs")).toBeUndefined();
    expect(start()).toEqual({ result: 42, written: ["main.cjs"] });
  }
});

test("commands, builds and versions of Node have files of their own, which only the user can read", () => {
  for (const code of [open(), open("status"), open("mcp", "4567")]) start(code);
  const names = readdirSync(compiled).filter((name) => name.includes("main.cjs"));
  const node = `${process.version}-${process.arch}`;
  expect(names.sort()).toEqual([
    `mcp-main.cjs-${node}-0123`,
    `mcp-main.cjs-${node}-4567`,
    `status-main.cjs-${node}-0123`,
  ]);
  for (const name of names) expect(statSync(join(compiled, name)).mode & 0o777).toBe(0o600);
});

test("files that are older than a month are removed", () => {
  start(open("status"));
  const longAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  for (const name of readdirSync(compiled)) utimesSync(join(compiled, name), longAgo, longAgo);
  start();
  expect(readdirSync(compiled).every((name) => name.startsWith("mcp-"))).toBe(true);
});
