import { randomUUID } from "node:crypto";
import { appendFileSync, closeSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { HallError } from "../base/errors.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { openProjectFile } from "../base/project-files.ts";
import { type CallContext, type Progress, supportsForms } from "../tool.ts";
import {
  checkInside,
  type Draft,
  type FeaturePlace,
  type Memory,
  readInside,
  type WrittenFile,
  writeArtefacts,
} from "./artefacts.ts";
import { type NewClaim, takeClaim } from "./claim.ts";
import { timestampOf } from "./feature.ts";
import type { StepName } from "./tool-list.ts";
import type { WorkflowOptions } from "./workflow.ts";
import type { ModelWriter } from "./writer.ts";

/** One step of the workflow. Throws HallError; files written before the failure stay. */
export type StepFunction = (input: StepInput) => Promise<StepAnswer>;

export interface StepInput {
  readonly place: FeaturePlace;
  readonly args: JsonObject;
  readonly context: CallContext;
  readonly run: StepRun;
  /** The file with the texts we wrote last. */
  readonly memory: Memory;
  readonly settings: StepSettings;
}

export interface StepSettings {
  /** Tasks may run commands; each one needs approval. */
  readonly commands: boolean;
  /** The agent for the tasks of `implement` if the caller names none. */
  readonly agent?: string | undefined;
  /** The model that writes; undefined without one. */
  writer(context: CallContext): Promise<ModelWriter | undefined>;
  now(): Date;
  /** How often silent work reports that it is alive. */
  readonly pulseMs?: number | undefined;
}

export interface StepAnswer {
  /** The result, naming the files. */
  readonly text: string;
  readonly files: readonly WrittenFile[];
  readonly notes?: readonly string[];
  /** The step to run next, and arguments beside `spec_directory`. */
  readonly next?: StepName | undefined;
  readonly nextArguments?: JsonObject | undefined;
  /** Instructions for a model that called the step. */
  readonly forModel?: string | undefined;
  /** Fields of this step alone. */
  readonly details?: JsonObject;
  /** The step waits for answers, or for tasks the caller does. */
  readonly isPaused?: boolean;
}

/** The text of a document that the step requires. */
export async function needDocument(
  { place }: Pick<StepInput, "place">,
  name: string,
  step: StepName,
): Promise<string> {
  const text = await readInside(place, join(place.path, name));
  if (text !== undefined) return text;
  throw new HallError("EXECUTION", `${folderOf(place) || place.path} has no ${name}`, {
    next: [{ do: "run-step", step, arguments: { spec_directory: place.path } }],
    details: { missing: name },
  });
}

/** Writes the documents of a step, the main one first, and lists them. Hand edits are kept. */
export async function writeDocuments(
  title: string,
  drafts: readonly Draft[],
  { place, memory, args }: StepInput,
): Promise<Pick<StepAnswer, "text" | "files">> {
  const files = await writeArtefacts(drafts, { place, memory, force: args.force === true });
  const [main] = files;
  const file = join(place.path, main?.path ?? "");
  const change = main?.change === "created" ? "created" : "updated";
  let head = `${title} ${change} successfully at ${file}`;
  if (files.every(({ change }) => change === "unchanged"))
    head = `${title} unchanged at ${file}; hand edits are kept`;
  const lines = files.map(({ path, change }) => `- ${join(place.path, path)} (${change})`);
  return { text: [head, ...lines].join("\n"), files };
}

/** The feature's folder relative to the project, with slashes on every platform. */
export function folderOf({ project, path }: FeaturePlace): string {
  return relative(project, path).split("\\").join("/");
}

/** Asks the user with a form. Undefined if the client cannot ask, or the user declines. */
export async function askForm(
  context: CallContext,
  key: string,
  form: { readonly message: string; readonly properties: JsonObject; readonly required: string },
): Promise<JsonObject | undefined> {
  if (!supportsForms(context.capabilities)) return undefined;
  const { message, properties, required } = form;
  const requestedSchema = { type: "object", properties, required: [required] };
  const params = { mode: "form", message, requestedSchema };
  const { [key]: reply } = await context.ask({ [key]: { method: "elicitation/create", params } });
  return reply?.action === "accept" && isObject(reply.content) ? reply.content : undefined;
}

export function dateOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** A list among the arguments; empty if it is not there. */
export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export interface StepRunOptions
  extends Pick<StepInput, "place" | "args" | "context">,
    Required<Pick<WorkflowOptions, "folder" | "claims" | "now">>,
    Pick<WorkflowOptions, "documents" | "secrets"> {
  readonly step: StepName;
}

const rowDays = 30;
const logCharactersMax = 16 * 1024 * 1024;

/** Takes the claim, opens the log and adds the row. Throws if another run works on the feature. */
export async function beginRun(options: StepRunOptions): Promise<StepRun> {
  const { place, step, args, folder, claims, now } = options;
  const startedAt = now();
  const name = `${basename(place.path)}-${step}-${timestampOf(startedAt)}.log`;
  const log = join(".guildhall", "logs", name);
  // A cloned project may contain links in the place of our folders.
  checkInside({ root: folder }, join(folder, log));

  const claim: NewClaim = {
    run: `run_${randomUUID()}`,
    step,
    directory: place.path,
    startedAt: startedAt.toISOString(),
    arguments: args,
  };
  // A step that only reads needs no claim.
  const release = step === "analyze" ? async () => {} : await takeClaim(claims, claim);
  const file = openLog(folder, log);
  try {
    const run = new StepRun(options, { claim, log, file, release });
    await run.begin();
    return run;
  } catch (error) {
    await release();
    if (file !== undefined) closeSync(file);
    throw error;
  }
}

/** The step runs even if the log cannot be written; the row says how it ended. */
function openLog(folder: string, log: string): number | undefined {
  try {
    return openProjectFile(folder, log);
  } catch {
    return undefined;
  }
}

interface RunParts {
  readonly claim: NewClaim;
  readonly log: string;
  readonly file: number | undefined;
  release(): Promise<void>;
}

/** One execution of a step: an id, a log file and a row in the store. */
export class StepRun {
  readonly id: string;
  /** Relative to the hall's folder. */
  readonly log: string;
  readonly #options: StepRunOptions;
  readonly #parts: RunParts;
  #notedCharacters = 0;
  #percent = 0;

  constructor(options: StepRunOptions, parts: RunParts) {
    this.id = parts.claim.run;
    this.log = parts.log;
    this.#options = options;
    this.#parts = parts;
  }

  async begin(): Promise<void> {
    const { step, place, args } = this.#options;
    const head = `run ${this.id}: ${step} of ${basename(place.path)}`;
    this.note(`${head}\n${place.path}\narguments: ${JSON.stringify(args)}`);
    await this.#putRow("running");
  }

  /** Reports progress to the caller and the log. Throws if the caller has cancelled. */
  report(percent: number, message: string): void {
    this.note(`${percent} % ${message}`);
    const { cancelReason } = this.#options.context.scope;
    if (cancelReason) throw cancelReason;
    this.progress(percent, { message });
  }

  /** Reports progress to the caller only; for frequent updates. Never throws. */
  progress(percent: number, details: Pick<Progress, "message" | "elapsedSeconds">): void {
    // Progress must grow, and reaches 100 only with the result.
    this.#percent = Math.max(this.#percent + (100 - this.#percent) / 100_000, percent);
    this.#options.context.progress({ progress: this.#percent, total: 100, ...details });
  }

  /** Adds to the log, up to a limit. */
  note(message: string): void {
    if (this.#notedCharacters > logCharactersMax) return;
    this.#notedCharacters += message.length;
    const isFull = this.#notedCharacters > logCharactersMax;
    this.#append(isFull ? "log limit of 16 MiB reached" : message);
  }

  async end(
    state: "completed" | "paused" | "failed" | "cancelled",
    message: string,
  ): Promise<void> {
    this.#append(`${state}: ${message}`);
    if (this.#parts.file !== undefined) closeSync(this.#parts.file);
    await this.#parts.release();
    await this.#putRow(state, { endedAt: this.#options.now().toISOString(), message });
  }

  #append(message: string): void {
    const { now, secrets } = this.#options;
    const line = `${now().toISOString()} ${message.replace(/\n/g, "\n  ")}\n`;
    try {
      if (this.#parts.file !== undefined)
        appendFileSync(this.#parts.file, secrets?.scrub(line) ?? line);
    } catch {
      // A full disk must not stop the step.
    }
  }

  async #putRow(state: string, details: JsonObject = {}): Promise<void> {
    const { run, directory, ...claim } = this.#parts.claim;
    const facts = { ...claim, feature: basename(directory), directory, log: this.log };
    const row = { kind: "workflow", ...facts, state, ...details };
    const ttlMs = rowDays * 86_400_000;
    await this.#options.documents?.put(`workflow:${run}`, row as Json, { ttlMs });
  }
}
