import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Json, JsonObject } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import type { DocumentStore } from "../store/store.ts";
import type { CallContext } from "../tool.ts";
import { takeClaim } from "./claim.ts";
import { stampOf } from "./numbering.ts";
import { checkInside, type Place } from "./place.ts";
import type { StepName } from "./tool-list.ts";

/** One execution of a step: an id, a log, a row in the store; and nobody else at work on the feature meanwhile. */
export interface Run {
  readonly id: string;
  /** From the hall's folder on. */
  readonly log: string;
  /** Says how far it is, to the caller and the log. Throws when the caller has withdrawn: what is done by then stays. */
  say(percent: number, message: string): void;
  /** The same for what comes so often that the log has enough without it. Never throws. */
  tell(percent: number, message: string): void;
  /** For the log only. */
  note(message: string): void;
  end(state: RunState, message: string): Promise<void>;
}

export type RunState = "completed" | "paused" | "failed" | "cancelled";

export interface RunOptions {
  readonly place: Place;
  readonly step: StepName;
  readonly args: JsonObject;
  readonly context: CallContext;
  /** The hall's folder. */
  readonly folder: string;
  /** Where runs mark what they work on. */
  readonly claims: string;
  readonly shelf?: DocumentStore | undefined;
  readonly secrets?: Secrets | undefined;
  readonly now: () => Date;
  /** It only reads, so it need not be alone. */
  readonly isReader?: boolean;
}

const rowDays = 30;
/** Commands and agents may say more than anybody reads. */
const logCharactersMax = 16 * 1024 * 1024;

export async function beginRun({
  place,
  step,
  args,
  context,
  folder,
  claims,
  shelf,
  secrets,
  now,
  isReader = false,
}: RunOptions): Promise<Run> {
  const id = `run_${randomUUID()}`;
  const startedAt = now();
  const feature = basename(place.path);
  const log = join(".guildhall", "logs", `${feature}-${step}-${stampOf(startedAt)}.log`);
  // A cloned project may bring links in the place of our own folders.
  await checkInside({ root: folder }, join(folder, log));
  const outline = {
    run: id,
    step,
    directory: place.path,
    startedAt: startedAt.toISOString(),
    arguments: args,
  };
  const leave = isReader ? async () => {} : await takeClaim(claims, outline);
  let written: Promise<void> = Promise.resolve();
  let handle: FileHandle | undefined;
  const put = (state: string, details: JsonObject = {}): Promise<void> =>
    shelf?.put(
      `workflow:${id}`,
      {
        kind: "workflow",
        feature,
        directory: place.path,
        step,
        state,
        startedAt: outline.startedAt,
        log,
        arguments: args as Json,
        ...details,
      } as Json,
      { ttlMs: rowDays * 86_400_000 },
    ) ?? Promise.resolve();
  const append = (message: string): void => {
    const line = `${now().toISOString()} ${message.replace(/\n/g, "\n  ")}\n`;
    // A log that cannot be written stops no work; the run's row tells how it ended.
    written = written.then(() => handle?.appendFile(secrets?.scrub(line) ?? line)).catch(() => {});
  };
  let noted = 0;
  const note = (message: string): void => {
    if (noted > logCharactersMax) return;
    noted += message.length;
    append(noted > logCharactersMax ? "… and more, too much to keep" : message);
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
  // What is told must grow, and never to the end: that is said once, by the answer.
  const tell = (percent: number, message: string): void => {
    last = Math.max(last + (100 - last) / 100_000, percent);
    context.progress({ progress: last, total: 100, message });
  };
  return {
    id,
    log,
    say(percent, message) {
      note(`${percent} % ${message}`);
      if (context.scope.cancelled) throw context.scope.cancelled;
      tell(percent, message);
    },
    tell,
    note,
    async end(state, message) {
      append(`${state}: ${message}`);
      await written;
      await handle?.close();
      await leave();
      await put(state, { endedAt: now().toISOString(), message });
    },
  };
}
