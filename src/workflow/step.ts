import { join, relative } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { CallContext } from "../tool.ts";
import { type ArtefactMemory, readInside, type Written } from "./artefacts.ts";
import type { Place } from "./place.ts";
import type { Run } from "./run.ts";
import type { Writer } from "./writer.ts";

/** One step of the workflow: what it gets, and what it gives. Throws HallError; what it wrote before stays. */
export type Step = (input: StepInput) => Promise<StepAnswer>;

export interface StepInput {
  readonly place: Place;
  readonly args: JsonObject;
  readonly context: CallContext;
  readonly run: Run;
  readonly memory: ArtefactMemory;
  readonly settings: StepSettings;
}

export interface StepSettings {
  /** Commands in tasks may run, each with a person's yes. */
  readonly commands: boolean;
  /** Who gets the tasks of `implement`, where the caller names nobody. */
  readonly agent?: string | undefined;
  /** Writes with a model; undefined where there is none. */
  writer(context: CallContext): Promise<Writer | undefined>;
  now(): Date;
  /** How often what is silent gives a sign of life. */
  readonly pulseMs?: number | undefined;
}

export interface StepAnswer {
  /** What happened, naming the files. */
  readonly text: string;
  readonly files: readonly Written[];
  readonly notes?: readonly string[];
  /** The step that comes next. */
  readonly next?: string | undefined;
  /** What the step has to say in fields of its own. */
  readonly details?: JsonObject;
  /** It waits for somebody: answers, tasks done by the caller. */
  readonly isPaused?: boolean;
}

/** The text of a document the step cannot do without. */
export async function needDocument(
  { place }: Pick<StepInput, "place">,
  name: string,
  step: string,
): Promise<string> {
  const text = await readInside(place, join(place.path, name));
  if (text !== undefined) return text;
  throw new HallError(
    "EXECUTION",
    `${relative(place.project, place.path) || place.path} has no ${name}: run speckit.${step} first`,
    {
      hint: `Call speckit.${step} with the same spec_directory.`,
      details: { missing: name, step },
    },
  );
}

/** "specs/001-x", with slashes on every machine. */
export function folderOf({ project, path }: Place): string {
  return relative(project, path).split("\\").join("/");
}

export function dateOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** "spec.md created, checklists/requirements.md unchanged". */
export function tellFiles(files: readonly Written[], { path }: Place): string {
  return files.map((file) => `- ${join(path, file.path)} (${file.change})`).join("\n");
}

/** "Plan written at …", unless nothing had to be. */
export function tellWritten(what: string, files: readonly Written[], file: string): string {
  if (files.every(({ change }) => change === "unchanged"))
    return `Nothing new to write: ${file} and what belongs to it stay as they are, edits included`;
  return `${what} ${what === "Specification" && files[0]?.change === "created" ? "created" : "written"} at ${file}`;
}
