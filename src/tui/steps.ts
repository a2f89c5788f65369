import { basename, join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { placeNewFeature } from "./features.ts";
import type { Intention } from "./intentions.ts";
import type { RunRequest } from "./runner.ts";
import type { FeatureView, StepName, TuiState } from "./state.ts";

/** Steps of the workflow as calls. What a step needs is looked at before the server is asked; each throws HallError with what to do first. */

/** A new feature of the description that was typed. */
export async function specifyRequest(state: TuiState, now: Date): Promise<RunRequest> {
  const { draft = "", folder } = state.features;
  if (draft.trim() === "")
    throw new HallError("VALIDATION", "the description is empty", {
      hint: "Say what the feature is to do.",
    });
  // A hall chooses the folder itself.
  const isHall = state.target.kind === "hall";
  const directory = isHall ? join(folder, "specs") : await placeNewFeature(folder, draft, now);
  return requestOf(
    state,
    "specify",
    { feature_description: draft, spec_directory: directory },
    isHall ? "new" : basename(directory),
  );
}

/** The step that is wanted, or the next one. */
export function stepRequest(
  state: TuiState,
  { feature: name, step, arguments: more = {} }: Extract<Intention, { kind: "run step" }>,
): RunRequest {
  const feature = state.features.items.find((item) => item.name === name);
  if (!feature) throw new HallError("NOT_FOUND", `there is no feature ${name}`);
  const next = step ?? (feature.phase === "done" ? undefined : feature.phase);
  if (next === undefined)
    throw new HallError("VALIDATION", `${name} is done`, { hint: "There is no next step." });
  const lacking = needs[next].find(({ file }) => !feature.files.includes(file));
  if (lacking !== undefined)
    throw new HallError("VALIDATION", `${next} needs ${lacking.file} of ${name}`, {
      hint: `Run ${lacking.step} first.`,
    });
  return requestOf(
    state,
    next,
    { ...interrupted(feature, next), ...more, spec_directory: feature.directory },
    name,
  );
}

/** An interrupted step goes on with what it was given. */
function interrupted({ run }: FeatureView, step: StepName): JsonObject {
  return run && !run.isAtWork && run.step === step ? run.arguments : {};
}

function requestOf(
  { features }: TuiState,
  step: StepName,
  args: JsonObject,
  about: string,
): RunRequest {
  const tool = `speckit.${step}`;
  if (features.missing.includes(tool))
    throw new HallError("NOT_FOUND", `the server has no tool ${tool}`, {
      hint: "Use a server that has it; `guildhall tui` without --command does.",
    });
  return { kind: "step", tool, arguments: args, about };
}

const needs: Readonly<
  Record<StepName, readonly { readonly file: string; readonly step: StepName }[]>
> = {
  specify: [],
  clarify: [{ file: "spec.md", step: "specify" }],
  plan: [{ file: "spec.md", step: "specify" }],
  tasks: [
    { file: "spec.md", step: "specify" },
    { file: "plan.md", step: "plan" },
  ],
  implement: [{ file: "tasks.md", step: "tasks" }],
};
