import { parseArgs } from "node:util";
import type { McpOptions } from "./commands/mcp.ts";

/** The flags of `guildhall mcp`, and what its help says of them. */
export const mcpFlags = [
  [
    "--expose <faces>",
    "what clients are shown, comma-separated (default: the config's, else what fits the number of tools)",
  ],
  ["--static", "freeze the lists and say so"],
  ["--alone", "run a hall of its own, even when one of this project is running"],
  ["--folder <folder>", "the project's folder (default: the one it is started in)"],
  [
    "--log-level <level>",
    "what is written to stderr: trace, debug, info, warn, error, silent (default: the config's, else warn)",
  ],
] as const;

const options = {
  expose: { type: "string" },
  static: { type: "boolean" },
  alone: { type: "boolean" },
  folder: { type: "string" },
  "log-level": { type: "string" },
} as const;

/**
 * The command that a client starts and waits for, read without the parser of all commands, which takes longer to load
 * than to listen. Undefined for whatever that parser should answer: other commands, a wish for help, a mistake.
 */
export function readMcpArguments([command, ...args]: readonly string[]): McpOptions | undefined {
  if (command !== "mcp") return undefined;
  try {
    const { "log-level": logLevel, ...values } = parseArgs({ args, options }).values;
    return logLevel === undefined ? values : { ...values, logLevel };
  } catch {
    return undefined;
  }
}
