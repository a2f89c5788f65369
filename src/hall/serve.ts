import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { HallError } from "../base/errors.ts";
import { version } from "../base/version.ts";
import { ConfigError } from "../config/error.ts";
import type { Config } from "../config/schema.ts";
import type { AccessTokens } from "../server/http/access-tokens.ts";
import { isLoopback } from "../server/http/guard.ts";
import { type HttpListener, listenHttp } from "../server/http/listener.ts";
import { writeMetrics } from "../server/http/metrics.ts";
import { openPageFiles } from "../server/http/page-files.ts";
import { openPageSessions } from "../server/http/page-sessions.ts";
import {
  isOpenToOthers,
  loadOwnToken,
  openNamedTokens,
  readTokenFile,
} from "../server/http/tokens.ts";
import type { Hall } from "./hall.ts";
import { createPageHost } from "./page/host.ts";
import { openAlone, openShared, type Project, type ProjectOptions } from "./project.ts";
import type { Settings } from "./settings.ts";
import { socketPath } from "./socket.ts";
import { runForOther } from "./together/shared-registrations.ts";

/** A hall that listens on HTTP. */
export interface ServedHall {
  readonly url: string;
  /** True if every client must send a token. */
  readonly needsToken: boolean;
  /** Lets running requests finish for this long. */
  close(drainMs: number): Promise<void>;
}

export interface HallServeOptions {
  readonly isStatic: boolean;
  /** The command that serves; `start` wants the project's only hall. Default: serve. */
  readonly command?: "serve" | "start" | "start --user";
}

export async function serveProject(
  settings: Settings,
  { isStatic, command = "serve" }: HallServeOptions,
): Promise<ServedHall> {
  const { folder, config, log } = settings;
  const { host, port, open, tls } = config.listen;
  const token = await loadToken(settings);
  // Before servers are started.
  const cannotListen = refuseAddress(host, port, command);
  await requireFreePort(host, port).catch(cannotListen);
  const project = await openProject({ folder, settings, isStatic }, command);
  const { server, meter, store, together, registrations } = project.hall;
  const named = openNamedTokens();
  const page = createPageHost(project, settings);
  const publicUrl = config.auth.url?.replace(/\/$/, "");
  const listening: { url: string } = { url: publicUrl ?? "" };
  const accessTokens = await openAccessTokens(settings, () => listening.url);
  const sessions = openPageSessions({ token, named, accessTokens, shared: together?.page });
  const listener = await listenHttp({
    server,
    log,
    version,
    host,
    port,
    token,
    open,
    metrics: () => writeMetrics({ version, meter, store, clients: () => server.clientCount }),
    findOwner: together ? (given) => together.findOwner(named, given) : named.find,
    admit: together && ((caller) => together.admit(named, caller)),
    tls,
    publicUrl,
    accessTokens,
    others: together?.others,
    moves: together?.moves,
    run: (body, response) => runForOther(registrations, body, response),
    page: { files: openPageFiles(pageFolder()), sessions, host: page, accessTokens, publicUrl },
  }).catch(cannotListen);
  listening.url = publicUrl ?? listener.url;
  server.url = listening.url;
  if (together) {
    together.board.url = config.listen.advertise ?? reachableUrl(listener.url);
    // Before anybody is told where this hall is: the others must find it.
    await together.board.refresh().catch(() => {});
  }
  server.pageUrl = async () => `${listener.url}/#/sign-in/${await sessions.createCode()}`;
  return {
    url: listening.url,
    needsToken: listener.needsToken,
    async close(drainMs) {
      page.close();
      const leftMs = await handOver(project.hall, listener, drainMs);
      await project.close(leftMs);
      if (drainMs > 0) await listener.close();
    },
  };
}

/** Loaded only if the config names an issuer. */
async function openAccessTokens(
  { config, log }: Settings,
  url: () => string,
): Promise<AccessTokens | undefined> {
  const { issuers } = config.auth;
  if (Object.keys(issuers).length === 0) return undefined;
  const { AccessTokens } = await import("../server/http/access-tokens.ts");
  return new AccessTokens({ issuers, url, log });
}

/** A load balancer notices within this time that the hall is not ready any more. */
const noticedMs = 1_000;

/**
 * Of several halls: the others get what is new, and the sessions that run nothing; what waits here
 * for an answer can still have it. Returns the time that is left.
 */
async function handOver(
  { server, together }: Hall,
  listener: HttpListener,
  drainMs: number,
): Promise<number> {
  if (drainMs === 0 || together?.others.any() === undefined) return drainMs;
  const since = performance.now();
  server.isLeaving = true;
  await together.board.leave();
  const passedMs = (): number => performance.now() - since;
  let isBusy = true;
  while (passedMs() < drainMs && (isBusy || passedMs() < noticedMs)) {
    const left = await listener.giveAwaySessions();
    isBusy = server.isBusy || left > 0;
    await sleep(50);
  }
  return Math.max(1, drainMs - passedMs());
}

/** A hall that listens on all addresses is reached by the name of its machine. */
function reachableUrl(url: string): string {
  const reachable = new URL(url);
  if (reachable.hostname === "0.0.0.0" || reachable.hostname === "[::]")
    reachable.hostname = hostname();
  return reachable.href;
}

/** Throws ConfigError for an address that other machines can reach without a token, or that shows tokens to them. */
async function loadToken({ config, log, secrets }: Settings): Promise<string> {
  const { host, tokenFile, tls } = config.listen;
  const { url, issuers } = config.auth;
  const hasIssuers = Object.keys(issuers).length > 0;
  const isReachable = !isLoopback(host);
  if (isReachable && tokenFile === undefined && !hasIssuers && tls?.clientCa === undefined)
    throw new ConfigError(
      `${host} can be reached from other machines: set a token with --token-file or listen.tokenFile, or listen on 127.0.0.1`,
    );
  if (isReachable && hasIssuers && url === undefined)
    throw new ConfigError(
      `auth.url is missing: people reach the hall at another address than ${host}, and their tokens must name it`,
    );
  const isEncrypted = url === undefined ? !isReachable : isSafe(new URL(url));
  if (hasIssuers && !isEncrypted)
    throw new ConfigError(`auth.url is not encrypted: ${url}; expected https`);
  const token = await readToken(config);
  secrets.add(token);
  if (tokenFile !== undefined && (await isOpenToOthers(tokenFile)))
    log.warn(`${tokenFile} can be read by other users of this machine: run chmod 600 on it`);
  return token;
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || isLoopback(hostname);
}

/** The token that a hall with this config accepts: the one of `listen.tokenFile`, else the user's own. */
export function readToken({ listen: { tokenFile } }: Config): Promise<string> {
  return tokenFile === undefined ? loadOwnToken() : readTokenFile(tokenFile);
}

/** The project's hall; next to a running one, a separate hall. Throws CONFLICT where `start` finds another. */
async function openProject(
  options: ProjectOptions,
  command: Required<HallServeOptions>["command"],
): Promise<Project> {
  const shared = await openShared(await socketPath(options.folder), options);
  if (shared) return shared;
  if (command !== "serve")
    throw new HallError("CONFLICT", "another hall of this project is running", {
      next: [{ do: "run-command", command: "status" }],
    });
  options.settings.log.warn(
    "another hall of this project is running; this one starts its own copy of each server",
  );
  return openAlone(options);
}

async function requireFreePort(host: string, port: number): Promise<void> {
  const trial = createServer();
  await new Promise<void>((resolve, reject) => {
    trial.once("error", reject);
    trial.listen(port, host, resolve);
  });
  await new Promise((resolve) => trial.close(resolve));
}

/** Throws UNAVAILABLE for the error of a listener. */
function refuseAddress(host: string, port: number, command: Required<HallServeOptions>["command"]) {
  return (cause: NodeJS.ErrnoException): never => {
    const { code } = cause;
    if (code === "EADDRINUSE")
      throw new HallError("UNAVAILABLE", `port ${port} is in use`, {
        cause,
        next: [{ do: "run-command", command: `${command} --port ${port + 1}` }],
      });
    throw new HallError("UNAVAILABLE", `cannot listen on ${host}:${port} (${code})`, {
      cause,
      hint: "Choose another address with --host and --port.",
    });
  };
}

/** The built page, beside the program; in the source, where the build puts it. */
function pageFolder(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const beside = [join(here, "web"), join(here, "../../dist/web")];
  return beside.find((folder) => existsSync(join(folder, "index.html"))) ?? join(here, "web");
}
