import { basename, join } from "node:path";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { findNear } from "../base/near.ts";
import { Scope } from "../base/scope.ts";
import { visible, visibleLines } from "../base/text.ts";
import type { HallClient } from "../hall/hall-client.ts";
import { adviceForShell, adviceWithoutHall } from "./advice.ts";
import { contentOf, toolError } from "./call.ts";
import { quoteWord } from "./call-line.ts";
import { below, createLive, type Live, quiet } from "./live.ts";
import { paint, print, table } from "./print.ts";
import { onStopSignals } from "./process.ts";
import { type AskLine, askLine, isAttended } from "./terminal.ts";
import { withHall } from "./tools.ts";

/** The workflow without a screen: the same tools any MCP client calls, one step or several at a time. */
export interface SpecOptions {
  readonly feature?: string | undefined;
  readonly json?: boolean | undefined;
}

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
  await withSpecs({ json }, async (specs) => showFeatures((await specs.status()).features, json));
}

function showFeatures(features: readonly SpecFeature[], json: boolean | undefined): void {
  const rows = features.map(({ name, phase, tasks, isActive, run }) => [
    isActive ? "*" : "",
    name,
    phase === "done" ? "done" : `next: ${phase}`,
    tasks ? `${tasks.done}/${tasks.total}` : "",
    run ? `${run.step} ${run.isAtWork ? "is running" : "was interrupted"}` : "",
  ]);
  print(
    { features },
    {
      json,
      text: () =>
        rows.length > 0
          ? table(["", "feature", "state", "tasks", "run"], rows)
          : 'there are no features: guildhall spec new "what it is to do"',
    },
  );
}

export async function runSpecNew(
  words: readonly string[],
  { json, name, number }: SpecNewOptions,
): Promise<void> {
  const args = {
    feature_description: words.join(" "),
    spec_directory: join(process.cwd(), "specs"),
    ...(name === undefined ? {} : { short_name: name }),
    ...(number === undefined ? {} : { number: Number(number) }),
  };
  await withSpecs({ json }, async (specs) => show([await specs.call("specify", args)], json));
}

/** The named steps, or those that lead from where the feature is to its tasks. */
export async function runSpecRun(steps: readonly string[], options: SpecRunOptions): Promise<void> {
  const unknown = steps.find((step) => !runnable.includes(step));
  if (unknown !== undefined) {
    const [near] = findNear(unknown, runnable, 1);
    throw new HallError(
      "INVALID_PARAMS",
      `there is no step "${unknown}"${near === undefined ? "" : `; did you mean ${near}?`}`,
      {
        hint: `There is: ${runnable.join(", ")}.`,
      },
    );
  }
  await withSpecs(options, async (specs) => {
    const results: JsonObject[] = [];
    const { directory } = await specs.find(options.feature);
    try {
      if (steps.length > 0)
        for (const step of steps) results.push(...(await runOne(specs, step, directory, options)));
      else await runAhead(specs, directory, { options, results });
      refuseOpen(results.at(-1));
    } catch (error) {
      // What went well before a failure is shown all the same.
      if (results.length > 0 && error instanceof HallError) show(results, options.json, error);
      throw error;
    }
    if (results.length > 0) show(results, options.json);
  });
}

/** Throws EXECUTION where questions were left open. */
function refuseOpen(last: JsonObject | undefined): void {
  if (!last || !isWaiting(last) || last.step !== "clarify") return;
  throw new HallError("EXECUTION", "questions are open", {
    hint: "Answer them in their order with --answer, take the recommended answers with --recommended, or run this at a terminal.",
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
];
const roundsMax = 10;

interface Ahead {
  readonly options: SpecRunOptions;
  readonly results: JsonObject[];
}

async function runAhead(
  specs: Specs,
  directory: string,
  { options, results }: Ahead,
): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const { phase } = await specs.find(directory);
    if (phase === "implement" || phase === "done" || phase === "specify") {
      if (phase === "specify")
        throw new HallError("EXECUTION", `${basename(directory)} has no spec.md`, {
          hint: 'Run guildhall spec new "what it is to do".',
        });
      if (results.length === 0)
        results.push({
          text: asCommands(
            `${basename(directory)} has its tasks; run speckit.implement to work on them`,
            options.feature,
          ),
          step: phase,
          next: phase,
        });
      return;
    }
    const ended = await runOne(specs, phase, directory, options);
    results.push(...ended);
    const last = ended.at(-1);
    if (last && isWaiting(last)) return;
  }
}

async function runOne(
  specs: Specs,
  step: string,
  directory: string,
  options: SpecRunOptions,
): Promise<readonly JsonObject[]> {
  const { answer, recommended, technology, tests, filter, completed, agent, force } = options;
  const common = { spec_directory: directory };
  const forced = force === true ? { force: true } : {};
  switch (step) {
    case "clarify": {
      if (answer) return [await specs.call("clarify", { ...common, answers: answer })];
      if (!recommended) return [await specs.call("clarify", common)];
      // Nobody is asked: as many answers as there can be questions, each the recommended one.
      return [
        await specs.call("clarify", { ...common, answers: ["yes", "yes", "yes", "yes", "yes"] }),
      ];
    }
    case "plan":
      return [
        await specs.call("plan", {
          ...common,
          ...forced,
          ...(technology === undefined ? {} : { technical_context: technology }),
        }),
      ];
    case "tasks":
      return [
        await specs.call("tasks", {
          ...common,
          ...forced,
          ...(tests === undefined ? {} : { tests }),
        }),
      ];
    case "implement": {
      // A report does nothing by itself, so nobody has to allow it.
      if (completed !== undefined && agent === undefined)
        return [await specs.call("tasks", { ...common, completed })];
      if (agent !== undefined) await specs.needAgent(agent);
      return [
        await specs.call("implement", {
          ...common,
          ...forced,
          ...(filter === undefined ? {} : { task_filter: filter }),
          ...(completed === undefined ? {} : { completed }),
          ...(agent === undefined ? {} : { agent }),
        }),
      ];
    }
    default:
      return [await specs.call(step, common)];
  }
}

function isWaiting({ state }: JsonObject): boolean {
  return state === "paused";
}

export async function runSpecStatus(
  feature: string | undefined,
  { json }: SpecOptions,
): Promise<void> {
  await withSpecs({ json }, async (specs) => showFeature(await specs.find(feature), json));
}

function showFeature(found: SpecFeature, json: boolean | undefined): void {
  const { name, directory, phase, files, tasks, openQuestions, run } = found;
  print(found, {
    json,
    text: () =>
      [
        paint("bold", visible(name)),
        visible(directory),
        phase === "done" ? "done" : `next: ${phase}`,
        ...(tasks ? [`tasks: ${tasks.done} of ${tasks.total} done`] : []),
        ...(openQuestions > 0 ? [`open questions: ${openQuestions}`] : []),
        ...(run
          ? [
              `${run.step} ${run.isAtWork ? "is running" : "was interrupted: `guildhall spec resume` goes on"} (${run.id})`,
            ]
          : []),
        ...files.map((file) => `  ${visible(file)}`),
      ].join("\n"),
  });
}

/** Goes on with a run that was interrupted, or with the tasks that are left. */
export async function runSpecResume(
  feature: string | undefined,
  { json, force }: SpecResumeOptions,
): Promise<void> {
  const forced = force === true ? { force: true } : {};
  await withSpecs({ json, feature }, async (specs) => {
    const { name, directory, phase, run } = await specs.find(feature);
    if (run?.isAtWork)
      throw new HallError("EXECUTION", `${run.step} of ${name} is still running (${run.id})`, {
        hint: "Wait until it ends.",
      });
    if (run)
      return show(
        [await specs.call(run.step, { ...run.arguments, ...forced, spec_directory: directory })],
        json,
      );
    if (phase === "implement")
      return show([await specs.call("implement", { ...forced, spec_directory: directory })], json);
    throw new HallError("EXECUTION", `nothing of ${name} was interrupted`, {
      hint:
        phase === "done"
          ? "It is done."
          : `Run \`guildhall spec run${flagFor(feature)}\`; next is ${phase}.`,
    });
  });
}

function show(
  results: readonly JsonObject[],
  json: boolean | undefined,
  failure?: HallError,
): void {
  const [only] = results;
  print(results.length === 1 ? only : { steps: results }, {
    json,
    text: () => results.map(({ text }) => visibleLines(String(text))).join("\n\n"),
    failure,
  });
}

interface SpecFeature {
  readonly name: string;
  readonly directory: string;
  readonly phase: string;
  readonly files: readonly string[];
  readonly tasks?: { readonly total: number; readonly done: number };
  readonly openQuestions: number;
  readonly isActive: boolean;
  readonly run?: {
    readonly id: string;
    readonly step: string;
    readonly isAtWork: boolean;
    readonly arguments: JsonObject;
  };
}

interface Specs {
  /** The step's own fields, with its text. */
  call(step: string, args: JsonObject): Promise<JsonObject>;
  status(): Promise<{ readonly features: readonly SpecFeature[] }>;
  /** By name, number or folder; without one, the active feature. Throws NOT_FOUND. */
  find(feature: string | undefined): Promise<SpecFeature>;
  /** Throws NOT_FOUND, naming the agents there are. */
  needAgent(name: string): Promise<void>;
}

/** Ctrl-C withdraws the call: what is done by then stays. */
async function withSpecs(
  options: SpecOptions,
  work: (specs: Specs) => Promise<void>,
): Promise<void> {
  const scope = new Scope();
  const live = options.json ? quiet : createLive();
  const stop = onStopSignals(
    () =>
      scope.cancel(
        new HallError("CANCELLED", "withdrawn", {
          hint: "What was done stays; run it again to go on.",
        }),
      ),
    () => {},
  );
  try {
    await withHall(
      (client) => work(openSpecs(client, { scope, live, feature: options.feature })),
      isAttended(options) ? below(live, (params) => answerStep(params)) : undefined,
    );
  } finally {
    stop();
    scope.close();
  }
}

/**
 * Answers what a step asks at a terminal. A choice that also takes other words needs one line only: a number, a letter, "yes", or the answer
 * itself. Everything else is a form.
 */
export async function answerStep(
  params: JsonObject,
  ask: AskLine = askLine,
  show: (text: string) => void = showOnStderr,
): Promise<JsonObject> {
  const { message, requestedSchema } = params;
  const properties =
    isObject(requestedSchema) && isObject(requestedSchema.properties)
      ? requestedSchema.properties
      : {};
  const { answer, other } = properties;
  if (!isObject(answer) || !Array.isArray(answer.enum) || !isObject(other))
    return (await import("./form.ts")).answerForm(params, ask, show);
  const options = answer.enum.map(String);
  const titles: readonly unknown[] = Array.isArray(answer.enumNames) ? answer.enumNames : options;
  show(visibleLines(String(message ?? "").split("\n\nRecommended:")[0] ?? ""));
  titles.forEach((title, at) => void show(`  ${at + 1}. ${visible(String(title))}`));
  try {
    for (;;) {
      const line = (
        await ask(`A number, or another answer in a few words [${visible(options[0] ?? "")}]: `)
      ).trim();
      const chosen = chooseOption(line, options);
      if (chosen !== undefined) return { action: "accept", content: { answer: chosen, other: "" } };
      if (!/^(?:\d+|\p{L})$/u.test(line))
        return { action: "accept", content: { answer: options[0] ?? "", other: line } };
      show(`Answer with a number from 1 to ${options.length}, or with a few words.`);
    }
  } catch {
    // Nobody answers any more.
    return { action: "cancel" };
  }
}

/** Undefined for what chooses none of them. */
function chooseOption(line: string, options: readonly string[]): string | undefined {
  if (/^(?:|y|yes|ok|recommended)$/i.test(line)) return options[0];
  if (/^\d+$/.test(line)) return options[Number(line) - 1];
  if (/^[a-z]$/i.test(line)) return options[line.toUpperCase().charCodeAt(0) - 65];
  return options.find((option) => option.toLowerCase() === line.toLowerCase());
}

function showOnStderr(text: string): void {
  process.stderr.write(`${text}\n`);
}

function flagFor(feature: string | undefined): string {
  return feature === undefined ? "" : ` --feature ${quoteWord(feature)}`;
}

/** What a step advises, which names tools and their arguments, as commands to type; for the feature that was named, where one was. */
export function asCommands(text: string, feature?: string): string {
  const command = (step: string): string =>
    step === "specify"
      ? 'guildhall spec new "what it is to do"'
      : `guildhall spec run ${step}${flagFor(feature)}`;
  return text
    .replace(
      /call speckit\.clarify again with `answers` in this order/,
      `run \`${command("clarify")} --answer "…" "…"\` with the answers in this order`,
    )
    .replace(
      /call speckit\.implement again with completed: \[([^\]]*)\]/,
      (_found, ids: string) =>
        `run \`${command("implement")} --completed ${ids.replace(/[",]/g, "")}\``,
    )
    .replace(/call again with force: true/g, "run it again with --force")
    .replace(
      /\bCall speckit\.(\w+)(?: with the same spec_directory)?(?=[.;])/g,
      (_found, step: string) => `Run \`${command(step)}\``,
    )
    .replace(
      /\b(call|run) speckit\.(\w+)/g,
      (_found, _verb, step: string) => `run \`${command(step)}\``,
    )
    .replace(/^Next: speckit\.(\w+)$/gm, (_found, step: string) => `Next: ${command(step)}`);
}

interface Opening {
  readonly scope: Scope;
  readonly live: Live;
  readonly feature: string | undefined;
}

function openSpecs(client: HallClient, { scope, live, feature }: Opening): Specs {
  const advise = (text: string): string => asCommands(text, feature);
  const call: Specs["call"] = async (step, args) => {
    const result = await client
      .request("tools/call", { name: `speckit.${step}`, arguments: args }, { ...live, scope })
      .finally(live.clear);
    if (result.isError) {
      const error = toolError(result);
      const { code, message, next } = error;
      const advice = client.isEphemeral
        ? adviceWithoutHall(next).join("\n  ")
        : adviceForShell(next);
      const hint = next.length === 0 ? error.hint : advice;
      throw new HallError(code, advise(message), { hint: advise(hint) });
    }
    const text = contentOf(result)
      .map((item) => String(item.text ?? ""))
      .join("\n");
    return {
      ...(isObject(result.structuredContent) ? result.structuredContent : {}),
      text: advise(text),
    };
  };
  const status: Specs["status"] = async () =>
    (await call("status", {})) as unknown as { features: readonly SpecFeature[] };
  return {
    call,
    status,
    async find(wanted) {
      const { features } = await status();
      const chosen =
        wanted === undefined
          ? (features.find(({ isActive }) => isActive) ??
            (features.length === 1 ? features[0] : undefined))
          : findFeature(features, wanted);
      if (chosen) return chosen;
      const names = features.map(({ name }) => name);
      const near = wanted === undefined ? names : findNear(wanted, names);
      throw new HallError(
        "NOT_FOUND",
        wanted === undefined ? "no feature is the active one" : `there is no feature "${wanted}"`,
        {
          hint:
            names.length === 0
              ? 'Run guildhall spec new "what it is to do".'
              : `${near.length > 0 && wanted !== undefined ? "Did you mean" : "There is"}: ${(near.length > 0 ? near : names).join(", ")}${near.length > 0 && wanted !== undefined ? "?" : "."}`,
        },
      );
    },
    async needAgent(name) {
      const names = (await client.list("tools/list", "tools")).map((tool) => String(tool.name));
      if (names.includes(name)) return;
      const agents = names.filter((known) => known.endsWith("_agent"));
      throw new HallError("NOT_FOUND", `there is no agent "${name}"`, {
        hint:
          agents.length > 0
            ? `There is: ${agents.join(", ")}.`
            : "There is none yet: guildhall build makes agents of your tools.",
      });
    },
  };
}

function findFeature(features: readonly SpecFeature[], wanted: string): SpecFeature | undefined {
  const path = wanted.replace(/[/\\]+$/, "");
  return (
    features.find(
      ({ name, directory }) => name === path || directory === path || name === basename(path),
    ) ??
    (/^\d+$/.test(wanted)
      ? features.find(({ name }) => Number(/^(\d+)-/.exec(name)?.[1]) === Number(wanted))
      : undefined)
  );
}
