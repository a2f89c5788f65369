#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";
import { exitCodeOf, explainToPerson } from "./exit.ts";
import { createProgram } from "./program.ts";

enableCompileCache();

// The one place that ends the process.
try {
  await createProgram().parseAsync();
  process.exit(0);
} catch (error) {
  const message = explainToPerson(error);
  if (message) process.stderr.write(`${message}\n`);
  process.exit(exitCodeOf(error));
}
