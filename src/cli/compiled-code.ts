import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, makePrivateFolder, requirePrivateFolder } from "../base/files.ts";

const staleMs = 30 * 24 * 60 * 60 * 1000;

/**
 * The code that V8 has compiled for the scripts of one build, as one command runs them. A file starts
 * with a digest of the rest: V8 does not check it, and damaged code could end every start.
 */
export class CompiledCode {
  readonly #folder = join(cacheFolder(), "compiled");
  readonly #command: string;
  readonly #build: string;

  constructor(command: string, build: string) {
    this.#command = command;
    // V8 refuses the code of another version.
    this.#build = `${process.version}-${process.arch}-${build}`;
  }

  /** Undefined if there is none. V8 runs what it finds in it, so the folder must be the user's own. */
  read(script: string): Buffer | undefined {
    try {
      requirePrivateFolder(this.#folder);
      const bytes = readFileSync(this.#fileOf(script));
      const code = bytes.subarray(digestBytes);
      return digestOf(code).equals(bytes.subarray(0, digestBytes)) ? code : undefined;
    } catch {
      // Nothing is lost: V8 compiles the script again.
      return undefined;
    }
  }

  write(script: string, code: Buffer): void {
    try {
      makePrivateFolder(this.#folder);
      this.#removeStale();
      const draft = `${this.#fileOf(script)}.${process.pid}`;
      writeFileSync(draft, Buffer.concat([digestOf(code), code]), { flag: "wx", mode: 0o600 });
      renameSync(draft, this.#fileOf(script));
    } catch {
      // No folder of our own, for example without a home: the next start compiles again.
    }
  }

  #fileOf(script: string): string {
    const name = script.replaceAll("/", "-");
    return join(this.#folder, `${this.#command}-${name}-${this.#build}`);
  }

  #removeStale(): void {
    const oldest = Date.now() - staleMs;
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      if (statSync(file).mtimeMs < oldest) rmSync(file, { recursive: true, force: true });
    }
  }
}

/** A multiple of a word of memory, so that V8 need not copy the code behind it. */
const digestBytes = 32;

const digestOf = (code: Buffer): Buffer => createHash("sha256").update(code).digest();
