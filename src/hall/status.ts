import { configuredServers } from "../config/unusable.ts";
import { readLock } from "../upstream/lock.ts";
import type { UpstreamState } from "../upstream/upstream.ts";
import { askHall } from "./admin-client.ts";
import type { HallStatus, UpstreamStatus } from "./admin-contract.ts";
import { findStoreProblem, readHistory } from "./project-store.ts";
import { loadSettings, type Settings } from "./settings.ts";

/** The running hall, or what the config, the lock and the store say without one. */
export type ProjectStatus =
  | ({ readonly running: true } & HallStatus)
  | {
      readonly running: false;
      /** Absent if nothing was recorded, or all is well. */
      readonly store?: { readonly problem: string };
      readonly upstreams: readonly UpstreamStatus[];
      readonly registrations: readonly never[];
    };

export async function readStatus(folder: string): Promise<ProjectStatus> {
  const status = await askHall(folder, "status", {});
  if (status) return { running: true, ...status };
  const settings = await loadSettings({ folder }, "error");
  const problem = (await findStoreProblem(settings))?.message;
  return {
    running: false,
    ...(problem === undefined ? {} : { store: { problem } }),
    upstreams: await readKnownUpstreams(folder, settings),
    registrations: [],
  };
}

async function readKnownUpstreams(
  folder: string,
  settings: Settings,
): Promise<readonly UpstreamStatus[]> {
  const servers = configuredServers(settings.loaded);
  const lock = await readLock(folder, () => {});
  const histories = await readHistory(settings, Object.keys(servers));
  return Object.entries(servers).map(([name, server]) => {
    const locked = lock.servers[name];
    const state: UpstreamState =
      server.type === "unusable"
        ? { kind: "unusable", reason: server.problems.join("; ") }
        : { kind: "stopped" };
    const { calls = 0, errors = 0, lastError } = histories.get(name) ?? {};
    return {
      name,
      state,
      era: locked?.era,
      protocol: locked?.protocol,
      tools: locked?.offer.tools.length ?? 0,
      calls,
      errors,
      lastError,
    };
  });
}
