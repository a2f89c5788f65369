import { adviceForModel, contentForModel } from "../base/advice.ts";
import { errorType, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { createIds } from "../base/text.ts";
import { createOwnToolkit, type OwnToolkit } from "../registry/own.ts";
import type { CallContext, Outcome, Tool } from "../tool.ts";
import type { AnswerParts } from "../toolkits/find/answer.ts";
import type { Finder } from "../toolkits/find/finder.ts";
import type { Group, Groups } from "./groups.ts";
import type { RunLimits, RunRequest, RunStep, StopReason } from "./planner.ts";
import type { Planners } from "./planners.ts";
import { AgentRun, type EndedRun } from "./run.ts";
import { type Runs, recordRun } from "./runs.ts";
import { openWorkbench } from "./workbench.ts";

export interface AgentsOptions {
  readonly groups: Groups;
  readonly finder: Finder;
  readonly parts: AnswerParts;
  readonly planners: Planners;
  readonly runs: Runs;
  /** True if clients see agents and no other way to call a tool. */
  seesAgentsOnly(): boolean;
}

/**
 * One tool per group: it takes a task, a planner carries it out with the group's tools, and the
 * answer lists the steps.
 */
export function createAgentToolkit({
  groups,
  finder,
  parts,
  planners,
  runs,
  seesAgentsOnly,
}: AgentsOptions): OwnToolkit {
  let listed: readonly Group[] | undefined;
  let tools: readonly Tool[] = [];
  const runIds = createIds("run");

  async function runTask(group: Group, args: JsonObject, context: CallContext): Promise<Outcome> {
    const at = Date.now();
    const startedAt = performance.now();
    const request = { ...readRequest(group, args), seesAgentsOnly: seesAgentsOnly() };
    const chosen = planners.choose({ file: group.file, context });
    const words = `${request.task}\n${request.context ?? ""}`.trim().slice(0, wordsMax);
    const bench = await openWorkbench({ group, groups, finder, parts, context, words });
    const run = new AgentRun(request, { bench, scope: context.scope, progress: context.progress });
    const ended = await run.work(chosen);
    const id = runIds();
    const ms = Math.round(performance.now() - startedAt);
    const caller = context.caller?.client ?? "unnamed client";
    runs.keep(recordRun(ended, { id, at, ms, caller, request, offer: bench }));
    return answerRun(ended, { agent: request.agent, id });
  }

  return createOwnToolkit("agents", {
    tools() {
      const all = groups.all();
      if (all !== listed) {
        tools = all.map(describeAgent);
        listed = all;
      }
      return tools;
    },
    async call({ name }, args, context) {
      // The group may have gone since it was listed, with the last of its tools.
      const group = groups.all().find(({ file }) => file.name === name) ?? {
        file: { name, description: "", tools: [], instructions: "" },
        tools: new Set(),
        guests: new Set(),
      };
      return runTask(group, args, context);
    },
  });
}

/** Characters of a task that tools are ranked by. */
const wordsMax = 8_000;
/** Time for the answer when a run's own time is up. */
const graceMs = 2_000;

function describeAgent({ file: { name, description, limits } }: Group): Tool {
  return {
    name,
    description,
    inputSchema,
    annotations,
    facts: { timeoutMs: limitsOf(limits).seconds * 1_000 + graceMs, isNotReentrant: true },
  };
}

/** Repeated for every agent, so it is short. */
const inputSchema: JsonObject = {
  type: "object",
  properties: {
    task: { type: "string", minLength: 1, description: "What to do, in plain words" },
    data: { type: "object", description: "Input" },
    context: { type: "string" },
    limits: { type: "object", description: "turns, steps, tokens, bytes, seconds" },
  },
  required: ["task"],
};
const annotations: JsonObject = { openWorldHint: true };

function readRequest(
  { file: { name, instructions, limits } }: Group,
  args: JsonObject,
): RunRequest {
  const { task, data, context } = args as {
    readonly task: string;
    readonly data?: JsonObject;
    readonly context?: string;
  };
  return {
    agent: name,
    task,
    data,
    context,
    instructions,
    limits: limitsOf(limits, isObject(args.limits) ? args.limits : {}),
  };
}

const defaults = { turns: 8, steps: 16, tokens: 200_000, bytes: 4_194_304, seconds: 120 };

/**
 * The limits of the agent's file, else the defaults; a caller can only lower them. Throws
 * INVALID_PARAMS for what is no limit.
 */
export function limitsOf(file: Partial<RunLimits> = {}, asked: JsonObject = {}): RunLimits {
  const limits: { -readonly [Name in keyof RunLimits]: number } = { ...defaults, ...file };
  for (const name of Object.keys(defaults) as (keyof RunLimits)[]) {
    const wish = asked[name];
    if (wish === undefined) continue;
    if (typeof wish !== "number" || !(wish >= 1))
      throw new HallError("INVALID_PARAMS", `limits.${name} must be a number of at least 1`);
    limits[name] = Math.min(limits[name], wish);
  }
  return limits;
}

/** The answer of a run: text for people and models, and the same as data with its evidence. */
function answerRun(
  run: EndedRun,
  { agent, id }: { readonly agent: string; readonly id: string },
): Outcome {
  const { stopped, usage, approvals, conclusion } = run;
  const steps = run.steps.map((step, at) => ({ ...step, tool: run.shown[at] ?? step.tool }));
  const isPartial = reasons[stopped] !== undefined;
  const isObtained = run.answer.trim() !== "" || steps.some(({ outcome }) => outcome === "ok");
  const answer = run.answer.trim() === "" ? describeSteps(steps) : run.answer;
  const calls = [...(conclusion?.next ?? []), ...run.next];
  // The gateway words the approvals for the model.
  const next = [...calls, ...approvals.flatMap((approval) => approval.next)];
  return {
    content: [
      { type: "text", text: writeText({ ...run, steps, answer }, isObtained) },
      ...(conclusion?.carried ?? []),
      ...(calls.length > 0 ? [contentForModel(adviceForModel(calls))] : []),
    ],
    structuredContent: {
      answer,
      steps,
      tools_used: listUsed(steps),
      planner: run.planner,
      stopped_because: stopped,
      usage,
      approvals_needed: approvals,
      partial: isPartial,
      agent,
      run: id,
      problem: run.problem,
      limitations: run.limitations.length > 0 ? run.limitations : undefined,
      result: conclusion?.result,
      ...conclusion?.details,
      next: next.length > 0 ? next : undefined,
    },
    // A run that stopped without any result failed.
    isError: isPartial && !isObtained,
  };
}

/** Why a run ended without a whole answer. */
const reasons: Readonly<Partial<Record<StopReason, string>>> = {
  turns: "the planner had no turns left",
  steps: "the limit of tool calls was reached",
  tokens: "the token limit was reached",
  bytes: "the size limit for results was reached",
  time: "the time limit was reached",
  length: "the model's answer exceeded its maximum length",
  filter: "the provider's filter withheld the model's answer",
  failed: "the planner failed",
  cancelled: "the caller cancelled the run",
};

/** The answer, then its limits. */
function writeText(
  { steps, stopped, problem, hint, limitations, answer }: EndedRun,
  isObtained: boolean,
): string {
  const why = reasons[stopped];
  const used = listUsed(steps);
  const missing = limitations.filter((text) => !answer.includes(text));
  const end = [
    `Not finished: ${why}${problem === undefined ? "" : ` (${problem})`}.`,
    isObtained ? "The results so far are above." : "",
    hint ?? "",
  ];
  return [
    answer,
    why === undefined ? "" : end.filter(Boolean).join(" "),
    missing.length > 0 ? `Limited: could not use ${missing.join("; ")}.` : "",
    used.length > 0 ? `Tools used: ${used.join(", ")}.` : "",
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Outcomes of calls that never reached the tool. */
const notRun: ReadonlySet<string> = new Set(
  (
    [
      "NOT_FOUND",
      "TOOLKIT_NOT_FOUND",
      "INVALID_PARAMS",
      "VALIDATION",
      "APPROVAL_NEEDED",
      "DENIED",
      "UNAVAILABLE",
      "RATE_LIMITED",
      "OVERLOADED",
    ] as const
  ).map(errorType),
);

/** The tools that ran, once each. */
function listUsed(steps: readonly RunStep[]): readonly string[] {
  const ran = steps.filter(({ outcome }) => !notRun.has(outcome));
  return [...new Set(ran.map(({ tool }) => tool))];
}

/** For a planner that was stopped before its answer. */
function describeSteps(steps: readonly RunStep[]): string {
  return steps.map(({ tool, outcome, excerpt }) => `- ${tool} (${outcome}): ${excerpt}`).join("\n");
}
