import { messageOf } from "../../base/errors.ts";
import { createRotatingFile } from "../../base/rotating-file.ts";
import { version } from "../../base/version.ts";
import { localCommand, openUserFolder } from "../../hall/daemon.ts";
import { serveProject } from "../../hall/serve.ts";
import { loadSettings, type SettingsOptions } from "../../hall/settings.ts";
import { type ClientLine, cursorFile, httpClients } from "../../server/http/clients.ts";
import { quoteWord } from "../advice.ts";
import { drainMs, onStopSignals } from "../exit.ts";

interface ServeOptions extends SettingsOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tokenFile?: string;
  readonly static?: boolean;
  readonly user?: boolean;
  readonly logFile?: string;
  readonly background?: boolean;
}

/** Serves until the process is asked to stop. */
export async function runServe(options: ServeOptions): Promise<void> {
  const { host, port, tokenFile, logFile } = options;
  if (options.user) process.chdir(await openUserFolder());
  const failed = (error: unknown): void => {
    process.stderr.write(`guildhall: cannot write the log "${logFile}" (${messageOf(error)})\n`);
  };
  const log = logFile === undefined ? undefined : createRotatingFile(logFile, { failed });
  const settings = await loadSettings({ ...options, ...(log ? { sink: log } : {}) }, "info", {
    listen: { host, port, tokenFile },
  });
  const start = options.user ? "start --user" : "start";
  const hall = await serveProject(settings, {
    isStatic: options.static ?? false,
    command: options.background ? start : "serve",
  });
  const { url, needsToken } = hall;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url, mcp: `${url}/mcp` })}\n`
      : `Guildhall ${version} is open at ${url} (MCP at ${url}/mcp, WebSocket at /ws, health at /health)\n\n${connectLines(httpClients(`${url}/mcp`, needsToken), [...localCommand(), "--folder", settings.folder])}`,
  );

  await new Promise<void>((resolve) => {
    onStopSignals(resolve, () => void hall.close(0));
  });
  await hall.close(drainMs);
  log?.flush();
}

/** The lines that connect common clients to this hall, over HTTP and over stdio. */
function connectLines(
  overHttp: readonly ClientLine[],
  [command, ...args]: readonly [string, ...string[]],
): string {
  const stdio = [command, ...args].map(quoteWord).join(" ");
  const json = (value: unknown): string => JSON.stringify(value);
  const overStdio: readonly ClientLine[] = [
    ["Claude Code", `claude mcp add guildhall -- ${stdio}`],
    [cursorFile, json({ mcpServers: { guildhall: { command, args } } })],
    ["VS Code", `code --add-mcp ${quoteWord(json({ name: "guildhall", command, args }))}`],
    ["Codex", `codex mcp add guildhall -- ${stdio}`],
  ];
  const format = ([client, line]: ClientLine): string => `  ${client.padEnd(31)}${line}\n`;
  return `Connect over HTTP:
${overHttp.map(format).join("")}
Connect over stdio (the client starts the hall itself):
${overStdio.map(format).join("")}`;
}
