import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readAgentFolder } from "../agents/agent-folder.ts";
import type { GroupSource } from "../agents/groups.ts";
import type { Log } from "../base/log.ts";
import { version } from "../base/version.ts";
import { configuredServers, diffServers } from "../config/unusable.ts";
import { watchConfig } from "../config/watch.ts";
import { findStoreLocation } from "../store/open-store.ts";
import { createBuiltinToolkits } from "../toolkits/builtin.ts";
import { openLedger } from "../trust/ledger.ts";
import { readLock } from "../upstream/lock.ts";
import type { Channel } from "../wire/channel.ts";
import { defaultLimits } from "../wire/channel.ts";
import { createMemoryPair } from "../wire/memory.ts";
import { createHallChannel, greetHall } from "./admin-client.ts";
import type { HallStatus } from "./admin-contract.ts";
import { type AdminHandlers, type Control, type ControlOptions, openControl } from "./control.ts";
import { createHall, type Hall, type HallOptions } from "./hall.ts";
import { logWarnings, type Settings } from "./settings.ts";
import { socketPath } from "./socket.ts";
import { describeTrust } from "./tool-trust.ts";

/** The hall of a project folder with its config, its lock and hot reload. */
export interface Project {
  readonly hall: Hall;
  close(drainMs?: number): Promise<void>;
}

export interface ProjectOptions {
  readonly folder: string;
  readonly settings: Settings;
  readonly isStatic?: boolean;
}

/** A hall without the local socket: no other process can attach. */
export async function openAlone({
  folder,
  settings,
  isStatic = false,
}: ProjectOptions): Promise<Project> {
  const { loaded, faces, log, secrets } = settings;
  const { config } = loaded;
  const [agents, lock, place] = await Promise.all([
    openAgents(folder, log),
    readLock(folder, (message) => log.warn(message)),
    realpath(folder),
  ]);
  const hall = await createHall({
    faces,
    agents,
    planner: config.planner,
    runs: { keep: config.store.runs, keepDays: config.store.keepDays },
    aliases: config.aliases,
    names: config.names,
    isStatic,
    timeoutMs: config.timeoutSeconds * 1000,
    toolkits: createBuiltinToolkits({
      images: config.images,
      search: {
        ...config.search,
        folders: config.search.folders.map((path) => resolve(folder, path)),
      },
      documents: { roots: config.documents.roots.map((path) => resolve(folder, path)) },
    }),
    workflow: {
      folder,
      ...config.workflow,
      roots: [folder, ...config.workflow.roots.map((path) => resolve(folder, path))],
    },
    servers: configuredServers(loaded),
    ...(config.toolkits.length > 0 ? { modules: { patterns: config.toolkits, folder } } : {}),
    rates: config.limits,
    capacities: config.limits,
    healthCheck: config.health,
    allowPrivateEndpoints: config.registration.allowPrivate,
    trust: {
      ledger: openLedger(place, { warn: (message) => log.warn(message) }),
      policy: config.trust.policy,
      policies: config.trust.servers,
      overrides: config.trust.tools,
      unguarded: config.trust.unguarded,
    },
    ...storeOptions(folder, loaded),
    telemetry: config.telemetry,
    lock,
    log,
    secrets,
  });
  const watching = watchConfig(settings.load, createReload(hall, loaded), { current: loaded });
  return {
    hall,
    async close(drainMs = 0) {
      watching.close();
      await hall.close(drainMs);
    },
  };
}

function storeOptions(
  folder: string,
  { config, files }: Settings["loaded"],
): Pick<HallOptions, "store" | "record"> {
  const place = findStoreLocation({
    url: config.store.url,
    folder,
    hasConfig: files.some((file) => dirname(file) === folder),
  });
  return {
    record: config.store.record,
    ...(place ? { store: { ...place, retention: config.store } } : {}),
  };
}

/** The project's hall with its local socket. Undefined if another process holds the socket. */
export async function openShared(
  path: string,
  options: ProjectOptions,
): Promise<Project | undefined> {
  let resolveReady = (_ready: ControlOptions): void => {};
  const ready = new Promise<ControlOptions>((resolve) => {
    resolveReady = resolve;
  });
  const control: Control | undefined = await openControl(path, ready);
  if (!control) return undefined;
  const project = await openAlone(options);
  resolveReady({
    server: project.hall.server,
    limits: defaultLimits,
    handlers: createHandlers(project.hall, options),
  });
  return {
    hall: project.hall,
    async close(drainMs = 0) {
      await control.leave(drainMs);
      await project.close(drainMs);
      await control.close();
    },
  };
}

const triesMax = 20;

/** A channel to the project's hall for one client, and the project if this process is the hall. */
export interface Reached {
  readonly channel: Channel;
  readonly project: Project | undefined;
}

/** Connects to the running hall, or becomes it. */
export async function reachOrBecomeHall(options: ProjectOptions): Promise<Reached> {
  const path = await socketPath(options.folder);
  for (let attempt = 0; attempt < triesMax; attempt++) {
    const socket = await greetHall(path, "mcp").catch(() => "silent" as const);
    if (socket === "silent") break;
    if (socket) return { channel: createHallChannel(socket), project: undefined };
    const project = await openShared(path, options);
    if (project) return { channel: acceptInside(project), project };
    // Another process was faster; its hall opens in a moment.
    await sleep(20 + Math.random() * 50);
  }
  // A hall of another version, or one that does not answer, holds the socket: open a separate hall.
  const project = await openAlone(options);
  return { channel: acceptInside(project), project };
}

/** Connects to the running hall, else to a temporary one that other processes cannot attach to. */
export async function reachHall(options: ProjectOptions): Promise<Reached> {
  const socket = await greetHall(await socketPath(options.folder), "mcp");
  if (socket) return { channel: createHallChannel(socket), project: undefined };
  const project = await openAlone(options);
  await project.hall.registry.looking();
  return { channel: acceptInside(project), project };
}

function acceptInside({ hall }: Project): Channel {
  const [near, far] = createMemoryPair();
  hall.server.accept(far);
  return near;
}

/** Applies a valid edit. An invalid one keeps the last good config; an error in one entry disables one server. */
function createReload(hall: Hall, initial: Settings["loaded"]): Parameters<typeof watchConfig>[1] {
  let servers = configuredServers(initial);
  return {
    changed(loaded) {
      logWarnings(loaded, hall.log);
      const next = configuredServers(loaded);
      const diff = diffServers(servers, next);
      servers = next;
      hall.log.info(diff, "config reloaded");
      void hall.note({
        kind: "changed",
        subject: "config",
        caller: "guildhall",
        reason: "a config file was edited",
        details: { ...diff },
      });
      hall.fleet
        .apply({ servers, ...diff })
        .catch((error: unknown) =>
          hall.log.error({ err: error }, "could not apply the config to all servers"),
        );
    },
    refused: (error) =>
      hall.log.error(`config not reloaded, keeping the last good one: ${error.message}`),
  };
}

function createHandlers(hall: Hall, { folder, settings }: ProjectOptions): AdminHandlers {
  const startedAt = Date.now();
  const patterns = settings.config.toolkits;
  return {
    status: async (): Promise<HallStatus> => ({
      version,
      pid: process.pid,
      project: folder,
      startedAt,
      clients: hall.server.clientCount,
      store: hall.store.state(),
      upstreams: describeUpstreams(hall),
      registrations: describeRegistrations(hall),
    }),
    sample: async ({ params }) => ({ answer: await hall.server.sample(params) }),
    approvals: async () => ({
      pending: hall.approvals
        .pending()
        .map(({ target, argumentsHash: _hash, isWaiting: _isWaiting, ...pending }) => ({
          tool: target.fullName,
          ...pending,
        })),
    }),
    async approve({ token, answer }) {
      // The tool as it was when approval was requested; it may have changed since.
      const { target, isWaiting } = hall.approvals.answer(token, answer);
      // A waiting call grants the answer itself, after it is in the audit.
      if (!isWaiting) await hall.trust?.grant(target, answer);
      return { tool: target.fullName };
    },
    trust: async () => ({ tools: describeTrust(hall) }),
    async groupsChanged() {
      hall.groups.replace(await openAgents(folder, hall.log));
      hall.server.refreshLists();
      return {};
    },
    async trustChanged({ isRevoked = false }) {
      if (isRevoked) hall.trust?.clearRuntimeTrust();
      await hall.trust?.refresh();
      if (hall.trust?.mayLoadModules(patterns)) await hall.modules.scan();
      hall.server.refreshLists();
      await reconcileUpstreams(hall);
      return {};
    },
    statistics: ({ since }) => hall.store.statistics(since),
    logs: async ({ server }) => ({ lines: hall.fleet.get(server).stderr() }),
    async restart({ server }) {
      const upstream = hall.fleet.get(server);
      await upstream.restart();
      return { state: upstream.state() };
    },
  };
}

/** After a change of trust: restarts refused servers, stops those no longer approved, and discovers those with held tools again. */
async function reconcileUpstreams({ fleet, registry, trust }: Hall): Promise<void> {
  if (!trust) return;
  const { servers } = trust.entries();
  const held = new Set(
    registry
      .tools()
      .flatMap((target) => (trust.judge(target).held === undefined ? [] : [target.toolkit.id])),
  );
  const work = fleet.all().map(async (upstream) => {
    const isApproved = Object.hasOwn(servers, upstream.id);
    if (!isApproved || upstream.state().kind === "down") await upstream.restart();
    if (isApproved && held.has(upstream.id)) await upstream.discover();
  });
  // A server that fails reports it at its next call.
  await Promise.allSettled(work);
}

/** The groups of a project and their guide for clients. Invalid files are logged and left out. */
async function openAgents(folder: string, log: Log): Promise<GroupSource> {
  const { agents, guide, problems } = await readAgentFolder(folder);
  for (const problem of problems) log.warn(problem);
  return { files: agents.map(({ agent }) => agent), guide };
}

function describeRegistrations(hall: Hall): HallStatus["registrations"] {
  return hall.registrations.all().map((toolkit) => {
    const { health } = hall.health.record(toolkit);
    const { registration, runner, registeredAt } = toolkit;
    const problem = health.state === "available" ? toolkit.problem?.() : health.reason;
    return {
      name: toolkit.id,
      state: health.state,
      runner: runner?.kind ?? null,
      tools: registration.tools.length,
      registeredAt,
      problem,
    };
  });
}

function describeUpstreams(hall: Hall): HallStatus["upstreams"] {
  return hall.fleet.all().map((upstream) => {
    const handshake = upstream.handshake();
    return {
      name: upstream.id,
      state: upstream.state(),
      era: handshake?.era,
      protocol: handshake?.version,
      tools: upstream.offer().tools.length,
      ...upstream.counts,
    };
  });
}
