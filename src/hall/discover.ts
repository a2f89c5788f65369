import type { Advice } from "../base/advice.ts";
import { HallError } from "../base/errors.ts";
import { configuredServers } from "../config/unusable.ts";
import { createFleet, type Fleet, type FleetOptions } from "../upstream/fleet.ts";
import { emptyLock, type Lock, type LockedServer, readLock, writeLock } from "../upstream/lock.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { defaultLimits } from "../wire/limits.ts";
import type { Settings } from "./settings.ts";

/** What became of one server that was started to see what it offers. */
export type Discovery =
  | { readonly name: string; readonly found: LockedServer; readonly ms: number }
  | {
      readonly name: string;
      readonly reason: string;
      /** A person has to do something first, named in `next`. */
      readonly isDenied: boolean;
      readonly next?: readonly Advice[];
      readonly stderr: readonly string[];
      readonly ms: number;
    };

export interface DiscoverOptions {
  /** Default: all that are configured and not disabled. */
  readonly names?: readonly string[];
  /** Default: all may. */
  readonly mayStart?: FleetOptions["mayStart"];
  /** Hears of each as it is done. */
  done?(look: Discovery): void;
}

/** Starts each server on its own and reads what it offers. */
export async function discoverServers(
  { loaded, log, secrets }: Settings,
  { names, mayStart, done }: DiscoverOptions = {},
): Promise<readonly Discovery[]> {
  const servers = configuredServers(loaded);
  const fleet: Fleet = createFleet({
    limits: defaultLimits,
    log,
    secrets,
    lock: emptyLock,
    add: async () => {},
    remove: async () => {},
    ...(mayStart ? { mayStart } : {}),
  });
  await fleet.apply({ servers, added: names ?? Object.keys(servers), removed: [], changed: [] });
  try {
    return await Promise.all(
      fleet.all().map(async (upstream) => {
        const look = await lookAt(upstream);
        done?.(look);
        return look;
      }),
    );
  } finally {
    await fleet.close();
  }
}

async function lookAt(upstream: Upstream): Promise<Discovery> {
  const started = performance.now();
  try {
    const found = await upstream.discover();
    return { name: upstream.id, found, ms: performance.now() - started };
  } catch (error) {
    return {
      name: upstream.id,
      reason: reasonOf(error),
      isDenied: error instanceof HallError && error.code === "DENIED",
      ...(error instanceof HallError && error.code === "DENIED" ? { next: error.next } : {}),
      stderr: lastWords(upstream.stderr()),
      ms: performance.now() - started,
    };
  }
}

/** Without the server's name: whoever tells it names it. */
function reasonOf(error: unknown): string {
  if (error instanceof HallError && typeof error.details?.reason === "string")
    return error.details.reason;
  return error instanceof Error ? error.message : String(error);
}

const linesMax = 5;

/** The last lines of a program that failed, and the line that names the error where a stack has pushed it out of them. */
function lastWords(lines: readonly string[]): readonly string[] {
  const last = lines.slice(-linesMax);
  const telling = lines.find((line) => /Error\b|Cannot find/.test(line));
  return telling === undefined || last.includes(telling) ? last : [telling, ...last.slice(1)];
}

/** Writes what was found to the lock. */
export async function saveDiscoveries(
  folder: string,
  looks: readonly Discovery[],
  configured: readonly string[],
): Promise<string> {
  return writeLock(folder, await mergeIntoLock(folder, looks, configured));
}

/** The lock with what was found. What is configured and was not looked at, or is down today, keeps what was known of it. */
export async function mergeIntoLock(
  folder: string,
  looks: readonly Discovery[],
  configured: readonly string[],
): Promise<Lock> {
  const before = await readLock(folder, () => {});
  const kept = Object.entries(before.servers).filter(([name]) => configured.includes(name));
  const found = looks.flatMap((look) =>
    "found" in look ? [[look.name, look.found] as const] : [],
  );
  return { lockVersion: 1, servers: Object.fromEntries([...kept, ...found]) };
}
