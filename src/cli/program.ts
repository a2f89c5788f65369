import { Command } from "commander";
import { version } from "../base/version.ts";

/** All commands. Each one's work is loaded when it is run, so that `mcp` starts as fast as it can. */
export function createProgram(): Command {
  const program = new Command("guildhall")
    .description("One hall for all your MCP servers: gathers their tools, guards every call, shows a model only what it needs.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(run with --help for usage and examples)")
    .exitOverride()
    .addHelpText("after", examples(["guildhall mcp", "guildhall mcp --static", "guildhall mcp --help"]));

  program
    .command("mcp")
    .description("serve MCP over stdin and stdout; this is what an MCP client starts")
    .option("--expose <faces>", "what clients are shown, comma-separated (default: the config's, else tools)")
    .option("--static", "freeze the lists and say so")
    .option("--log-level <level>", "what is written to stderr: trace, debug, info, warn, error, silent", "warn")
    .addHelpText("after", examples(["guildhall mcp", "guildhall mcp --expose tools --static", "claude mcp add guildhall -- guildhall mcp"]))
    .action(async (options) => (await import("./mcp.ts")).runMcp(options));

  return program;
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}
