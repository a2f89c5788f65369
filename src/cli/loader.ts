// Loads the program of a build. `cli.js`, `index.js` and `module-host.js` in the build call it, each
// for its part of `main.cjs`, so that a process that needs two of them has each module once. The build
// makes a CommonJS file of it: an ES module that imports `node:crypto` loads all that it contains.
import { setFlagsFromString } from "node:v8";
import { CompiledCode } from "./compiled-code.ts";
import { Scripts } from "./scripts.ts";

/** The build replaces it with a digest of the scripts. */
declare const buildDigest: string;

/** By then a hall has answered its client's first requests. */
const keepAfterMs = 2_000;

let scripts: Scripts | undefined;

/** Runs a part, `cli`, `index` or `moduleHost`, and returns what it exports. */
export function loadPart(name: string, folder: string, compiled?: CompiledCode): unknown {
  scripts ??= new Scripts(folder, compiled);
  const parts = scripts.load("main.cjs") as Record<string, () => unknown>;
  return parts[name]?.();
}

/** Starts the command line, with what V8 compiled when the same command was started before. */
export function startCli(folder: string): void {
  // Otherwise V8 learns from the start to put objects of every call into the old space, where they
  // are collected late: a relayed call takes a tenth more of the main thread (decision 0023). V8
  // refuses code that was compiled with other flags, so this comes first.
  setFlagsFromString("--no-allocation-site-pretenuring");

  const [, , command = ""] = process.argv;
  const name = /^[a-z_][a-z_-]*$/.test(command) ? command : "none";
  // Commands that fail are not worth a file: any word may be one.
  process.on("exit", (code) => code === 0 && scripts?.keep());
  setTimeout(() => scripts?.keep(), keepAfterMs).unref();
  loadPart("cli", folder, new CompiledCode(name, buildDigest));
}
