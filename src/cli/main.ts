#!/usr/bin/env node
import * as nodeModule from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { cacheFolder, makePrivateFolder } from "../base/files.ts";
import { nameProcess } from "../base/processes.ts";
import { runLine } from "./run.ts";

keepCompiledCode();

// Otherwise V8 learns from the start to put objects of every call into the old space, where they are
// collected late: a relayed call takes a tenth more of the main thread (docs/decisions/0023).
setFlagsFromString("--no-allocation-site-pretenuring");

// Processes that we start cannot approve anything.
nameProcess(process.argv[2] ?? "");

const flushMsMax = 5_000;

// The one place that ends the process. No top-level await: chunks of the bundle import this file,
// so a command that loads one of them would wait for itself.
void runLine(process.argv.slice(2)).then((code) => {
  const end = (): never => process.exit(code);
  // Output to a pipe may still be on its way, and its reader may be slow, such as a pager.
  void Promise.all([process.stdout, process.stderr].map(drain)).then(end);
  // Servers log on stderr, and a client that is gone may have left it open and unread.
  if (process.argv[2] === "mcp" || process.argv[2] === "serve") setTimeout(end, flushMsMax);
});

/** Resolves when all output is written, or cannot be written because its reader is gone. */
function drain(output: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => output.write("", () => resolve()));
}

/**
 * Newer versions of Node cache compiled code between starts; Node 20 lacks the function. Node runs what it finds
 * in the cache, and by default it is in the temporary folder, where another user can put it.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  if (!enableCompileCache) return;
  try {
    enableCompileCache(makePrivateFolder(join(cacheFolder(), "compiled")));
  } catch {
    // No folder of our own, for example without a home: start without a cache.
  }
}
