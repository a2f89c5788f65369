import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type { CompiledCode } from "./compiled-code.ts";

/**
 * The scripts of a build in this process: `main.cjs`, and `lazy/` that load when they are used.
 * V8 keeps compiled code of scripts only, not of ES modules.
 */
export class Scripts {
  readonly #folder: string;
  readonly #compiled: CompiledCode | undefined;
  readonly #require: NodeJS.Require;
  readonly #loaded = new Map<string, unknown>();
  /** Scripts that V8 has compiled in this process. */
  readonly #fresh = new Map<string, Script>();

  constructor(folder: string, compiled?: CompiledCode) {
    this.#folder = folder;
    this.#compiled = compiled;
    this.#require = createRequire(join(folder, "main.cjs"));
  }

  /** Runs a script unless it has run, and returns its exports. */
  load(name: string): unknown {
    if (this.#loaded.has(name)) return this.#loaded.get(name);

    const file = join(this.#folder, name);
    const cachedData = this.#compiled?.read(name);
    // A build writes ASCII only, and each script as one function.
    const script = new Script(readFileSync(file, "latin1"), { filename: file, cachedData });
    if (!cachedData || script.cachedDataRejected) this.#fresh.set(name, script);

    const module = { exports: {} };
    const require = Object.assign(
      (id: string): unknown => (id.startsWith("./") ? this.load(id.slice(2)) : this.#require(id)),
      { resolve: this.#require.resolve },
    );
    const run = script.runInThisContext() as (...values: unknown[]) => void;
    run(module.exports, require, module, file, this.#folder, pathToFileURL(file).href, importFile);
    // Scripts do not load each other in a circle, so nothing asks for this one earlier.
    this.#loaded.set(name, module.exports);
    return module.exports;
  }

  /** Keeps the functions that have run until now, of scripts whose code was not kept before. */
  keep(): void {
    for (const [name, script] of this.#fresh)
      this.#compiled?.write(name, script.createCachedData());
    this.#fresh.clear();
  }
}

const importFile = (url: string): Promise<unknown> => import(url);
