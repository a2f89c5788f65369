import { createHash } from "node:crypto";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { constants, Script } from "node:vm";
import { cacheFolder, makePrivateFolder, requirePrivateFolder } from "../base/files.ts";

/** Code that V8 compiled for chunks, by their path from the build. */
export type CompiledCode = ReadonlyMap<string, Buffer>;

const staleMs = 30 * 24 * 60 * 60 * 1000;

/** One file for each command, build and version of Node: V8 refuses the code of another version. */
export class CompiledCodeFile {
  readonly #folder: string;
  readonly #name: string;

  constructor(command: string, build: string) {
    this.#folder = join(cacheFolder(), "compiled");
    this.#name = `${command}-${process.version}-${process.arch}-${build}`;
  }

  /** Empty if there is none. V8 runs what it finds in it, so the folder must be the user's own. */
  read(): CompiledCode {
    try {
      requirePrivateFolder(this.#folder);
      return parse(readFileSync(join(this.#folder, this.#name)));
    } catch {
      // Nothing is lost: V8 compiles the chunks again.
      return new Map();
    }
  }

  write(code: CompiledCode): void {
    try {
      makePrivateFolder(this.#folder);
      this.#removeStale();
      const draft = join(this.#folder, `${this.#name}.${process.pid}`);
      const file = openSync(draft, "wx", 0o600);
      try {
        for (const part of format(code)) writeSync(file, part);
      } finally {
        closeSync(file);
      }
      renameSync(draft, join(this.#folder, this.#name));
    } catch {
      // No folder of our own, for example without a home: the next start compiles again.
    }
  }

  #removeStale(): void {
    const oldest = Date.now() - staleMs;
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      if (statSync(file).mtimeMs < oldest) rmSync(file, { recursive: true, force: true });
    }
  }
}

/**
 * A line with a digest, names and sizes, then the code of each chunk where a word of memory begins: V8 copies it
 * otherwise. V8 does not check the code, and a damaged one could end every start.
 */
function format(code: CompiledCode): Buffer[] {
  const parts = [...code.values()].map(padded);
  const sizes = [...code].map(([name, { length }]) => [name, length]);
  const body = Buffer.concat(parts);
  return [padded(Buffer.from(`${JSON.stringify([digestOf(body), sizes])}\n`)), body];
}

function parse(bytes: Buffer): CompiledCode {
  const lineEnd = bytes.indexOf("\n") + 1;
  const line = bytes.toString("latin1", 0, lineEnd);
  const [digest, sizes] = JSON.parse(line) as [string, [string, number][]];
  const body = bytes.subarray(wordsEnd(lineEnd));
  const code = new Map<string, Buffer>();
  if (digestOf(body) !== digest) return code;
  let start = 0;
  for (const [name, size] of sizes) {
    code.set(name, body.subarray(start, start + size));
    start += wordsEnd(size);
  }
  return code;
}

const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const padded = (part: Buffer): Buffer =>
  Buffer.concat([part, Buffer.alloc(wordsEnd(part.length) - part.length)]);

const wordsEnd = (size: number): number => Math.ceil(size / 8) * 8;

/** The chunks of a build in this process, with the code that V8 has compiled for them at an earlier start. */
export class Chunks {
  readonly #root: string;
  readonly #compiled: CompiledCode;
  readonly #loaded = new Map<string, { readonly script: Script; readonly exports: object }>();
  /** False if V8 had to compile a chunk. */
  isCompiled = true;

  constructor(root: string, compiled: CompiledCode) {
    this.#root = root;
    this.#compiled = compiled;
  }

  /** Runs a chunk unless it has run, and returns its exports. */
  load(file: string): object {
    const known = this.#loaded.get(file);
    if (known) return known.exports;
    const cachedData = this.#compiled.get(relative(this.#root, file));
    // The build leaves only ASCII in chunks.
    const script = new Script(`${head}${readFileSync(file, "latin1")}\n})`, {
      filename: file,
      cachedData,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (!cachedData || script.cachedDataRejected) this.isCompiled = false;
    const module = { exports: {} };
    const folder = dirname(file);
    const requireHere = createRequire(file);
    const require = (name: string): unknown =>
      name.startsWith(".") ? this.load(join(folder, name)) : requireHere(name);
    const run = script.runInThisContext() as (...values: unknown[]) => void;
    run(module.exports, require, module, file);
    // Chunks do not import each other in a circle, so nothing asks for it earlier.
    this.#loaded.set(file, { script, exports: module.exports });
    return module.exports;
  }

  /** All functions that have run until now, compiled. */
  compile(): CompiledCode {
    return new Map(
      [...this.#loaded].map(([file, { script }]) => [
        relative(this.#root, file),
        script.createCachedData(),
      ]),
    );
  }
}

const head = "(function (exports, require, module, __filename) {";
