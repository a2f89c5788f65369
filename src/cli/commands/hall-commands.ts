import type { Command } from "commander";
import { examples } from "../declaration.ts";
import { mcpFlags } from "../mcp-flags.ts";

/** Halls that run until they are told to stop. */
export function addHallCommands(program: Command): void {
  const mcp = program
    .command("mcp")
    .description("serve MCP over stdin and stdout; this is what an MCP client starts")
    .addHelpText(
      "after",
      examples([
        "guildhall mcp",
        "guildhall mcp --expose tools --static",
        "claude mcp add guildhall -- guildhall mcp",
      ]),
    )
    .action(async (options) => (await import("./mcp.ts")).runMcp(options));
  for (const [flags, description] of mcpFlags) mcp.option(flags, description);

  program
    .command("serve")
    .description("serve MCP over HTTP, WebSocket and SSE, and print how to connect to it")
    .option(
      "--host <address>",
      "the address to listen on; any but loopback needs --token-file (default: the config's, else 127.0.0.1)",
    )
    .option(
      "--port <number>",
      "the port to listen on; 0 for any free one (default: the config's, else 8080)",
    )
    .option(
      "--token-file <file>",
      "a file with the token every caller must send (default: the config's)",
    )
    .option(
      "--expose <faces>",
      "what clients are shown, comma-separated (default: the config's, else what fits the number of tools)",
    )
    .option("--static", "freeze the lists and say so")
    .option(
      "--log-level <level>",
      "what is written to stderr: trace, debug, info, warn, error, silent (default: the config's, else info)",
    )
    .option(
      "--json",
      "print the address as JSON instead of text, and the log as JSON at a terminal too",
    )
    .addHelpText(
      "after",
      examples([
        "guildhall serve",
        "guildhall serve --port 9000 --json",
        "guildhall serve --host 0.0.0.0 --token-file /etc/guildhall/token",
      ]),
    )
    .action(async (options) => (await import("./serve.ts")).runServe(options));
}
