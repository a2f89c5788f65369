import type { Command } from "commander";
import { version } from "../../base/version.ts";
import type { SettingsOptions } from "../../hall/settings.ts";
import { addCommand, wholeNumber } from "../declaration.ts";
import { drainMs, onStopSignals } from "../exit.ts";
import { mcpFlags } from "../mcp-flags.ts";

interface ServeOptions extends SettingsOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tokenFile?: string;
  readonly static?: boolean;
}

export function addServe(program: Command): void {
  addCommand(program, "serve", {
    does: "serve MCP over HTTP, WebSocket and SSE, and print how to connect",
    options: {
      "--host <address>":
        "the address to listen on; any but loopback needs --token-file (default: the config's, else 127.0.0.1)",
      "--port <number>": [
        "the port to listen on; 0 for any free one (default: the config's, else 8080)",
        wholeNumber("port", 0, 65_535),
      ],
      "--token-file <file>": "a file with the token every caller must send (default: the config's)",
      "--expose <faces>": mcpFlags["--expose <faces>"],
      "--static": mcpFlags["--static"],
      "--log-level <level>":
        "level of the log on stderr: trace, debug, info, warn, error, silent (default: the config's, else info)",
      "--json": "print the address as JSON, and the log as JSON even in a terminal",
    },
    examples: [
      "guildhall serve",
      "guildhall serve --port 9000 --json",
      "guildhall serve --host 0.0.0.0 --token-file /etc/guildhall/token",
    ],
    run: runServe,
  });
}

/** Serves until the process is asked to stop. */
async function runServe(options: ServeOptions): Promise<void> {
  const { host, port, tokenFile } = options;
  const [{ loadSettings }, { serveProject }, { ownCommand }] = await Promise.all([
    import("../../hall/settings.ts"),
    import("../../hall/serve.ts"),
    import("../../hall/setup.ts"),
  ]);
  const settings = await loadSettings(options, "info", { listen: { host, port, tokenFile } });
  const hall = await serveProject(settings, { isStatic: options.static ?? false });
  const { url } = hall;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url, mcp: `${url}/mcp` })}\n`
      : `Guildhall ${version} is open at ${url} (MCP at ${url}/mcp, WebSocket at /ws, health at /health)\n\n${connectLines(url, ownCommand())}`,
  );

  await new Promise<void>((resolve) => {
    onStopSignals(resolve, () => void hall.close(0));
  });
  await hall.close(drainMs);
}

/** The lines that connect common clients to this hall, over HTTP and over stdio. */
function connectLines(url: string, [command, ...args]: readonly [string, ...string[]]): string {
  const endpoint = `${url}/mcp`;
  const stdio = [command, ...args].join(" ");
  const json = (value: unknown): string => JSON.stringify(value);
  return `Connect over HTTP:
  Claude Code   claude mcp add --transport http guildhall ${endpoint}
  Cursor        add to ~/.cursor/mcp.json: ${json({ mcpServers: { guildhall: { url: endpoint } } })}
  VS Code       code --add-mcp '${json({ name: "guildhall", type: "http", url: endpoint })}'
  Codex         codex mcp add guildhall --url ${endpoint}

Connect over stdio (the client starts the hall itself):
  Claude Code   claude mcp add guildhall -- ${stdio}
  Cursor        add to ~/.cursor/mcp.json: ${json({ mcpServers: { guildhall: { command, args } } })}
  VS Code       code --add-mcp '${json({ name: "guildhall", command, args })}'
  Codex         codex mcp add guildhall -- ${stdio}
`;
}
