import { basename, join } from "node:path";
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear } from "../../base/text.ts";
import { nextLine } from "../advice.ts";
import { paint, print, table } from "../print.ts";
import {
  type SpecFeature,
  type SpecOptions,
  type SpecSession,
  type SpecStepResult,
  withSpecs,
} from "./spec-session.ts";

/** `guildhall spec`: the workflow on the command line, by the same tools that MCP clients call. */
export interface SpecNewOptions extends SpecOptions {
  readonly name?: string;
  readonly number?: string;
}

export interface SpecResumeOptions extends SpecOptions {
  readonly force?: boolean;
}

export interface SpecRunOptions extends SpecOptions {
  readonly answer?: readonly string[];
  readonly recommended?: boolean;
  readonly technology?: string;
  readonly tests?: boolean;
  readonly filter?: string;
  readonly completed?: readonly string[];
  readonly agent?: string;
  readonly force?: boolean;
}

export async function runSpecList({ json }: SpecOptions): Promise<void> {
  await withSpecs({ json }, async (specs) => {
    const features = await specs.features();
    const rows = features.map(({ name, phase, tasks, isActive, run }) => [
      isActive ? "*" : "",
      name,
      phase === "done" ? "done" : `next: ${phase}`,
      tasks ? `${tasks.done}/${tasks.total}` : "",
      run ? `${run.step} ${run.isAtWork ? "running" : "interrupted"}` : "",
    ]);
    print(
      { features },
      {
        json,
        text: () =>
          rows.length > 0
            ? table(["", "feature", "state", "tasks", "run"], rows)
            : 'no features yet; create one with: guildhall spec new "…"',
      },
    );
  });
}

export async function runSpecNew(
  words: readonly string[],
  { json, name, number }: SpecNewOptions,
): Promise<void> {
  const args = given({
    feature_description: words.join(" "),
    spec_directory: join(process.cwd(), "specs"),
    short_name: name,
    number: number === undefined ? undefined : Number(number),
  });
  await withSpecs({ json }, async (specs) => show([await specs.run("specify", args)], { json }));
}

const runnable: readonly string[] = [
  "constitution",
  "clarify",
  "plan",
  "tasks",
  "checklist",
  "analyze",
  "implement",
];

/** Runs the named steps, or those from the current phase up to the tasks. */
export async function runSpecRun(steps: readonly string[], options: SpecRunOptions): Promise<void> {
  const unknown = steps.find((step) => !runnable.includes(step));
  if (unknown !== undefined) throw unknownStep(unknown);

  await withSpecs(options, async (specs) => {
    const results: SpecStepResult[] = [];
    const { name, directory } = await specs.find(options.feature);
    try {
      if (steps.length === 0) await runAhead(specs, directory, { options, results });
      for (const step of steps) results.push(await runOne(specs, step, directory, options));
      refuseOpen(results.at(-1));
    } catch (error) {
      // Show the results of earlier steps before the failure.
      if (results.length > 0 && error instanceof HallError) show(results, options, error);
      throw error;
    }
    if (results.length > 0) return show(results, options);
    const next = [{ do: "run-step", step: "implement" } as const];
    print(
      { feature: name, next },
      {
        json: options.json,
        text: () => `${name} already has its tasks\n\n${nextLine(next, options.feature)}`,
      },
    );
  });
}

function unknownStep(step: string): HallError {
  const [near] = findNear(step, runnable, 1);
  const expected = near === undefined ? runnable.join(", ") : near;
  return new HallError("INVALID_PARAMS", `unknown step "${step}" (expected: ${expected})`, {
    next: [{ do: "run-command", command: "spec run --help" }],
  });
}

/** Throws EXECUTION if clarify left questions open. */
function refuseOpen(last: SpecStepResult | undefined): void {
  if (last?.step !== "clarify" || last.state !== "paused") return;
  throw new HallError("EXECUTION", "the specification has open questions", {
    hint: "Answer them in order with --answer, take the recommended answers with --recommended, or run this in a terminal.",
  });
}

const roundsMax = 10;

interface Ahead {
  readonly options: SpecRunOptions;
  readonly results: SpecStepResult[];
}

async function runAhead(
  specs: SpecSession,
  directory: string,
  { options, results }: Ahead,
): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const { phase } = await specs.find(directory);
    if (phase === "implement" || phase === "done") return;
    if (phase === "specify")
      throw new HallError("EXECUTION", `${basename(directory)} has no spec.md`, {
        next: [{ do: "run-step", step: "specify" }],
      });
    const result = await runOne(specs, phase, directory, options);
    results.push(result);
    if (result.state === "paused") return;
  }
}

/** As many as clarify can ask. */
const allRecommended = ["yes", "yes", "yes", "yes", "yes"];

async function runOne(
  specs: SpecSession,
  step: string,
  directory: string,
  options: SpecRunOptions,
): Promise<SpecStepResult> {
  const { answer, recommended, technology, tests, filter, completed, agent } = options;
  const common = { spec_directory: directory };
  const force = options.force === true ? true : undefined;
  switch (step) {
    case "clarify": {
      const answers = answer ?? (recommended ? allRecommended : undefined);
      return specs.run("clarify", given({ ...common, answers }));
    }
    case "plan":
      return specs.run("plan", given({ ...common, force, technical_context: technology }));
    case "tasks":
      return specs.run("tasks", given({ ...common, force, tests }));
    case "implement": {
      // Ticking tasks runs nothing, so it needs no approval.
      if (completed !== undefined && agent === undefined)
        return specs.run("tasks", { ...common, completed });
      if (agent !== undefined) await specs.needAgent(agent);
      return specs.run(
        "implement",
        given({ ...common, force, task_filter: filter, completed, agent }),
      );
    }
    default:
      return specs.run(step, common);
  }
}

/** Without the fields that are undefined. */
function given(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}

export async function runSpecStatus(
  feature: string | undefined,
  { json }: SpecOptions,
): Promise<void> {
  await withSpecs({ json }, async (specs) => showFeature(await specs.find(feature), json));
}

function showFeature(found: SpecFeature, json: boolean | undefined): void {
  const { name, directory, phase, files, tasks, openQuestions, run } = found;
  const runLine = (): string[] => {
    if (!run) return [];
    const state = run.isAtWork ? "running" : "interrupted; continue with: guildhall spec resume";
    return [`${run.step} ${state}`];
  };
  print(found, {
    json,
    text: () =>
      [
        paint("bold", visible(name)),
        visible(directory),
        phase === "done" ? "done" : `next: ${phase}`,
        ...(tasks ? [`tasks: ${tasks.done} of ${tasks.total} done`] : []),
        ...(openQuestions > 0 ? [`open questions: ${openQuestions}`] : []),
        ...runLine(),
        ...files.map((file) => `  ${visible(file)}`),
      ].join("\n"),
  });
}

/** Continues an interrupted step, or the tasks that are left. */
export async function runSpecResume(
  feature: string | undefined,
  { json, force }: SpecResumeOptions,
): Promise<void> {
  await withSpecs({ json, feature }, async (specs) => {
    const { name, directory, phase, run } = await specs.find(feature);
    if (run?.isAtWork)
      throw new HallError("EXECUTION", `${run.step} of ${name} is still running`, {
        hint: "Wait until it ends.",
      });

    const step = run?.step ?? (phase === "implement" ? "implement" : undefined);
    if (step === undefined)
      throw new HallError("EXECUTION", `${name} has no interrupted step`, {
        hint: "The feature is done.",
        ...(phase === "done" ? {} : { next: [{ do: "run-step", step: phase }] }),
      });
    const args = {
      ...run?.arguments,
      ...(force === true ? { force } : {}),
      spec_directory: directory,
    };
    show([await specs.run(step, args)], { json, feature });
  });
}

/** The results, and the command that comes next. */
function show(
  results: readonly SpecStepResult[],
  { json, feature }: SpecOptions,
  failure?: HallError,
): void {
  const [first] = results;
  const next = nextLine(results.at(-1)?.next ?? [], feature);
  const texts = results.map(({ text }) => visibleLines(text));
  print(results.length === 1 ? first : { steps: results }, {
    json,
    text: () => [...texts, ...(next === "" ? [] : [next])].join("\n\n"),
    failure,
  });
}
