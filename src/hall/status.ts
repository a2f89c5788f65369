import { visible } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import { collectServers } from "../config/configured-servers.ts";
import { written } from "../config/variables.ts";
import type { ModuleFailure } from "../registry/modules.ts";
import { openNamedTokens } from "../server/http/tokens.ts";
import { ownValue } from "../trust/easing.ts";
import type { Trust } from "../trust/trust.ts";
import { createToolFilter } from "../upstream/lists.ts";
import { emptyLock, lockedTools, readLock } from "../upstream/lock.ts";
import { approvalOf, describeTarget } from "../upstream/source.ts";
import type { UpstreamState } from "../upstream/upstream.ts";
import { askHall } from "./admin-client.ts";
import type { HallStatus, UpstreamStatus } from "./admin-contract.ts";
import { findUnapproved } from "./discover.ts";
import { findModuleFailures, findPolicyProblems } from "./faults.ts";
import { findStoreProblem, openProjectLedger, readHistory } from "./project-store.ts";
import { findUnconfined } from "./sandbox.ts";
import { hasProjectFile, loadSettings, type Settings } from "./settings.ts";

interface Notes {
  /** Names of tokens that may do everything. */
  readonly adminTokens: readonly string[];
  /** Servers that run without a sandbox, unless the config says so. */
  readonly unconfined: readonly { readonly name: string; readonly reason: string }[];
}

/** The running hall, or what the config, the lock and the store say without one. */
export type ProjectStatus = Notes &
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
        readonly failedModules: readonly ModuleFailure[];
        readonly brokenPolicies: readonly string[];
      }
  );

export async function readStatus(folder: string): Promise<ProjectStatus> {
  const adminTokens = openNamedTokens()
    .list()
    .filter(({ scopes }) => scopes.includes("admin"))
    .map(({ name }) => name);
  const status = await askHall(folder, "status", {});
  const settings = await loadSettings({ folder }, "error");
  const unconfined = await findUnconfined(settings);
  if (status) return { running: true, ...status, adminTokens, unconfined };
  const problem = (await findStoreProblem(settings))?.message;
  const brokenPolicies = await findPolicyProblems(settings);
  return {
    running: false,
    ...(problem === undefined ? {} : { store: { problem } }),
    ...(await readKnownUpstreams(folder, settings)),
    registrations: [],
    // Modules are loaded into a hall, and none opens with broken policies.
    failedModules: brokenPolicies.length > 0 ? [] : await findModuleFailures(settings),
    brokenPolicies,
    adminTokens,
    unconfined,
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
    .filter(([name, config]) => ownValue(entries.servers, name)?.source !== approvalOf(config))
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
      skipped: locked?.offer.skipped,
      calls,
      errors,
      lastError,
    };
  });
  return { upstreams, unlisted, unreviewed };
}

/** A configured server, as far as the config, the lock and the approvals tell. */
export interface ListedServer {
  readonly name: string;
  readonly state: "enabled" | "disabled" | "held" | "unusable";
  /** Why it is held or unusable. */
  readonly reason?: string | undefined;
  /** Its command line or URL as written, without secrets. */
  readonly target: string;
  /** Names of the tools that it offers; undefined if it was never started. */
  readonly tools: readonly string[] | undefined;
  /** Names of its tools that the config leaves out. */
  readonly disabledTools: readonly string[];
}

/** The part of the status that a running hall has in memory. */
interface KnownServers {
  readonly trust: Pick<Trust, "mayStart"> | undefined;
  /** Names of all tools of a server; undefined for one that the hall does not have. */
  offeredBy(server: string): readonly string[] | undefined;
}

/** All configured servers. None is started. */
export async function listServers(
  settings: Settings,
  known?: KnownServers,
): Promise<readonly ListedServer[]> {
  const { folder, loaded } = settings;
  const servers = Object.entries(collectServers(loaded)).sort(([a], [b]) => a.localeCompare(b));
  const isKnown = servers.every(([name]) => known?.offeredBy(name));
  const [lock, unapproved] = await Promise.all([
    isKnown ? emptyLock : readLock(folder, () => {}),
    findUnapproved(settings, known?.trust),
  ]);
  return servers.map(([name, server]) => {
    const entry = server.type === "unusable" ? server.entry : server;
    const isShown = createToolFilter(entry?.tools ?? { include: ["*"], exclude: [] });
    const tools = known?.offeredBy(name) ?? lockedTools(lock, name);
    const held = unapproved.get(name);
    return {
      name,
      ...stateOf(),
      target: entry ? visible(describeTarget({ ...entry, ...entry[written] })) : "",
      tools: tools?.filter(isShown),
      disabledTools: tools?.filter((tool) => !isShown(tool)) ?? [],
    };

    function stateOf(): Pick<ListedServer, "state" | "reason"> {
      if (server.type === "unusable")
        return { state: "unusable", reason: server.problems.join("; ") };
      if (server.disabled) return { state: "disabled" };
      return held === undefined ? { state: "enabled" } : { state: "held", reason: held };
    }
  });
}

/** Where a person is, what is wrong, and what to do next. */
export interface Overview {
  readonly folder: string;
  /** The config files that count. */
  readonly files: readonly string[];
  /** Number of servers by state. */
  readonly servers: Readonly<Record<"enabled" | "disabled" | "held" | "unusable", number>>;
  readonly tools: number;
  readonly hall: { readonly pid: number; readonly clients: number } | undefined;
  readonly problems: readonly string[];
  /** Commands without the program's name, the most important one first. */
  readonly next: readonly string[];
}

/** Starts no server. Throws ConfigError. */
export async function readOverview(folder: string): Promise<Overview> {
  const settings = await loadSettings({ folder, logLevel: "silent" }, "silent");
  const [listed, status, waiting] = await Promise.all([
    listServers(settings),
    askHall(folder, "status", {}),
    askHall(folder, "approvals", {}),
  ]);
  const inState = (wanted: ListedServer["state"]): readonly string[] =>
    listed.filter(({ state }) => state === wanted).map(({ name }) => name);
  const [held, unusable] = [inState("held"), inState("unusable")];
  const down = (status?.upstreams ?? [])
    .filter(({ state }) => state.kind === "down" && state.code !== "DENIED")
    .map(({ name }) => name);
  const unknown = listed.filter(({ state, tools }) => state === "enabled" && !tools);
  const pending = waiting?.pending.length ?? 0;
  const broken = status?.brokenPolicies ?? (await findPolicyProblems(settings));
  const modules =
    status?.failedModules ?? (broken.length > 0 ? [] : await findModuleFailures(settings));
  const isHeldUnknown = listed.some(({ state, tools }) => state === "held" && !tools);
  const found = [
    problem(
      broken.length > 0,
      `the policies deny everything: ${broken.join("; ")}`,
      "policy check",
    ),
    problem(pending > 0, `${plural(pending, "call")} waiting for approval`, "approvals"),
    problem(unusable.length > 0, `cannot be used: ${unusable.join(", ")}`, "doctor"),
    problem(down.length > 0, `not answering: ${down.join(", ")}`, "doctor"),
    problem(
      modules.length > 0,
      `not loaded: ${modules.map(({ module }) => module).join(", ")}`,
      "doctor",
    ),
    problem(
      held.length > 0,
      `held until you review them: ${held.join(", ")}`,
      isHeldUnknown ? "build" : "verify",
    ),
    problem(
      unknown.length > 0,
      `no tools known for ${unknown.map(({ name }) => name).join(", ")}`,
      "build",
    ),
  ].flat();
  const usual =
    hasProjectFile(settings) || listed.length > 0 ? ["install CLIENT", "tui"] : ["init"];
  return {
    folder,
    files: settings.loaded.files,
    servers: {
      enabled: inState("enabled").length,
      disabled: inState("disabled").length,
      held: held.length,
      unusable: unusable.length,
    },
    tools: listed.reduce((sum, { tools = [] }) => sum + tools.length, 0),
    hall: status && { pid: status.pid, clients: status.clients },
    problems: found.map(({ text }) => text),
    next: found.length > 0 ? [...new Set(found.map(({ command }) => command))] : usual,
  };
}

function problem(
  isThere: boolean,
  text: string,
  command: string,
): readonly { readonly text: string; readonly command: string }[] {
  return isThere ? [{ text, command }] : [];
}
