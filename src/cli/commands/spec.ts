import { basename, join } from "node:path";
import { HallError } from "../../base/errors.ts";
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
interface SpecNewOptions extends SpecOptions {
  readonly name?: string;
  readonly number?: number;
}

interface SpecForceOptions extends SpecOptions {
  readonly force?: boolean;
}

interface SpecRunOptions extends SpecForceOptions {
  readonly principle?: readonly string[];
  readonly question?: readonly string[];
  readonly answer?: readonly string[];
  readonly recommended?: boolean;
  readonly technology?: string;
  readonly tests?: boolean;
  readonly filter?: string;
  readonly completed?: readonly string[];
  readonly agent?: string;
  readonly domain?: string;
  readonly gap?: readonly string[];
  readonly tool?: string;
  readonly repository?: string;
}

export async function runSpecList(options: SpecOptions): Promise<void> {
  await withSpecs(options, async (specs) => {
    const features = await specs.features();
    const rows = features.map(({ name, phase, tasks, isActive, run }) => [
      isActive ? "*" : "",
      name,
      formatPhase(phase),
      tasks ? `${tasks.done}/${tasks.total}` : "",
      run ? `${run.step} ${run.isAtWork ? "running" : "interrupted"}` : "",
    ]);
    const none = 'no features yet; create one with: guildhall spec new "…"';
    const text = table(["", "feature", "state", "tasks", "run"], rows, { empty: none });
    print({ features }, text, options);
  });
}

export async function runSpecNew(words: readonly string[], options: SpecNewOptions): Promise<void> {
  const { name, number } = options;
  const args = {
    feature_description: words.join(" "),
    spec_directory: join(process.cwd(), "specs"),
    short_name: name,
    number,
  };
  await withSpecs(options, async (specs) => show([await specs.run("specify", args)], options));
}

/** Writes the specification of an existing feature again. Hand edits are merged. */
export async function runSpecUpdate(
  words: readonly string[],
  options: SpecForceOptions,
): Promise<void> {
  await withSpecs(options, async (specs) => {
    const { directory: spec_directory } = await specs.find(options.feature);
    const args = { feature_description: words.join(" "), spec_directory, force: options.force };
    show([await specs.run("specify", args)], options);
  });
}

const runnable: readonly string[] = [
  "constitution",
  "clarify",
  "plan",
  "tasks",
  "checklist",
  "analyze",
  "implement",
  "converge",
  "taskstoissues",
];

/** Runs the named steps, or those from the current phase up to the tasks. */
export async function runSpecRun(steps: readonly string[], options: SpecRunOptions): Promise<void> {
  const unknown = steps.find((step) => !runnable.includes(step));
  if (unknown !== undefined) throw unknownStep(unknown);

  await withSpecs(options, async (specs) => {
    const results: SpecStepResult[] = [];
    // The constitution belongs to the project, and may come before its first feature.
    const needsFeature = steps.length === 0 || steps.some((step) => step !== "constitution");
    const { name, directory } = needsFeature
      ? await specs.find(options.feature)
      : { name: "", directory: process.cwd() };
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
    const text = `${name} already has its tasks\n\n${nextLine(next, options.feature)}`;
    print({ feature: name, next }, text, options);
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
  const { answer, recommended, technology, tests, filter, completed, agent, force } = options;
  const common = { spec_directory: directory };
  switch (step) {
    case "constitution":
      return specs.run("constitution", { principles: options.principle });
    case "checklist":
      return specs.run("checklist", { ...common, domain: options.domain });
    case "converge":
      return specs.run("converge", { ...common, gaps: options.gap });
    case "taskstoissues": {
      const { tool, repository } = options;
      return specs.run("taskstoissues", { ...common, tool, repository, task_filter: filter });
    }
    case "clarify": {
      const answers = answer ?? (recommended ? allRecommended : undefined);
      return specs.run("clarify", { ...common, questions: options.question, answers });
    }
    case "plan":
      return specs.run("plan", { ...common, force, technical_context: technology });
    case "tasks":
      return specs.run("tasks", { ...common, force, tests });
    case "implement": {
      // Ticking tasks runs nothing, so it needs no approval.
      if (completed !== undefined && agent === undefined)
        return specs.run("tasks", { ...common, completed });
      if (agent !== undefined) await specs.needAgent(agent);
      return specs.run("implement", { ...common, force, task_filter: filter, completed, agent });
    }
    default:
      return specs.run(step, common);
  }
}

export async function runSpecStatus(
  feature: string | undefined,
  options: SpecOptions,
): Promise<void> {
  await withSpecs(options, async (specs) => {
    const found = await specs.find(feature);
    print(found, formatFeature(found), options);
  });
}

function formatFeature(feature: SpecFeature): string {
  const { name, directory, phase, files, tasks, openQuestions, run } = feature;
  const lines = [paint("bold", visible(name)), visible(directory), formatPhase(phase)];
  if (tasks) lines.push(`tasks: ${tasks.done} of ${tasks.total} done`);
  if (openQuestions > 0) lines.push(`open questions: ${openQuestions}`);
  if (run?.isAtWork) lines.push(`${run.step} running`);
  else if (run) lines.push(`${run.step} interrupted; continue with: guildhall spec resume`);
  return [...lines, ...files.map((file) => `  ${visible(file)}`)].join("\n");
}

function formatPhase(phase: string): string {
  return phase === "done" ? "done" : `next: ${phase}`;
}

/** Continues an interrupted step, or the tasks that are left. */
export async function runSpecResume(
  feature: string | undefined,
  { json, force }: SpecForceOptions,
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
        next: phase === "done" ? [] : [{ do: "run-step", step: phase }],
      });
    const forced = force ? { force } : {};
    const args = { ...run?.arguments, ...forced, spec_directory: directory };
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
  const value = results.length === 1 ? first : { steps: results };
  print(value, [...texts, next].join("\n\n"), { json, failure });
}
