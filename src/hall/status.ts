import { collectServers } from "../config/configured-servers.ts";
import { openNamedTokens } from "../server/http/tokens.ts";
import { readLock } from "../upstream/lock.ts";
import { approvalOf } from "../upstream/source.ts";
import type { UpstreamState } from "../upstream/upstream.ts";
import { askHall } from "./admin-client.ts";
import type { HallStatus, UpstreamStatus } from "./admin-contract.ts";
import { findStoreProblem, openProjectLedger, readHistory } from "./project-store.ts";
import { findReview } from "./review.ts";
import { loadSettings, type Settings } from "./settings.ts";

interface TokenStatus {
  /** Names of tokens that may do everything. */
  readonly adminTokens: readonly string[];
}

/** The running hall, or what the config, the lock and the store say without one. */
export type ProjectStatus = TokenStatus &
  (
    | ({ readonly running: true } & HallStatus)
    | {
        readonly running: false;
        /** Absent if nothing was recorded, or all is well. */
        readonly store?: { readonly problem: string };
        readonly upstreams: readonly UpstreamStatus[];
        /** Servers that the lock does not have. */
        readonly unlisted: readonly string[];
        /** Servers that nobody has approved on this machine as they are now. */
        readonly unreviewed: readonly string[];
        readonly registrations: readonly never[];
      }
  );

export async function readStatus(folder: string): Promise<ProjectStatus> {
  const adminTokens = openNamedTokens()
    .list()
    .filter(({ scopes }) => scopes.includes("admin"))
    .map(({ name }) => name);
  const status = await askHall(folder, "status", {});
  if (status) return { running: true, ...status, adminTokens };
  const settings = await loadSettings({ folder }, "error");
  const problem = (await findStoreProblem(settings))?.message;
  return {
    running: false,
    ...(problem === undefined ? {} : { store: { problem } }),
    ...(await readKnownUpstreams(folder, settings)),
    registrations: [],
    adminTokens,
  };
}

async function readKnownUpstreams(
  folder: string,
  settings: Settings,
): Promise<
  Pick<Extract<ProjectStatus, { readonly running: false }>, "upstreams" | "unlisted" | "unreviewed">
> {
  const servers = collectServers(settings.loaded);
  const lock = await readLock(folder, () => {});
  const histories = await readHistory(settings, Object.keys(servers));
  const entries = await (await openProjectLedger(settings)).read();
  const enabled = Object.entries(settings.config.mcpServers).filter(
    ([, { disabled }]) => !disabled,
  );
  const unlisted = enabled
    .filter(([name]) => !Object.hasOwn(lock.servers, name))
    .map(([name]) => name);
  const unreviewed = enabled
    .filter(([name, config]) => findReview(entries, name)?.source !== approvalOf(config))
    .map(([name]) => name);
  const upstreams = Object.entries(servers).map(([name, server]) => {
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
  return { upstreams, unlisted, unreviewed };
}
