import { nameProcess } from "../base/processes.ts";
import { runLine } from "./run.ts";

// Processes that we start cannot approve anything.
nameProcess(process.argv[2] ?? "");

const flushMsMax = 5_000;

// The one place that ends the process.
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
