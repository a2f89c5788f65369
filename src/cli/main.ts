#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";
import { exitCodeOf, explainToPerson } from "./exit.ts";
import { readMcpArguments } from "./mcp-flags.ts";

enableCompileCache();

// The one place that ends the process.
try {
  const options = readMcpArguments(process.argv.slice(2));
  if (options) await (await import("./mcp.ts")).runMcp(options);
  else await runCommand();
  process.exit(0);
} catch (error) {
  const message = explainToPerson(error);
  if (message) process.stderr.write(`${message}\n`);
  process.exit(exitCodeOf(error));
}

async function runCommand(): Promise<void> {
  const [{ createProgram }, { isClosedPipe, watchOutput }] = await Promise.all([import("./program.ts"), import("./output.ts")]);
  const output = watchOutput(process.stdout);
  await createProgram()
    .parseAsync()
    .catch((error: unknown) => {
      if (!isClosedPipe(error)) throw error;
    });
  output.check();
}
