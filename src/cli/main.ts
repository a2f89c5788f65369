#!/usr/bin/env node
import * as nodeModule from "node:module";
import { runLine } from "./run.ts";

// Newer versions of Node cache compiled code between starts; Node 20 lacks the function.
(nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();

// The one place that ends the process. No top-level await: chunks of the bundle import this file,
// so a command that loads one of them would wait for itself.
void runLine(process.argv.slice(2)).then((code) => process.exit(code));
