import { HallError } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import { ConfigError } from "../../config/error.ts";
import type { PartialConfig } from "../../config/schema.ts";
import { openAlone, openShared, type Project, type ProjectOptions } from "../../hall/project.ts";
import { loadSettings, type SettingsOptions } from "../../hall/settings.ts";
import { socketPath } from "../../hall/socket.ts";
import { isLoopback } from "../../server/http/guard.ts";
import { type HttpListener, type ListenerOptions, listenHttp } from "../../server/http/listener.ts";
import { writeMetrics } from "../../server/http/metrics.ts";
import {
  isOpenToOthers,
  loadOwnToken,
  openNamedTokens,
  readTokenFile,
} from "../../server/http/tokens.ts";
import { drainMs, onStopSignals } from "../process.ts";
import { connectLines } from "./connect.ts";

export interface ServeOptions extends SettingsOptions {
  readonly host?: string;
  readonly port?: string;
  readonly tokenFile?: string;
  readonly static?: boolean;
  readonly json?: boolean;
}

/** Serves every client that comes, until the process is told to stop. */
export async function runServe(options: ServeOptions): Promise<void> {
  const settings = await loadSettings(options, "info", { listen: listenFlags(options) });
  const { config, log, secrets } = settings;
  const { host, port, tokenFile } = config.listen;
  if (!isLoopback(host) && tokenFile === undefined) {
    throw new ConfigError(
      `${host} can be reached from other machines: give a token with --token-file or listen.tokenFile, or listen on 127.0.0.1`,
    );
  }
  const token = tokenFile === undefined ? await loadOwnToken() : await readTokenFile(tokenFile);
  secrets.add(token);
  if (tokenFile !== undefined && (await isOpenToOthers(tokenFile)))
    log.warn(
      `${tokenFile} is open to others on this machine, who can come in with the token: chmod 600`,
    );
  const project = await openProject({
    folder: process.cwd(),
    settings,
    isStatic: options.static ?? false,
  });
  const { server, meter, store } = project.hall;
  const metrics = (): string =>
    writeMetrics({ version, meter, store, clients: () => server.clientCount });
  const listener = await open({
    server,
    log,
    version,
    host,
    port,
    token,
    metrics,
    findName: openNamedTokens().find,
  });
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url: listener.url, mcp: `${listener.url}/mcp` })}\n`
      : greeting(listener.url),
  );

  await new Promise<void>((resolve) => {
    onStopSignals(resolve, () => void project.close(0));
  });
  await project.close(drainMs);
  await listener.close();
}

/** The project's hall where nobody else is it; next to a running one, a hall of its own. */
async function openProject(options: ProjectOptions): Promise<Project> {
  const shared = await openShared(await socketPath(options.folder), options);
  if (!shared)
    options.settings.log.warn(
      "another hall of this project is running: this one starts its servers again for itself",
    );
  return shared ?? openAlone(options);
}

function listenFlags({
  host,
  port,
  tokenFile,
}: ServeOptions): NonNullable<PartialConfig["listen"]> {
  return { host, port: port === undefined ? undefined : parsePort(port), tokenFile };
}

function greeting(url: string): string {
  return `Guildhall ${version} is open at ${url} (MCP at ${url}/mcp, WebSocket at /ws, health at /health)\n\n${connectLines(url)}`;
}

async function open(options: ListenerOptions): Promise<HttpListener> {
  try {
    return await listenHttp(options);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new HallError("UNAVAILABLE", `port ${options.port} is in use`, {
        cause,
        hint: `Choose another: guildhall serve --port ${options.port + 1}`,
      });
    }
    throw new HallError(
      "UNAVAILABLE",
      `cannot listen on ${options.host}:${options.port} (${code})`,
      { cause, hint: "Choose another with --host and --port." },
    );
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new HallError("INVALID_PARAMS", `--port must be a number from 0 to 65535, not "${text}"`);
}
