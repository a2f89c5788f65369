import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Chunks, type CompiledCode, CompiledCodeFile } from "../../src/cli/compiled-code.ts";
import { type Home, makeHome } from "../servers/home.ts";

let home: Home;
let build: string;
let compiled: string;

beforeEach(() => {
  home = makeHome({});
  vi.stubEnv("XDG_CACHE_HOME", join(home.path, "cache"));
  compiled = join(home.path, "cache", "guildhall", "compiled");
  build = join(home.path, "build");
  mkdirSync(build);
  writeFileSync(
    join(build, "main.js"),
    'const { twice } = require("./twice.js"); module.exports = { run: () => twice(21) };',
  );
  writeFileSync(
    join(build, "twice.js"),
    'const { sep } = require("node:path"); exports.twice = (n) => sep.length * n * 2;',
  );
});

afterEach(() => {
  vi.unstubAllEnvs();
  home[Symbol.dispose]();
});

/** Loads the chunks and runs them. */
function start(code: CompiledCode): { chunks: Chunks; result: number } {
  const chunks = new Chunks(build, code);
  const { run } = chunks.load(join(build, "main.js")) as { run(): number };
  return { chunks, result: run() };
}

const open = (name = "mcp"): CompiledCodeFile => new CompiledCodeFile(name, "0123");

test("the second start takes the code that the first one has compiled", () => {
  const first = start(open().read());
  expect(first.result).toBe(42);
  expect(first.chunks.isCompiled).toBe(false);
  open().write(first.chunks.compile());

  const second = start(open().read());
  expect(second.result).toBe(42);
  expect(second.chunks.isCompiled).toBe(true);
});

test("a chunk runs once, however often it is required", () => {
  const chunks = new Chunks(build, new Map());
  const file = join(build, "twice.js");
  expect(chunks.load(file)).toBe(chunks.load(file));
});

test("code for another text of a chunk is not used", () => {
  open().write(start(new Map()).chunks.compile());
  writeFileSync(join(build, "twice.js"), "exports.twice = (n) => n + 1000;");
  const { chunks, result } = start(open().read());
  expect(result).toBe(1021);
  expect(chunks.isCompiled).toBe(false);
});

test("a file that is cut off, damaged or something else counts as none", () => {
  open().write(start(new Map()).chunks.compile());
  const [name = ""] = readdirSync(compiled);
  const file = join(compiled, name);
  const whole = readFileSync(file);
  const damaged = Buffer.from(whole);
  damaged[whole.length - 200] = (damaged[whole.length - 200] ?? 0) ^ 1;
  for (const bytes of [
    damaged,
    whole.subarray(0, -8),
    whole.subarray(0, 10),
    Buffer.from("{}\n"),
    Buffer.alloc(0),
  ]) {
    writeFileSync(file, bytes);
    expect(open().read().size).toBe(0);
  }
});

test("commands, builds and versions of Node have files of their own, which only the user can read", () => {
  const code = start(new Map()).chunks.compile();
  open().write(code);
  open("status").write(code);
  new CompiledCodeFile("mcp", "4567").write(code);
  const names = readdirSync(compiled).sort();
  const node = `${process.version}-${process.arch}`;
  expect(names).toEqual([`mcp-${node}-0123`, `mcp-${node}-4567`, `status-${node}-0123`]);
  for (const name of names) expect(statSync(join(compiled, name)).mode & 0o777).toBe(0o600);
});

test("files that are older than a month are removed", () => {
  const code = start(new Map()).chunks.compile();
  open("status").write(code);
  const [old = ""] = readdirSync(compiled);
  const longAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  utimesSync(join(compiled, old), longAgo, longAgo);
  open().write(code);
  expect(readdirSync(compiled)).toEqual([`mcp-${process.version}-${process.arch}-0123`]);
});
