import { createServer } from "node:net";
import { HallError } from "../base/errors.ts";
import { version } from "../base/version.ts";
import { ConfigError } from "../config/error.ts";
import type { Config } from "../config/schema.ts";
import { isLoopback } from "../server/http/guard.ts";
import { type HttpListener, type ListenerOptions, listenHttp } from "../server/http/listener.ts";
import { writeMetrics } from "../server/http/metrics.ts";
import {
  isOpenToOthers,
  loadOwnToken,
  openNamedTokens,
  readTokenFile,
} from "../server/http/tokens.ts";
import { openAlone, openShared, type Project, type ProjectOptions } from "./project.ts";
import type { Settings } from "./settings.ts";
import { socketPath } from "./socket.ts";

/** A hall that listens on HTTP. */
export interface ServedHall {
  readonly url: string;
  /** True if every client must send a token. */
  readonly needsToken: boolean;
  /** Lets running requests finish for this long. */
  close(drainMs: number): Promise<void>;
}

export async function serveProject(
  settings: Settings,
  { isStatic }: { readonly isStatic: boolean },
): Promise<ServedHall> {
  const { folder, config, log } = settings;
  const { host, port, open } = config.listen;
  const token = await loadToken(settings);
  // Before servers are started.
  await requireFreePort(host, port);
  const project = await openProject({ folder, settings, isStatic });
  const { server, meter, store } = project.hall;
  const listener = await listen({
    server,
    log,
    version,
    host,
    port,
    token,
    open,
    metrics: () => writeMetrics({ version, meter, store, clients: () => server.clientCount }),
    findOwner: openNamedTokens().find,
  });
  server.url = listener.url;
  return {
    url: listener.url,
    needsToken: listener.needsToken,
    async close(drainMs) {
      await project.close(drainMs);
      if (drainMs > 0) await listener.close();
    },
  };
}

/** Throws ConfigError for an address that other machines can reach without a token. */
async function loadToken({ config, log, secrets }: Settings): Promise<string> {
  const { host, tokenFile } = config.listen;
  if (!isLoopback(host) && tokenFile === undefined)
    throw new ConfigError(
      `${host} can be reached from other machines: set a token with --token-file or listen.tokenFile, or listen on 127.0.0.1`,
    );
  const token = await readToken(config);
  secrets.add(token);
  if (tokenFile !== undefined && (await isOpenToOthers(tokenFile)))
    log.warn(`${tokenFile} can be read by other users of this machine: run chmod 600 on it`);
  return token;
}

/** The token that a hall with this config accepts: the one of `listen.tokenFile`, else the user's own. */
export function readToken({ listen: { tokenFile } }: Config): Promise<string> {
  return tokenFile === undefined ? loadOwnToken() : readTokenFile(tokenFile);
}

/** The project's hall; next to a running one, a separate hall. */
async function openProject(options: ProjectOptions): Promise<Project> {
  const shared = await openShared(await socketPath(options.folder), options);
  if (shared) return shared;
  options.settings.log.warn(
    "another hall of this project is running; this one starts its own copy of each server",
  );
  return openAlone(options);
}

/** Throws UNAVAILABLE if nothing can listen there. */
async function requireFreePort(host: string, port: number): Promise<void> {
  const trial = createServer();
  await new Promise<void>((resolve, reject) => {
    trial.once("error", reject);
    trial.listen(port, host, resolve);
  }).catch((cause: NodeJS.ErrnoException) => cannotListen(host, port, cause));
  await new Promise((resolve) => trial.close(resolve));
}

function listen(options: ListenerOptions): Promise<HttpListener> {
  const { host, port } = options;
  return listenHttp(options).catch((cause: NodeJS.ErrnoException) =>
    cannotListen(host, port, cause),
  );
}

function cannotListen(host: string, port: number, cause: NodeJS.ErrnoException): never {
  const { code } = cause;
  if (code === "EADDRINUSE")
    throw new HallError("UNAVAILABLE", `port ${port} is in use`, {
      cause,
      next: [{ do: "run-command", command: `serve --port ${port + 1}` }],
    });
  throw new HallError("UNAVAILABLE", `cannot listen on ${host}:${port} (${code})`, {
    cause,
    hint: "Choose another address with --host and --port.",
  });
}
