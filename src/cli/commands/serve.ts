import { version } from "../../base/version.ts";
import { serveProject } from "../../hall/serve.ts";
import { loadSettings, type SettingsOptions } from "../../hall/settings.ts";
import { ownCommand } from "../../hall/setup.ts";
import { drainMs, onStopSignals } from "../exit.ts";

interface ServeOptions extends SettingsOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tokenFile?: string;
  readonly static?: boolean;
}

/** Serves until the process is asked to stop. */
export async function runServe(options: ServeOptions): Promise<void> {
  const { host, port, tokenFile } = options;
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
