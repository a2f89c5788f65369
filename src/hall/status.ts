import { configuredServers } from "../config/unusable.ts";
import { readLock } from "../upstream/lock.ts";
import type { UpstreamState } from "../upstream/upstream.ts";
import { connectAdmin } from "./admin-client.ts";
import type { HallStatus, UpstreamStatus } from "./admin-contract.ts";
import { readHistory } from "./project-store.ts";
import { loadSettings } from "./settings.ts";
import { socketPath } from "./socket.ts";

/** The running hall, or what the config, the lock and the store say without one. */
export type ProjectStatus =
  | ({ readonly running: true } & HallStatus)
  | {
      readonly running: false;
      readonly upstreams: readonly UpstreamStatus[];
      readonly registrations: readonly never[];
    };

export async function readStatus(folder: string): Promise<ProjectStatus> {
  const admin = await connectAdmin(await socketPath(folder));
  if (!admin)
    return { running: false, upstreams: await readKnownUpstreams(folder), registrations: [] };
  try {
    return { running: true, ...(await admin.ask("status", {})) };
  } finally {
    await admin.close();
  }
}

async function readKnownUpstreams(folder: string): Promise<readonly UpstreamStatus[]> {
  const settings = await loadSettings({ folder }, "error");
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
