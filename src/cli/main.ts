#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";
import { runLine } from "./run.ts";

enableCompileCache();

// The one place that ends the process.
process.exit(await runLine(process.argv.slice(2)));
