import { parseArgs } from "node:util";
import type { McpOptions } from "./commands/mcp.ts";

/** The flags of `guildhall mcp` and their help. */
export const mcpFlags = {
  "--expose <faces>":
    "what clients see, comma-separated (default: the config's, else what fits the number of tools)",
  "--preset <name>": "show and call only the tools of this preset of the config",
  "--static": "freeze the lists and declare them static",
  "--alone": "run a separate hall, even if one is running for this project",
  "--log-level <level>":
    "level of the log on stderr: trace, debug, info, warn, error, silent (default: the config's, else warn)",
} as const;

const options = {
  expose: { type: "string" },
  preset: { type: "string" },
  static: { type: "boolean" },
  alone: { type: "boolean" },
  folder: { type: "string" },
  "log-level": { type: "string" },
} as const;

export interface McpArguments extends McpOptions {
  readonly folder?: string;
}

/**
 * Reads the command line of `guildhall mcp` without commander, which takes longer to load than
 * `mcp` takes to listen. Undefined for everything commander should answer: other commands, --help,
 * mistakes.
 */
export function readMcpArguments([command, ...args]: readonly string[]): McpArguments | undefined {
  if (command !== "mcp") return undefined;
  try {
    const { "log-level": logLevel, ...values } = parseArgs({ args, options }).values;
    return logLevel === undefined ? values : { ...values, logLevel };
  } catch {
    return undefined;
  }
}
