import { exitCodeOf, explainToPerson, explainToProgram, wantsJson } from "./exit.ts";
import { readMcpArguments } from "./mcp-flags.ts";

/** Runs one command line to its end, and gives the code to exit with. A failure is told on stderr, and to a program that wants JSON on stdout. */
export async function runLine(args: readonly string[]): Promise<number> {
  try {
    const options = readMcpArguments(args);
    if (options) await (await import("./commands/mcp.ts")).runMcp(options);
    else await runCommand(args);
    return 0;
  } catch (error) {
    const code = exitCodeOf(error);
    const message = explainToPerson(error);
    if (message) process.stderr.write(`${message}\n`);
    if (code !== 0 && wantsJson(args))
      process.stdout.write(`${JSON.stringify(explainToProgram(error), null, 2)}\n`);
    return code;
  }
}

async function runCommand(args: readonly string[]): Promise<void> {
  const [{ createProgram }, { isClosedPipe, watchOutput }] = await Promise.all([
    import("./program.ts"),
    import("./output.ts"),
  ]);
  const output = watchOutput(process.stdout);
  await createProgram()
    .parseAsync(args, { from: "user" })
    .catch((error: unknown) => {
      if (!isClosedPipe(error)) throw error;
    });
  output.check();
}
