import { realpathSync } from "node:fs";
import { HallError, messageOf } from "../../base/errors.ts";
import { openBrowser } from "../../base/processes.ts";
import { createRotatingFile } from "../../base/rotating-file.ts";
import { plural } from "../../base/text.ts";
import { version } from "../../base/version.ts";
import { askHall } from "../../hall/admin-client.ts";
import {
  installService,
  localCommand,
  openUserFolder,
  planService,
  removeService,
  type Service,
  startInBackground,
  stopRunning,
} from "../../hall/daemon.ts";
import { serveProject } from "../../hall/serve.ts";
import { loadSettings, type SettingsOptions } from "../../hall/settings.ts";
import { type ClientLine, cursorFile, httpClients } from "../../server/http/clients.ts";
import { quoteWord } from "../advice.ts";
import type { JsonOption } from "../declaration.ts";
import { drainMs, onStopSignals } from "../exit.ts";
import { createWaiting } from "../live.ts";
import { print } from "../print.ts";
import { requireYes } from "../terminal.ts";

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

interface HallOption extends JsonOption {
  readonly user?: boolean;
}

const folderOf = async ({ user }: HallOption): Promise<string> =>
  user ? openUserFolder() : process.cwd();

export async function runStart(options: HallOption & { readonly port?: number }): Promise<void> {
  const folder = await folderOf(options);
  const starting = startInBackground({
    folder,
    isUser: options.user ?? false,
    port: options.port,
  });
  const { isNew, status, logFile } = await createWaiting().during("starting the hall", starting);
  const { url, pid } = status;
  const flag = options.user ? " --user" : "";
  const text = [
    `${isNew ? "started the hall" : "the hall is running already"}: ${url} (process ${pid})`,
    "",
    `  connect   claude mcp add --transport http guildhall ${url}/mcp`,
    `  page      guildhall open${flag}`,
    `  log       ${quoteWord(logFile)}`,
    `  stop      guildhall stop${flag}`,
    ...(options.user ? [`  review    guildhall build --folder ${quoteWord(folder)}`] : []),
  ];
  print({ started: isNew, url, mcp: `${url}/mcp`, pid, folder, logFile }, text.join("\n"), options);
}

export async function runStop(options: HallOption): Promise<void> {
  const stopping = stopRunning(await folderOf(options));
  const ended = await createWaiting().during("stopping the hall", stopping);
  if (!ended) return print({ stopped: false }, "no hall is running", options);
  const { pid, url, clients, startedAt } = ended;
  const minutes = Math.round((Date.now() - startedAt) / 60_000);
  const where = url === undefined ? "" : ` at ${url}`;
  const text = `stopped the hall${where}: process ${pid}, ran for ${minutes} min, ${plural(clients, "client")}`;
  print({ stopped: true, pid, url, clients, startedAt }, text, options);
}

export async function runOpen(options: HallOption): Promise<void> {
  const folder = await folderOf(options);
  const status = await askHall(folder, "status", {});
  if (status?.url === undefined)
    throw new HallError("UNAVAILABLE", "no hall listens over HTTP here", {
      next: [{ do: "run-command", command: options.user ? "start --user" : "start" }],
    });
  const answer = await askHall(folder, "page", {});
  const page = new URL(answer?.url ?? status.url);
  const opened = !options.json && hasBrowser() && (await openBrowser(page));
  print({ url: page.href, opened }, page.href, options);
}

/** A person at this machine's own screen. */
function hasBrowser(): boolean {
  const { CI, SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (CI || SSH_CONNECTION || !process.stdout.isTTY) return false;
  return process.platform !== "linux" || Boolean(DISPLAY || WAYLAND_DISPLAY);
}

interface ServiceOptions extends JsonOption {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export async function runServiceInstall(options: ServiceOptions): Promise<void> {
  const service = plan();
  const { file, text, enable } = service;
  if (!options.json) process.stdout.write(`${file}:\n\n${text}\n${linesOf(enable)}\n`);
  if (options.dryRun)
    return print({ file, text, installed: false }, "nothing was written", options);
  await requireYes("the service", "Write this file and start the service?", options);
  const started = await installService(service);
  const done = started
    ? "installed: your own hall runs now, and after each login"
    : "written; no service manager answered, so start it with the lines above";
  print({ file, text, installed: true, started }, done, options);
}

export async function runServiceRemove(options: ServiceOptions): Promise<void> {
  const service = plan();
  const { file, current, disable } = service;
  if (current === undefined) return print({ file, removed: false }, "there is no service", options);
  if (!options.json) process.stdout.write(`${linesOf(disable)}  rm ${file}\n`);
  if (options.dryRun) return print({ file, removed: false }, "nothing was removed", options);
  await requireYes("the removal", "Stop the service and remove its file?", options);
  const stopped = await removeService(service);
  const rest = stopped
    ? ""
    : "; no service manager answered, so it may still run until you log out";
  print({ file, removed: true, stopped }, `removed ${file}${rest}`, options);
}

function plan(): Service {
  // A service has no shell that could find them.
  return planService({ program: [process.execPath, realpathSync(process.argv[1] ?? "")] });
}

function linesOf(commands: Service["enable"]): string {
  return commands.map((words) => `  ${words.join(" ")}\n`).join("");
}
