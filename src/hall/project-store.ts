import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { userInfo } from "node:os";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { formatTime } from "../base/text.ts";
import type { Moved } from "../store/move.ts";
import {
  findStoreLocation,
  mayHaveRows,
  moveToDatabase,
  openStore,
  type StoreSettings,
} from "../store/open-store.ts";
import { redactUrl } from "../store/postgres/url.ts";
import type { KeptCall, Store } from "../store/store.ts";
import { type Ledger, openLedger } from "../trust/ledger.ts";
import type { UpstreamCounts } from "../upstream/upstream.ts";
import { askHall } from "./admin-client.ts";
import type { Discovery } from "./discover.ts";
import { hasProjectFile, loadSettings, type Settings } from "./settings.ts";
import type { MovedOwn } from "./together/move-own.ts";
import { shareLedger } from "./together/shared-ledger.ts";

/** The records of a project as commands use them, beside a hall that may be writing too. */

/** Opens the store for reading. Undefined if nothing was recorded. */
export async function openProjectStore(settings?: Settings): Promise<Store | undefined> {
  const used = settings ?? (await loadSettings({}, "error"));
  const store = projectStoreSettings(used);
  return mayHaveRows(store) ? openStore(store, { ...used, isReader: true }) : undefined;
}

export function projectStoreSettings(settings: Settings): StoreSettings {
  const { folder, config } = settings;
  const location = findStoreLocation({
    url: config.store.url,
    folder,
    hasConfig: hasProjectFile(settings),
  });
  return { ...location, retention: config.store };
}

export async function withProjectStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openProjectStore();
  if (!store) {
    throw new HallError("NOT_FOUND", "no calls recorded in this folder", {
      hint: "Run this in the folder that your client starts Guildhall in.",
    });
  }
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * Moves the rows of the project's file to a database, by default the one of the config. Throws CONFLICT while a hall of
 * the project runs: it would write to the file afterwards.
 */
export async function moveProjectStore(
  settings: Settings,
  {
    to,
    onProgress,
  }: { readonly to: string | undefined; onProgress(done: number, total: number): void },
): Promise<Moved & MovedOwn & { readonly from: string; readonly to: string }> {
  const { folder, config, log } = settings;
  const url = to ?? config.store.url;
  if (url === undefined)
    throw new HallError("INVALID_PARAMS", "no database given: use --to, or set store.url");
  const location = findStoreLocation({
    url: undefined,
    folder,
    hasConfig: hasProjectFile(settings),
  });
  if (!("path" in location) || !existsSync(location.path))
    throw new HallError("NOT_FOUND", "no calls recorded in this folder", {
      hint: "Run this in the folder that your client starts Guildhall in.",
    });
  const hall = await askHall(folder, "status", {});
  if (hall?.store.kind === "sqlite")
    throw new HallError("CONFLICT", "a hall of this project is running and writes to the file", {
      hint: "Stop it, and close the clients that started it.",
      next: [{ do: "run-command", command: "stop" }],
    });
  const notify = (message: string): void => log.warn(message);
  const moved = await moveToDatabase(location.path, url, { notify, onProgress });
  const own = await (await import("./together/move-own.ts")).moveOwn(settings, url);
  return { from: location.path, to: redactUrl(url), ...moved, ...own };
}

/** Why the store is not the one that was written before; undefined if it is. */
export async function findStoreProblem(settings: Settings): Promise<HallError | undefined> {
  const store = await openProjectStore(settings);
  try {
    await store?.audit.check();
    return undefined;
  } catch (error) {
    return error instanceof HallError ? error : new HallError("UNAVAILABLE", messageOf(error));
  } finally {
    await store?.close();
  }
}

/** The approvals of the project. */
export async function openProjectLedger(settings: Settings): Promise<Ledger> {
  const local = await openLocalLedger(settings);
  const ledger = settings.config.store.url === undefined ? local : shareLedger(local, settings);
  if (settings.config.trust.scope !== "user") return ledger;
  const { adoptForUser } = await import("./take-over.ts");
  const subjects = await adoptForUser(settings, ledger);
  await recordInProject(settings, {
    decision: { kind: "reviewed", subjects, reason: "by trust.scope" },
  });
  return ledger;
}

/** The file of this machine, which follows what several halls share. */
export async function openLocalLedger({ folder, log }: Settings): Promise<Ledger> {
  return openLedger(await realpath(folder), { warn: (message) => log.warn(message) });
}

/** A person's decision, at a terminal or in their config file, for the audit. */
export interface PersonDecision {
  readonly kind: "reviewed" | "granted" | "revoked" | "reset" | "changed";
  readonly subjects: readonly string[];
  readonly reason: string;
  /** Default: the person whose hall this is. */
  readonly caller?: string | undefined;
}

export interface ProjectRecords {
  readonly decision?: PersonDecision | undefined;
  readonly discoveries?: readonly Discovery[] | undefined;
}

/**
 * Writes a decision to the audit and keeps why servers failed, until they answer again. Never
 * throws: the decision is in force even if it cannot be recorded.
 */
export async function recordInProject(
  settings: Settings,
  { decision, discoveries = [] }: ProjectRecords,
): Promise<void> {
  const location = projectStoreSettings(settings);
  const hasDecision = decision !== undefined && decision.subjects.length > 0;
  const hasFailure = discoveries.some((discovery) => !("found" in discovery));
  const clearsFailures = discoveries.length > 0 && mayHaveRows(location);
  if (!hasDecision && !hasFailure && !clearsFailures) return;

  const store = openStore(location, settings);
  try {
    await saveFailures(store, discoveries, settings);
    if (decision) await appendDecision(store, decision);
  } catch (err) {
    settings.log.error({ err, decision }, "could not write to the project's records");
  } finally {
    await store.close();
  }
}

async function appendDecision(
  store: Store,
  { kind, subjects, reason, caller = localUser() }: PersonDecision,
): Promise<void> {
  for (const subject of subjects) await store.audit.append({ kind, subject, caller, reason });
}

/** The person whose hall this is, as the audit names them. */
export function localUser(): string {
  return `user ${userInfo().username}`;
}

async function saveFailures(
  store: Store,
  discoveries: readonly Discovery[],
  { secrets }: Settings,
): Promise<void> {
  for (const discovery of discoveries) {
    const key = failureKey(discovery.name);
    if ("found" in discovery) await store.discoveries.remove(key);
    else
      await store.discoveries.put(key, { at: Date.now(), reason: secrets.scrub(discovery.reason) });
  }
}

const failureKey = (server: string): string => `failed discovery of ${server}`;

/** The recorded calls of a server, and its last failure. */
export type ServerHistory = Readonly<UpstreamCounts>;

/** By server; empty where nothing was recorded. */
export async function readHistory(
  settings: Settings,
  names: readonly string[],
): Promise<ReadonlyMap<string, ServerHistory>> {
  const store = await openProjectStore(settings);
  if (!store) return new Map();
  try {
    const { toolkits } = await store.statistics();
    const figures = new Map(toolkits.map((toolkit) => [toolkit.toolkit, toolkit]));
    const histories = names.map(async (name): Promise<[string, ServerHistory]> => {
      const { calls = 0, errors = 0 } = figures.get(name) ?? {};
      return [name, { calls, errors, lastError: await readLastError(store, name, errors > 0) }];
    });
    return new Map(await Promise.all(histories));
  } catch (err) {
    settings.log.warn({ err }, "could not read the project's records");
    return new Map();
  } finally {
    await store.close();
  }
}

async function readLastError(
  store: Store,
  name: string,
  hasErrors: boolean,
): Promise<string | undefined> {
  const outcomes = hasErrors ? ["failed", "error"] : [];
  const lists = outcomes.map((outcome) => store.calls.list({ tool: name, outcome, limit: 1 }));
  const calls = (await Promise.all(lists)).flat();
  const failure = await store.discoveries.find(failureKey(name));

  const errors = calls.map(describeCall);
  if (isObject(failure)) errors.push({ at: Number(failure.at), text: String(failure.reason) });
  const [last] = errors.sort((a, b) => b.at - a.at);
  return last && `${last.text} (${formatTime(last.at)})`;
}

/** The store keeps how a call ended, not what the tool answered. */
function describeCall({ at, tool, code }: KeptCall): { at: number; text: string } {
  return { at, text: code === null ? `error from ${tool}` : `${code} from ${tool}` };
}
