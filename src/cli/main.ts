#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";
import { runLine } from "./run.ts";

enableCompileCache();

// The one place that ends the process. Not a top-level await: the bundler may put a module that commands import into the
// same chunk, and importing a chunk that is still being evaluated would never end.
void runLine(process.argv.slice(2)).then((code) => process.exit(code));
