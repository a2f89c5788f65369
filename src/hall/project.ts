import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { configuredServers, diffServers } from "../config/unusable.ts";
import { watchConfig } from "../config/watch.ts";
import { readLock } from "../upstream/lock.ts";
import type { Channel } from "../wire/channel.ts";
import { createMemoryPair } from "../wire/memory.ts";
import { createHallChannel, greetHall } from "./admin-client.ts";
import { createHandlers, openAgents } from "./admin-handlers.ts";
import { type Control, type ControlOptions, openControl } from "./control.ts";
import { createHall, type Hall } from "./hall.ts";
import { openBuiltins } from "./known-tools.ts";
import { openProjectLedger, projectStoreSettings } from "./project-store.ts";
import { logWarnings, type Settings } from "./settings.ts";
import { socketPath } from "./socket.ts";

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
  const [agents, lock, ledger] = await Promise.all([
    openAgents(folder, log),
    readLock(folder, (message) => log.warn(message)),
    openProjectLedger(settings),
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
    toolkits: openBuiltins(folder, config),
    workflow: {
      folder,
      ...config.workflow,
      roots: [folder, ...config.workflow.roots.map((path) => resolve(folder, path))],
      isListed: usesWorkflow(loaded),
    },
    servers: configuredServers(loaded),
    modules: config.toolkits.length > 0 ? { patterns: config.toolkits, folder } : undefined,
    rates: config.limits,
    capacities: config.limits,
    healthCheck: config.health,
    allowPrivateEndpoints: config.registration.allowPrivate,
    trust: {
      ledger,
      policy: config.trust.policy,
      policies: config.trust.servers,
      overrides: config.trust.tools,
      unguarded: config.trust.unguarded,
    },
    store: projectStoreSettings(settings),
    record: config.store.record,
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
    handlers: createHandlers(project.hall, options.settings),
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

/** In a project with a config, the workflow is listed if the config names it or specs exist. */
function usesWorkflow({ config, files }: Settings["loaded"]): boolean {
  const { agent, commands, roots } = config.workflow;
  const isSet = agent !== undefined || commands || roots.length > 0;
  return files.length === 0 || isSet || JSON.stringify(config).includes("speckit");
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
