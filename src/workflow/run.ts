import { randomUUID } from "node:crypto";
import { type FileHandle, link, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { HallError } from "../base/errors.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import type { Shelf } from "../store/store.ts";
import type { CallContext } from "../tool.ts";
import { stampOf } from "./numbering.ts";
import { checkInside, type Place } from "./place.ts";

/** One execution of a step: an id, a log, a row in the store; and nobody else at work on the feature meanwhile. */
export interface Run {
  readonly id: string;
  /** From the hall's folder on. */
  readonly log: string;
  /** Says how far it is, to the caller and the log. Throws when the caller has withdrawn: what is done by then stays. */
  say(percent: number, message: string): void;
  /** For the log only. */
  note(message: string): void;
  end(state: RunState, message: string): Promise<void>;
}

export type RunState = "completed" | "paused" | "failed" | "cancelled";

export interface RunOptions {
  readonly place: Place;
  readonly step: string;
  readonly args: JsonObject;
  readonly context: CallContext;
  /** The hall's folder. */
  readonly folder: string;
  readonly shelf?: Shelf | undefined;
  readonly secrets?: Secrets | undefined;
  readonly now: () => Date;
  /** It only reads, so it need not be alone. */
  readonly isReader?: boolean;
}

/** What a run leaves beside the feature while it works: after a crash it says what was interrupted. */
export interface RunClaim {
  readonly run: string;
  readonly step: string;
  readonly pid: number;
  readonly directory: string;
  readonly startedAt: string;
  readonly arguments: JsonObject;
}

const rowDays = 30;

export async function beginRun({ place, step, args, context, folder, shelf, secrets, now, isReader = false }: RunOptions): Promise<Run> {
  const id = `run_${randomUUID()}`;
  const startedAt = now();
  const feature = basename(place.path);
  const claim: RunClaim = { run: id, step, pid: process.pid, directory: place.path, startedAt: startedAt.toISOString(), arguments: args };
  const log = join(".guildhall", "logs", `${feature}-${step}-${stampOf(startedAt)}.log`);
  // A cloned project may bring links in the place of our own folders.
  for (const path of [join(folder, log), claimPath(folder, place.path)]) await checkInside({ root: folder }, path);
  const claimFile = isReader ? undefined : await takeClaim(folder, claim);
  const leave = async (): Promise<void> => {
    if (claimFile === undefined) return;
    await rm(claimFile, { force: true });
    here.delete(id);
  };
  let written: Promise<void> = Promise.resolve();
  let handle: FileHandle | undefined;
  const put = (state: string, details: JsonObject = {}): Promise<void> =>
    shelf?.put(
      `workflow:${id}`,
      { kind: "workflow", feature, directory: place.path, step, state, startedAt: claim.startedAt, log, arguments: args as Json, ...details } as Json,
      { ttlMs: rowDays * 86_400_000 },
    ) ?? Promise.resolve();
  const note = (message: string): void => {
    const line = `${now().toISOString()} ${message.replace(/\n/g, "\n  ")}\n`;
    // A log that cannot be written stops no work; the run's row tells how it ended.
    written = written.then(() => handle?.appendFile(secrets?.scrub(line) ?? line)).catch(() => {});
  };
  try {
    await mkdir(join(folder, ".guildhall", "logs"), { recursive: true });
    handle = await open(join(folder, log), "a").catch(() => undefined);
    note(`run ${id}: ${step} of ${feature}\n${place.path}\narguments: ${JSON.stringify(args)}`);
    await put("running");
  } catch (error) {
    await leave();
    await handle?.close();
    throw error;
  }
  let last = 0;
  return {
    id,
    log,
    say(percent, message) {
      note(`${percent} % ${message}`);
      if (context.scope.cancelled) throw context.scope.cancelled;
      last = Math.max(last + 0.01, percent);
      context.progress({ progress: last, total: 100, message });
    },
    note,
    async end(state, message) {
      note(`${state}: ${message}`);
      await written;
      await handle?.close();
      await leave();
      await put(state, { endedAt: now().toISOString(), message });
    },
  };
}

function claimPath(folder: string, directory: string): string {
  return join(folder, ".guildhall", "workflow", `${basename(directory)}.run.json`);
}

/** Runs of this process: its own claim is no proof that somebody is at work. */
const here = new Set<string>();

/** Throws EXECUTION while another run is at work on the feature. The claim of one that was killed is taken over. */
async function takeClaim(folder: string, claim: RunClaim): Promise<string> {
  const file = claimPath(folder, claim.directory);
  await mkdir(join(folder, ".guildhall", "workflow"), { recursive: true });
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await writeFile(file, JSON.stringify(claim), { flag: "wx" });
      here.add(claim.run);
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const text = await readFile(file, "utf8").catch(() => undefined);
    const found = text === undefined ? undefined : parseClaim(text);
    if (text !== undefined && found && isAtWork(found)) {
      throw new HallError("EXECUTION", `${basename(claim.directory)} is being worked on: ${found.step} runs since ${found.startedAt} (${found.run})`, {
        hint: "Wait until it ends, or cancel it; then call again.",
        details: { run: found.run, step: found.step },
      });
    }
    if (text !== undefined) await removeStale(file, text);
  }
  throw new HallError("EXECUTION", `${basename(claim.directory)} is being worked on by another run`, { hint: "Wait until it ends, then call again." });
}

/** Only if it is still the one that was read: another process may have taken over meanwhile. */
async function removeStale(file: string, text: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, "utf8")) !== text) await link(aside, file).catch(() => {});
  } catch {
    // Somebody else was faster.
  } finally {
    await rm(aside, { force: true });
  }
}

function isAtWork({ pid, run }: RunClaim): boolean {
  if (pid === process.pid) return here.has(run);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function parseClaim(text: string): RunClaim | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value.run === "string" && typeof value.pid === "number" ? (value as unknown as RunClaim) : undefined;
  } catch {
    return undefined;
  }
}

/** The run that is at work on a feature, or was when its process ended. */
export async function findRun(folder: string, directory: string): Promise<(RunClaim & { readonly isAtWork: boolean }) | undefined> {
  const text = await readFile(claimPath(folder, directory), "utf8").catch(() => undefined);
  const claim = text === undefined ? undefined : parseClaim(text);
  return claim && { ...claim, isAtWork: isAtWork(claim) };
}
