#!/usr/bin/env node
// Starts the built command line. Node 20 compiles ES modules anew at every start, which is a quarter of it; see decision 0023.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Chunks, CompiledCodeFile } from "./compiled-code.ts";

/** By then a hall has answered its client's first requests. */
const keepAfterMs = 2_000;

const [, , command = ""] = process.argv;
const root = fileURLToPath(new URL(".", import.meta.url));
const file = new CompiledCodeFile(
  /^[a-z_][a-z_-]*$/.test(command) ? command : "none",
  process.env.GUILDHALL_BUILD ?? "",
);
const chunks = new Chunks(root, file.read());
let isKept = false;

// Commands that fail are not worth a file: any word may be one.
process.on("exit", (code) => code === 0 && keep());
setTimeout(keep, keepAfterMs).unref();
chunks.load(join(root, "chunks", "main.js"));

function keep(): void {
  if (isKept) return;
  isKept = true;
  if (!chunks.isCompiled) file.write(chunks.compile());
}
