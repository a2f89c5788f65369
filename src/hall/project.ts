import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../base/errors.ts";
import { openSecretStore } from "../base/secret-store.ts";
import { withResolvers } from "../base/timing.ts";
import { collectServers, diffServers, isBuiltinOn } from "../config/configured-servers.ts";
import { watchConfig } from "../config/watch.ts";
import { isOf } from "../registry/names.ts";
import { localRights, within } from "../server/rights.ts";
import type { Toolkit } from "../tool.ts";
import { readLock } from "../upstream/lock.ts";
import type { Channel } from "../wire/channel.ts";
import { createMemoryPair } from "../wire/memory.ts";
import { createHallChannel, greetHall } from "./admin-client.ts";
import { answerHere, createFollowTrust, createHandlers } from "./admin-handlers.ts";
import { createApprovalNotifier } from "./approval-notifier.ts";
import { type Control, type ControlOptions, openControl } from "./control.ts";
import { createHall, type Hall } from "./hall.ts";
import type { HallOptions } from "./hall-options.ts";
import { openBuiltins, switchBuiltins } from "./known-tools.ts";
import { policiesChanged, publishedChanged } from "./policies.ts";
import { openLocalLedger, openProjectLedger, projectStoreSettings } from "./project-store.ts";
import { approvedWords, openAgents, openSavedPrograms, watchFolders } from "./project-texts.ts";
import { openServerLogs } from "./server-logs.ts";
import { facesOf, logWarnings, presetsOf, type Settings, trustSettingsOf } from "./settings.ts";
import { socketPath } from "./socket.ts";
import { followEntries } from "./together/shared-ledger.ts";
import { followPolicies } from "./together/shared-policies.ts";
import { followTokens } from "./together/shared-tokens.ts";
import { openBoard } from "./together/team.ts";
import type { Together } from "./together/together.ts";

/** The hall of a project folder with its config, its lock and hot reload. */
export interface Project {
  readonly hall: Hall;
  /** Starts and stops what the user's decisions allow now. */
  followTrust(): Promise<void>;
  close(drainMs?: number): Promise<void>;
}

export interface ProjectOptions {
  readonly folder: string;
  readonly settings: Settings;
  readonly isStatic?: boolean;
  readonly mayDiscover?: HallOptions["mayDiscover"];
  readonly approvalLeft?: HallOptions["approvalLeft"];
  readonly learning?: HallOptions["learning"];
  /** The preset of the client that this process serves. */
  readonly preset?: string | undefined;
}

/** A hall without the local socket: no other process can attach. */
export async function openAlone({
  folder,
  settings,
  isStatic = false,
  mayDiscover,
  approvalLeft,
  learning,
}: ProjectOptions): Promise<Project> {
  const { loaded, faces, log, secrets } = settings;
  const { config } = loaded;
  const [lock, ledger, logs, together] = await Promise.all([
    readLock(folder, (message) => log.warn(message)),
    openProjectLedger(settings),
    openServerLogs(settings),
    openTogether(settings),
  ]);
  const entries = await ledger.read();
  const moduleOptions = { patterns: config.toolkits, folder, sandbox: config.defaults.sandbox };
  // With other halls, what is approved is known for certain only after joining them.
  const early = together ? { warn() {} } : log;
  const agents = await openAgents(folder, entries, early);
  const savedPrograms = await openSavedPrograms(folder, entries, early);
  const isOpen = await watchFolders(settings);
  let current = loaded;
  let switching = Promise.resolve();
  const hall = await createHall({
    faces,
    agents,
    savedPrograms,
    planner: config.planner,
    runs: { keep: config.store.runs, keepDays: config.store.keepDays },
    aliases: approvedWords(loaded, entries).aliases,
    names: config.names,
    languages: config.code,
    isStatic,
    timeoutMs: config.timeoutSeconds * 1000,
    toolkits: openBuiltins(folder, loaded, isOpen),
    workflow: {
      folder,
      ...config.workflow,
      roots: [folder, ...config.workflow.roots.map((path) => resolve(folder, path))],
      isListed: () => usesWorkflow(current),
    },
    servers: collectServers(loaded),
    modules: config.toolkits.length > 0 ? moduleOptions : undefined,
    rates: config.limits,
    capacities: config.limits,
    healthCheck: config.health,
    allowPrivateEndpoints: config.registration.allowPrivate,
    trust: { ledger, ...trustSettingsOf(config) },
    policies: loaded.policies,
    store: projectStoreSettings(settings),
    record: config.store.record,
    telemetry: config.telemetry,
    ...(mayDiscover ? { mayDiscover } : {}),
    ...(approvalLeft ? { approvalLeft } : {}),
    printed: logs.write,
    learning,
    lock,
    log,
    secrets,
    secretStore: together?.own.secrets(openSecretStore()),
    together,
  });
  const followTrust = createFollowTrust(hall, folder);
  if (together) {
    await joinOthers(hall, together, settings);
    followTrust().catch((err: unknown) =>
      log.error({ err }, "could not follow the trust of others"),
    );
  }
  hall.server.presets = presetsOf(config);
  const reload = createReload(hall, loaded);
  const watching = watchConfig(
    settings.load,
    {
      ...reload,
      changed(next) {
        if (!isDeepStrictEqual(next.policies, current.policies))
          policiesChanged(hall, next.policies).catch((error: unknown) =>
            log.error({ err: error }, "could not reload the policies"),
          );
        current = next;
        reload.changed(next);
        switching = switching
          .then(() => switchBuiltins(hall.registry, openBuiltins(folder, next, isOpen)))
          .catch((error: unknown) => log.error({ err: error }, "could not switch built-in tools"));
      },
    },
    { current: loaded },
  );
  return {
    hall,
    followTrust,
    async close(drainMs = 0) {
      watching.close();
      await hall.close(drainMs);
      await together?.close();
      logs.flush();
    },
  };
}

/** Loaded only with `store.url`. */
async function openTogether(settings: Settings): Promise<Together | undefined> {
  const board = await openBoard(settings);
  return board && (await import("./together/together.ts")).createTogether(board);
}

/** From here on, what is decided in any hall holds in this one. */
async function joinOthers(
  hall: Hall,
  { board, approvals }: Together,
  settings: Settings,
): Promise<void> {
  approvals.answerHere = (token, answer) =>
    answerHere(hall, token, answer).catch((err: unknown) =>
      hall.log.warn({ err }, "could not use an answer from another hall"),
    );
  const ledger = await openLocalLedger(settings);
  board.on("trust", async (_key, text) => {
    await followEntries(ledger, text);
    hall.trust?.refresh();
    hall.approvals.wake();
  });
  followTokens(board);
  const obeyPublished = await followPolicies(board, (files) => publishedChanged(hall, files));
  await board.join();
  await obeyPublished();
}

/** The project's hall with its local socket. Undefined if another process holds the socket. */
export async function openShared(
  path: string,
  options: ProjectOptions,
): Promise<Project | undefined> {
  const ready = withResolvers<ControlOptions>();
  const control: Control | undefined = await openControl(path, ready.promise);
  if (!control) return undefined;
  const { folder, settings } = options;
  const project = await openAlone({
    ...options,
    approvalLeft: createApprovalNotifier({ folder, log: settings.log }),
  });
  ready.resolve({
    server: project.hall.server,
    handlers: createHandlers(project.hall, project.followTrust, settings),
  });
  return {
    ...project,
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
  const { folder, preset } = options;
  const path = await socketPath(folder);
  for (let attempt = 0; attempt < triesMax; attempt++) {
    const socket = await greetHall(path, "mcp", { preset }).catch((error: unknown) => {
      options.settings.log.warn(`${messageOf(error)}; this client gets a hall of its own`);
      return "unusable" as const;
    });
    if (socket === "unusable") break;
    if (socket) return { channel: createHallChannel(socket), project: undefined };
    const project = await openShared(path, options);
    if (project) return { channel: acceptInside(project, preset), project };
    // Another process was faster; its hall opens in a moment.
    await sleep(20 + Math.random() * 50);
  }
  // A hall of another version, one that does not answer, or a foreign program holds the socket: open a separate hall.
  const project = await openAlone(options);
  return { channel: acceptInside(project, preset), project };
}

/**
 * Connects to the running hall, else to a temporary one that other processes cannot attach to. That one waits for no
 * server that the lock does not have, except the one that `tool` belongs to.
 */
export async function reachHall(
  options: ProjectOptions,
  tool: string | undefined,
): Promise<Reached> {
  const socket = await greetHall(await socketPath(options.folder), "mcp");
  if (socket) return { channel: createHallChannel(socket), project: undefined };
  const project = await openAlone({
    ...options,
    mayDiscover: (server) => tool !== undefined && mayOffer(server, tool),
  });
  await project.hall.registry.pendingDiscovery(tool);
  return { channel: acceptInside(project), project };
}

function mayOffer(server: Pick<Toolkit, "id" | "prefix">, tool: string): boolean {
  return server.prefix === "" ? !/\.|__/.test(tool) : isOf(server, tool);
}

/** In a project with servers, the workflow is listed if the config names it or specs exist. */
function usesWorkflow(loaded: Settings["loaded"]): boolean {
  const { agent, commands, roots } = loaded.config.workflow;
  const isSet = agent !== undefined || commands || roots.length > 0;
  const isNamed = JSON.stringify(loaded.config).includes("speckit");
  return isSet || isNamed || isBuiltinOn("speckit", loaded);
}

export function acceptInside({ hall }: Project, preset?: string): Channel {
  const [near, far] = createMemoryPair();
  hall.server.accept(far, { rights: within(preset, localRights, hall.server.presets) });
  return near;
}

/** Applies a valid edit. An invalid one keeps the last good config; an error in one entry disables one server. */
function createReload(hall: Hall, initial: Settings["loaded"]): Parameters<typeof watchConfig>[1] {
  let servers = collectServers(initial);
  return {
    changed(loaded) {
      logWarnings(loaded, hall.log);
      const next = collectServers(loaded);
      const changes = diffServers(servers, next);
      servers = next;
      hall.trust?.configure(trustSettingsOf(loaded.config));
      hall.server.presets = presetsOf(loaded.config);
      hall.server.setFaces(facesOf(loaded.config));
      hall.log.info(changes, "config reloaded");
      void hall.note({
        kind: "changed",
        subject: "config",
        caller: "guildhall",
        reason: "a config file was edited",
        details: { ...changes },
      });
      hall.fleet
        .apply({ servers, ...changes })
        .catch((error: unknown) =>
          hall.log.error({ err: error }, "could not apply the config to all servers"),
        );
    },
    refused: (error) =>
      hall.log.error(`config not reloaded, keeping the last good one: ${error.message}`),
  };
}
