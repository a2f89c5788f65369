import { createHall } from "../app.ts";
import { HallError } from "../base/errors.ts";
import { createLog, Secrets } from "../base/log.ts";
import { version } from "../base/version.ts";
import { ConfigError, loadConfig } from "../config/config.ts";
import { parseFaces } from "../server/faces.ts";
import { isLoopback } from "../server/http/guard.ts";
import { type HttpListener, type HttpOptions, listenHttp } from "../server/http/listener.ts";
import { loadOwnToken, readTokenFile } from "../server/http/token.ts";
import { connectLines } from "./connect.ts";
import { drainMs, onStopSignals, parseLogLevel, surviveSurprises } from "./process.ts";

export interface ServeOptions {
  readonly host: string;
  readonly port: string;
  readonly tokenFile?: string;
  readonly expose?: string;
  readonly static?: boolean;
  readonly logLevel: string;
  readonly json?: boolean;
}

/** Serves every client that comes, until the process is told to stop. */
export async function runServe(options: ServeOptions): Promise<void> {
  const { host } = options;
  const port = parsePort(options.port);
  if (!isLoopback(host) && options.tokenFile === undefined) {
    throw new ConfigError(`${host} can be reached from other machines: give a token with --token-file, or listen on 127.0.0.1`);
  }
  const secrets = new Secrets();
  const log = createLog({ level: parseLogLevel(options.logLevel), secrets });
  surviveSurprises(log);
  const config = await loadConfig(process.cwd());
  const token = options.tokenFile === undefined ? await loadOwnToken() : await readTokenFile(options.tokenFile);
  secrets.add(token);
  const hall = await createHall({ faces: parseFaces(options.expose ?? config.expose), isStatic: options.static ?? false, log });
  const listener = await open({ server: hall.server, log, version, host, port, token });
  process.stdout.write(options.json ? `${JSON.stringify({ url: listener.url, mcp: `${listener.url}/mcp` })}\n` : greeting(listener.url));

  await new Promise<void>((resolve) => {
    onStopSignals(resolve, () => void hall.close(0));
  });
  await hall.close(drainMs);
  await listener.close();
}

function greeting(url: string): string {
  return `Guildhall ${version} is open at ${url} (MCP at ${url}/mcp, WebSocket at /ws, health at /health)\n\n${connectLines(url)}`;
}

async function open(options: HttpOptions): Promise<HttpListener> {
  try {
    return await listenHttp(options);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new HallError("UNAVAILABLE", `port ${options.port} is in use`, { cause, hint: `Choose another: guildhall serve --port ${options.port + 1}` });
    }
    throw new HallError("UNAVAILABLE", `cannot listen on ${options.host}:${options.port} (${code})`, { cause, hint: "Choose another with --host and --port." });
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new HallError("INVALID_PARAMS", `--port must be a number from 0 to 65535, not "${text}"`);
}
