import { basename, join } from "node:path";
import { type Advice, readAdvice } from "../../base/advice.ts";
import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { Scope } from "../../base/scope.ts";
import { findNear } from "../../base/text.ts";
import type { HallClient } from "../../hall/hall-client.ts";
import type { FeatureStatus } from "../../workflow/workflow.ts";
import { adviceWithoutHall, nextLine, stepCommand } from "../advice.ts";
import { onStopSignals } from "../exit.ts";
import { withHall } from "../hall.ts";
import { below, createLive, type Live, quiet } from "../live.ts";
import { paint, print, table } from "../print.ts";
import { answerStep, isAttended } from "../terminal.ts";
import { contentOf, toolError } from "./call.ts";

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
      if (steps.length === 0) await runAhead(specs, directory, options, results);
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

async function runAhead(
  specs: SpecSession,
  directory: string,
  options: SpecRunOptions,
  results: SpecStepResult[],
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

function formatFeature(feature: FeatureStatus): string {
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

interface SpecOptions {
  readonly feature?: string | undefined;
  readonly json?: boolean | undefined;
}

/** The structured result of a step. */
interface SpecStepResult extends JsonObject {
  readonly text: string;
  readonly step: string;
  readonly state: string;
  readonly next: readonly Advice[];
}

/** Runs work with the workflow of this project's hall. Ctrl-C cancels the running step. */
async function withSpecs(
  options: SpecOptions,
  work: (specs: SpecSession) => Promise<void>,
): Promise<void> {
  const scope = new Scope();
  const live = options.json ? quiet : createLive();
  const stop = onStopSignals(
    () =>
      scope.cancel(
        new HallError("CANCELLED", "cancelled", { hint: "Finished work is kept; run it again." }),
      ),
    () => {},
  );
  try {
    await withHall(
      (client) => work(new SpecSession(client, { scope, live, feature: options.feature })),
      { answer: isAttended(options) ? below(live, (params) => answerStep(params)) : undefined },
    );
  } finally {
    stop();
    scope.close();
  }
}

interface SessionOptions {
  readonly scope: Scope;
  readonly live: Live;
  /** The feature the user named. */
  readonly feature: string | undefined;
}

class SpecSession {
  readonly #client: HallClient;
  readonly #options: SessionOptions;

  constructor(client: HallClient, options: SessionOptions) {
    this.#client = client;
    this.#options = options;
  }

  async run(step: string, args: JsonObject): Promise<SpecStepResult> {
    const { structured, text } = await this.#call(step, args);
    const { state } = structured;
    return { ...structured, step, state: String(state), next: readAdvice(structured.next), text };
  }

  async features(): Promise<readonly FeatureStatus[]> {
    const { structured } = await this.#call("status", {});
    return structured.features as readonly FeatureStatus[];
  }

  /** By name, number or folder; without one, the active feature. Throws NOT_FOUND. */
  async find(wanted: string | undefined): Promise<FeatureStatus> {
    const features = await this.features();
    const chosen =
      wanted === undefined ? activeOf(features) : features.find((one) => matches(one, wanted));
    if (chosen) return chosen;

    const names = features.map(({ name }) => name);
    const near = wanted === undefined ? [] : findNear(wanted, names);
    const message = wanted === undefined ? "no active feature" : `unknown feature "${wanted}"`;
    const known = near.length > 0 ? near : names;
    throw new HallError("NOT_FOUND", withExpected(message, known), {
      next: [
        names.length === 0
          ? { do: "run-step", step: "specify" }
          : { do: "run-command", command: "spec list" },
      ],
    });
  }

  /** Throws NOT_FOUND with the known agents. */
  async needAgent(name: string): Promise<void> {
    const tools = await this.#client.list("tools/list", "tools");
    const names = tools.map((tool) => String(tool.name));
    if (names.includes(name)) return;
    const agents = names.filter((known) => known.endsWith("_agent"));
    throw new HallError("NOT_FOUND", withExpected(`unknown agent "${name}"`, agents), {
      next: [{ do: "run-command", command: agents.length > 0 ? "groups" : "build" }],
    });
  }

  async #call(
    step: string,
    args: JsonObject,
  ): Promise<{ readonly structured: JsonObject; readonly text: string }> {
    const { scope, live } = this.#options;
    const params = { name: `speckit.${step}`, arguments: args };
    const result = await this.#client
      .request("tools/call", params, { ...live, scope })
      .finally(live.clear);
    if (result.isError) throw this.#explain(toolError(result));
    const texts = contentOf(result).map((item) => String(item.text ?? ""));
    const { structuredContent } = result;
    return {
      structured: isObject(structuredContent) ? structuredContent : {},
      text: texts.join("\n"),
    };
  }

  /** Adds the feature the user named to commands, and drops advice that needs a running hall. */
  #explain({ code, message, hint, details, next }: HallError): HallError {
    const commands = next.map(
      (advice): Advice =>
        advice.do === "run-step"
          ? { do: "run-command", command: stepCommand(advice, this.#options.feature) }
          : advice,
    );
    const extra = details === undefined ? {} : { details };
    if (code === "APPROVAL_NEEDED" && this.#client.isEphemeral)
      return new HallError(code, message, {
        hint: adviceWithoutHall(commands).join("\n  "),
        ...extra,
      });
    return new HallError(code, message, { hint, next: commands, ...extra });
  }
}

function withExpected(message: string, known: readonly string[]): string {
  return known.length > 0 ? `${message} (expected: ${known.join(", ")})` : message;
}

function activeOf(features: readonly FeatureStatus[]): FeatureStatus | undefined {
  const active = features.find(({ isActive }) => isActive);
  return active ?? (features.length === 1 ? features[0] : undefined);
}

function matches({ name, directory }: FeatureStatus, wanted: string): boolean {
  const path = wanted.replace(/[/\\]+$/, "");
  if (name === path || directory === path || name === basename(path)) return true;
  return /^\d+$/.test(wanted) && Number(/^(\d+)-/.exec(name)?.[1]) === Number(wanted);
}
