#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";
import { runLine } from "./run.ts";

enableCompileCache();

// The one place that ends the process. No top-level await: chunks of the bundle import this file, and
// a command that loads one of them would wait for itself.
void runLine(process.argv.slice(2)).then((code) => process.exit(code));
