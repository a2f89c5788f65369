import { join, relative } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { CallContext } from "../tool.ts";
import { type ArtefactMemory, readInside, type Written } from "./artefacts.ts";
import type { FeaturePlace } from "./place.ts";
import type { StepRun } from "./run.ts";
import type { StepName } from "./tool-list.ts";
import type { Writer } from "./writer.ts";

/** One step of the workflow. Throws HallError; files written before the failure stay. */
export type Step = (input: StepInput) => Promise<StepAnswer>;

export interface StepInput {
  readonly place: FeaturePlace;
  readonly args: JsonObject;
  readonly context: CallContext;
  readonly run: StepRun;
  readonly memory: ArtefactMemory;
  readonly settings: StepSettings;
}

export interface StepSettings {
  /** Tasks may run commands; each one needs approval. */
  readonly commands: boolean;
  /** The agent for the tasks of `implement` if the caller names none. */
  readonly agent?: string | undefined;
  /** The model that writes; undefined without one. */
  writer(context: CallContext): Promise<Writer | undefined>;
  now(): Date;
  /** How often silent work reports that it is alive. */
  readonly pulseMs?: number | undefined;
}

export interface StepAnswer {
  /** The result, naming the files. */
  readonly text: string;
  readonly files: readonly Written[];
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

/** The feature's folder relative to the project, with slashes on every platform. */
export function folderOf({ project, path }: FeaturePlace): string {
  return relative(project, path).split("\\").join("/");
}

export function dateOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

export function listWritten(files: readonly Written[], { path }: FeaturePlace): string {
  return files.map((file) => `- ${join(path, file.path)} (${file.change})`).join("\n");
}

export function describeWritten(what: string, files: readonly Written[], file: string): string {
  if (files.every(({ change }) => change === "unchanged"))
    return `${what} unchanged at ${file}; hand edits are kept`;
  const isCreated = files[0]?.change === "created";
  return `${what} ${isCreated ? "created successfully" : "updated"} at ${file}`;
}
