import type { Command } from "commander";
import { HallError } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import type { PartialConfig } from "../../config/schema.ts";
import type { SettingsOptions } from "../../hall/settings.ts";
import { examples } from "../declaration.ts";
import { drainMs, onStopSignals } from "../exit.ts";

interface ServeOptions extends SettingsOptions {
  readonly host?: string;
  readonly port?: string;
  readonly tokenFile?: string;
  readonly static?: boolean;
}

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve MCP over HTTP, WebSocket and SSE, and print how to connect")
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
      "what clients see, comma-separated (default: the config's, else what fits the number of tools)",
    )
    .option("--static", "freeze the lists and declare them static")
    .option(
      "--log-level <level>",
      "level of the log on stderr: trace, debug, info, warn, error, silent (default: the config's, else info)",
    )
    .option("--json", "print the address as JSON, and the log as JSON even in a terminal")
    .addHelpText(
      "after",
      examples([
        "guildhall serve",
        "guildhall serve --port 9000 --json",
        "guildhall serve --host 0.0.0.0 --token-file /etc/guildhall/token",
      ]),
    )
    .action(runServe);
}

/** Serves until the process is asked to stop. */
async function runServe(options: ServeOptions): Promise<void> {
  const flags = { listen: listenFlags(options) };
  const [{ loadSettings }, { serveProject }, { ownCommand }] = await Promise.all([
    import("../../hall/settings.ts"),
    import("../../hall/serve.ts"),
    import("../../hall/setup.ts"),
  ]);
  const settings = await loadSettings(options, "info", flags);
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

function listenFlags({
  host,
  port,
  tokenFile,
}: ServeOptions): NonNullable<PartialConfig["listen"]> {
  return { host, port: port === undefined ? undefined : parsePort(port), tokenFile };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new HallError("INVALID_PARAMS", `invalid port "${text}" (expected: 0 to 65535)`);
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
