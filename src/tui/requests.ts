import { basename, join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Intention } from "./events.ts";
import { readForm } from "./form.ts";
import { placeNewFeature } from "./loader.ts";
import type { CallRequest } from "./runner.ts";
import { type FeatureView, findRun, isAtWork, type TuiState } from "./state.ts";
import { type ShownStepName, steps } from "./steps.ts";

/** The state's forms, drafts and selections as calls. Undefined where nothing can be called yet. */

export function toolRequest({ tools: { selected, form } }: TuiState): CallRequest | undefined {
  const read = form && readForm(form);
  if (selected === undefined || !read || "problems" in read) return undefined;
  return { kind: "tool", tool: selected, arguments: read.values, about: "" };
}

export function agentRequest({ agents: { selected, task } }: TuiState): CallRequest | undefined {
  if (selected === undefined || task.trim() === "") return undefined;
  return { kind: "agent", tool: selected, arguments: { task }, about: task };
}

/** The same call again, unless it still runs. */
export function repeatedRequest(state: TuiState, id: string): CallRequest | undefined {
  const run = findRun(state, id);
  if (!run || isAtWork(run)) return undefined;
  return { kind: run.kind, tool: run.tool, arguments: run.arguments, about: run.about };
}

/** The step of the draft with what was typed. Throws HallError. */
export async function draftRequest(state: TuiState, now: Date): Promise<CallRequest | undefined> {
  const { draft } = state.features;
  const { folder } = state.target;
  if (!draft) return undefined;
  const { step, feature, text } = draft;
  const { argument = "", isList = false } = steps[step].input ?? {};
  if (step === "specify" && text.trim() === "")
    throw new HallError("VALIDATION", "the description is empty", {
      hint: "Describe what the feature should do.",
    });
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const args = lines.length === 0 ? {} : { [argument]: isList ? lines : text };
  if (feature !== undefined || step !== "specify")
    return stepRequest(state, { kind: "run step", feature, step, arguments: args });
  // A hall chooses the folder itself.
  const isHall = state.target.kind === "hall";
  const directory = isHall ? join(folder, "specs") : await placeNewFeature(folder, text, now);
  const about = isHall ? "new" : basename(directory);
  return requestOf(state, step, { ...args, spec_directory: directory }, about);
}

/** The given step, or the next one. Throws HallError when an earlier step is missing. */
export function stepRequest(
  state: TuiState,
  {
    feature: name,
    step,
    arguments: more = {},
    isConfirmed,
  }: Extract<Intention, { kind: "run step" }>,
): CallRequest {
  if (step === "constitution" || name === undefined)
    return requestOf(
      state,
      "constitution",
      { ...more, spec_directory: state.target.folder },
      "constitution",
    );
  const feature = findFeature(state, name);
  const next = step ?? (feature.phase === "done" ? undefined : feature.phase);
  if (next === undefined)
    throw new HallError("VALIDATION", `${name} is done`, { hint: "It has no next step." });
  const missing = steps[next].needs.find(({ file }) => !feature.files.includes(file));
  if (missing)
    throw new HallError("VALIDATION", `${next} needs ${missing.file} of ${name}`, {
      next: [{ do: "run-step", step: missing.step }],
    });
  const args = { ...interruptedArguments(feature, next), ...more };
  const request = requestOf(state, next, { ...args, spec_directory: feature.directory }, name);
  return { ...request, isConfirmed };
}

function findFeature({ features }: TuiState, name: string): FeatureView {
  const feature = features.items.find((item) => item.name === name);
  if (!feature) throw new HallError("NOT_FOUND", `unknown feature "${name}"`);
  return feature;
}

/** An interrupted step resumes with its arguments. */
function interruptedArguments({ run }: FeatureView, step: ShownStepName): JsonObject {
  return run && !run.isAtWork && run.step === step ? run.arguments : {};
}

function requestOf(
  { features }: TuiState,
  step: ShownStepName,
  args: JsonObject,
  about: string,
): CallRequest {
  const tool = `speckit.${step}`;
  if (features.missing.includes(tool))
    throw new HallError("NOT_FOUND", `the server has no tool ${tool}`, {
      hint: "Start `guildhall tui` without --command to use the hall, which has it.",
    });
  return { kind: "step", tool, arguments: args, about };
}
