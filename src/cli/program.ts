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
    .addHelpText("after", examples(["guildhall serve", "guildhall mcp", "guildhall mcp --help"]));

  program
    .command("mcp")
    .description("serve MCP over stdin and stdout; this is what an MCP client starts")
    .option("--expose <faces>", "what clients are shown, comma-separated (default: the config's, else tools)")
    .option("--static", "freeze the lists and say so")
    .option("--log-level <level>", "what is written to stderr: trace, debug, info, warn, error, silent", "warn")
    .addHelpText("after", examples(["guildhall mcp", "guildhall mcp --expose tools --static", "claude mcp add guildhall -- guildhall mcp"]))
    .action(async (options) => (await import("./mcp.ts")).runMcp(options));

  program
    .command("serve")
    .description("serve MCP over HTTP, WebSocket and SSE, and print how to connect to it")
    .option("--host <address>", "the address to listen on; any but loopback needs --token-file", "127.0.0.1")
    .option("--port <number>", "the port to listen on; 0 for any free one", "8080")
    .option("--token-file <file>", "a file with the token every caller must send")
    .option("--expose <faces>", "what clients are shown, comma-separated (default: the config's, else tools)")
    .option("--static", "freeze the lists and say so")
    .option("--log-level <level>", "what is written to stderr: trace, debug, info, warn, error, silent", "info")
    .option("--json", "print the address as JSON instead of text")
    .addHelpText(
      "after",
      examples(["guildhall serve", "guildhall serve --port 9000 --json", "guildhall serve --host 0.0.0.0 --token-file /etc/guildhall/token"]),
    )
    .action(async (options) => (await import("./serve.ts")).runServe(options));

  return program;
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}
