import type { Advice } from "../base/advice.ts";
import { HallError } from "../base/errors.ts";
import type { Secrets } from "../base/log.ts";
import { collectServers } from "../config/configured-servers.ts";
import type { ServerConfig } from "../config/schema.ts";
import { ownValue } from "../trust/easing.ts";
import type { Entries, ReviewedSandbox } from "../trust/ledger.ts";
import { refusePackage } from "../trust/review.ts";
import { createTrust, type Trust } from "../trust/trust.ts";
import { createFleet, type Fleet, type FleetOptions } from "../upstream/fleet.ts";
import { emptyLock, type Lock, type LockedServer, readLock } from "../upstream/lock.ts";
import { approvalOf } from "../upstream/source.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { defaultLimits } from "../wire/channel.ts";
import { openProjectLedger } from "./project-store.ts";
import { failedInside, followReviews, planReview } from "./sandbox.ts";
import { openServerLogs } from "./server-logs.ts";
import type { Settings } from "./settings.ts";
import { withOwn } from "./together/team.ts";

/** The result of starting one server to read its lists. */
export type Discovery = (
  | { readonly name: string; readonly found: LockedServer; readonly ms: number }
  | {
      readonly name: string;
      readonly reason: string;
      /** A person has to do something first, named in `next`. */
      readonly isDenied: boolean;
      /** Its package is still being installed, in the background. */
      readonly isInstalling: boolean;
      readonly next?: readonly Advice[] | undefined;
      readonly stderr: readonly string[];
      readonly ms: number;
    }
) & {
  /** How it ran, for its review. */
  readonly sandbox?: ReviewedSandbox | undefined;
};

export interface DiscoverOptions {
  /** Default: all configured servers that are not disabled. */
  readonly names?: readonly string[] | undefined;
  /** Default: all may start. */
  readonly mayStart?: FleetOptions["mayStart"];
  readonly sandbox?: FleetOptions["sandbox"];
  readonly progress?: DiscoveryProgress | undefined;
}

export interface DiscoveryProgress {
  /** Called for each server as soon as it is done. */
  done(discovery: Discovery): void;
  /** Called every second with the servers that are not done, and with none at the end. */
  waiting(servers: readonly WaitingServer[]): void;
}

export interface WaitingServer {
  readonly name: string;
  readonly isInstalling: boolean;
  readonly ms: number;
}

/** Starts the servers side by side and reads what each offers. */
function discoverServers(
  settings: Settings,
  options: DiscoverOptions = {},
): Promise<readonly Discovery[]> {
  return withOwn(settings, (own) => discoverWith(own?.logins, settings, options));
}

async function discoverWith(
  sharedLogins: FleetOptions["sharedLogins"],
  settings: Settings,
  { names, mayStart, sandbox, progress }: DiscoverOptions,
): Promise<readonly Discovery[]> {
  const { loaded, log, secrets } = settings;
  const servers = collectServers(loaded);
  const logs = await openServerLogs(settings);
  const fleet: Fleet = createFleet({
    limits: defaultLimits,
    log,
    secrets,
    lock: emptyLock,
    add: async () => {},
    remove: async () => {},
    printed: logs.write,
    sandbox,
    sharedLogins,
    mayStart: (...about) => mayStart?.(...about),
  });
  await fleet.apply({ servers, added: names ?? Object.keys(servers), removed: [], changed: [] });
  const waiting = new Set(fleet.all());
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const ms = performance.now() - startedAt;
    const servers = [...waiting].map((upstream) => ({
      name: upstream.id,
      isInstalling: upstream.isInstalling(),
      ms,
    }));
    progress?.waiting(servers);
  }, 1_000);
  try {
    const running = fleet.all().map(async (upstream) => {
      const discovery = await discover(upstream, secrets);
      waiting.delete(upstream);
      progress?.done(discovery);
      return discovery;
    });
    return await Promise.all(running);
  } finally {
    clearInterval(timer);
    progress?.waiting([]);
    await fleet.close();
    logs.flush();
  }
}

/** The same, but starts only servers that a person has approved on this machine, as they were approved. */
export async function discoverApproved(
  settings: Settings,
  options: DiscoverOptions = {},
): Promise<readonly Discovery[]> {
  const trust = await readTrust(settings);
  const sandbox = followReviews(() => trust.entries());
  return discoverServers(settings, { sandbox, ...options, mayStart: trust.mayStart });
}

/**
 * The same for a review, which starts what the reviewer allows; not a package with other contents than approved. A new
 * server starts in a sandbox. If it fails there, and the config does not require one, it starts once more without.
 */
export async function discoverForReview(
  { settings, entries }: { readonly settings: Settings; readonly entries: Entries },
  options: DiscoverOptions,
): Promise<readonly Discovery[]> {
  const { servers } = entries;
  const mayStart: FleetOptions["mayStart"] = (name, source, installed) =>
    refusePackage(ownValue(servers, name), source, installed);
  const plan = await planReview(settings, entries, options.names);
  const { progress } = options;
  const isLeft = (discovery: Discovery): boolean =>
    !("found" in discovery) && plan.mayRetry(discovery);
  const first = await discoverServers(settings, {
    ...options,
    mayStart,
    sandbox: plan.policy,
    progress: progress && {
      ...progress,
      done: (discovery) => isLeft(discovery) || progress.done(discovery),
    },
  });
  const names = first.filter(isLeft).map(({ name }) => name);
  const second =
    names.length > 0 ? await discoverServers(settings, { mayStart, names, progress }) : [];
  return first.map((discovery) => {
    const again = second.find(({ name, ...rest }) => name === discovery.name && "found" in rest);
    return again && "reason" in discovery
      ? { ...again, sandbox: failedInside(discovery.reason) }
      : { ...discovery, sandbox: plan.sandboxOf(discovery.name) };
  });
}

/** Throws DENIED unless a person has approved the server as it is now: reaching it sends what its entry says. */
export async function requireApproved(
  name: string,
  config: ServerConfig,
  settings: Settings,
): Promise<void> {
  const refusal = (await readTrust(settings)).mayStart(name, approvalOf(config));
  if (refusal !== undefined)
    throw new HallError("DENIED", `${name} ${refusal}`, { next: [{ do: "verify", server: name }] });
}

/** Why servers may not start, by name: nobody has approved them as they are now. */
export async function findUnapproved(
  settings: Settings,
  trust?: Pick<Trust, "mayStart">,
): Promise<ReadonlyMap<string, string>> {
  const { mayStart } = trust ?? (await readTrust(settings));
  return new Map(
    Object.entries(settings.config.mcpServers).flatMap(([name, server]) => {
      const refusal = server.disabled ? undefined : mayStart(name, approvalOf(server));
      return refusal === undefined ? [] : [[name, refusal]];
    }),
  );
}

async function readTrust(settings: Settings): Promise<Trust> {
  const trust = createTrust({ ledger: await openProjectLedger(settings) });
  trust.refresh();
  return trust;
}

async function discover(upstream: Upstream, secrets: Secrets): Promise<Discovery> {
  const started = performance.now();
  try {
    const found = await upstream.discover();
    return { name: upstream.id, found, ms: performance.now() - started };
  } catch (error) {
    const isDenied = error instanceof HallError && error.code === "DENIED";
    return {
      name: upstream.id,
      reason: secrets.scrub(reasonOf(error)),
      isDenied,
      isInstalling: upstream.isInstalling(),
      next: isDenied ? error.next : undefined,
      stderr: lastLines(upstream.stderr()).map((line) => secrets.scrub(line)),
      ms: performance.now() - started,
    };
  }
}

/** Without the server's name, which every caller shows beside it. */
function reasonOf(error: unknown): string {
  if (error instanceof HallError && typeof error.details?.reason === "string")
    return error.details.reason;
  return error instanceof Error ? error.message : String(error);
}

const linesMax = 5;

/** The last lines of stderr, and the line that names the error if a stack trace pushed it out. */
function lastLines(lines: readonly string[]): readonly string[] {
  const last = lines.slice(-linesMax);
  const cause = lines.find((line) => /Error\b|Cannot find/.test(line));
  return cause === undefined || last.includes(cause) ? last : [cause, ...last.slice(1)];
}

/** The lock with the discoveries. Configured servers that were not started, or are down, keep their entry. */
export async function mergeIntoLock(
  folder: string,
  discoveries: readonly Discovery[],
  configured: readonly string[],
): Promise<Lock> {
  const before = await readLock(folder, () => {});
  const kept = Object.entries(before.servers).filter(([name]) => configured.includes(name));
  const found = discoveries.flatMap((discovery) =>
    "found" in discovery ? [[discovery.name, discovery.found] as const] : [],
  );
  return { lockVersion: 1, servers: Object.fromEntries([...kept, ...found]) };
}
