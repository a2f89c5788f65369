import type { JsonOption } from "./declaration.ts";
import {
  exitCodeOf,
  explainToPerson,
  explainToProgram,
  isClosedPipe,
  wantsJson,
  watchOutput,
} from "./exit.ts";
import { type McpArguments, readMcpArguments } from "./mcp-flags.ts";
import { enterProject } from "./place.ts";

/** Runs one command line and returns the exit code. Failures go to stderr, and with --json also to stdout. */
export async function runLine(args: readonly string[]): Promise<number> {
  // Without a listener, a log line that cannot be written is an uncaught error, which is logged, and so on.
  process.stderr.on("error", () => {});
  try {
    const options = readMcpArguments(args);
    if (options) await runMcp(options);
    else if (args.length === 0 || (args.length === 1 && args[0] === "--json"))
      await runAlone({ json: args.length === 1 });
    else if (args[0] === "__complete") await runComplete(args.slice(1));
    else await runCommand(args);
    return 0;
  } catch (error) {
    const code = exitCodeOf(error);
    const message = explainToPerson(error);
    if (message) {
      const { wrapProse } = await import("./print.ts");
      process.stderr.write(`${wrapProse(message, process.stderr)}\n`);
    }
    if (code !== 0 && wantsJson(args))
      process.stdout.write(`${JSON.stringify(explainToProgram(error), null, 2)}\n`);
    return code;
  }
}

async function runMcp({ folder, ...options }: McpArguments): Promise<void> {
  enterProject(folder);
  await (await import("./commands/mcp.ts")).runMcp(options);
}

async function runAlone(options: JsonOption): Promise<void> {
  enterProject(undefined);
  await (await import("./commands/status.ts")).runOverview(options);
}

/** Shells call this for each press of a key; see commands/completion.ts. */
async function runComplete(words: readonly string[]): Promise<void> {
  const { complete } = await import("./complete.ts");
  process.stdout.write(await complete(words));
}

async function runCommand(args: readonly string[]): Promise<void> {
  const { createProgram } = await import("./program.ts");
  const output = watchOutput(process.stdout);
  await createProgram()
    .parseAsync(args, { from: "user" })
    .catch((error: unknown) => {
      if (!isClosedPipe(error)) throw error;
    });
  output.check();
}
