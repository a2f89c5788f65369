import { createIds } from "../base/ids.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { createOwnToolkit, type OwnToolkit } from "../registry/own.ts";
import type { CallContext, Outcome, Tool } from "../tool.ts";
import type { AnswerParts } from "../toolkits/find/answer.ts";
import type { Finder } from "../toolkits/find/finder.ts";
import { answerRun } from "./answer.ts";
import type { Group, Groups } from "./groups.ts";
import { limitsOf, limitsSchema } from "./limits.ts";
import type { RunRequest } from "./planner.ts";
import type { Planners } from "./planners.ts";
import { AgentRun } from "./run.ts";
import { type Runs, recordRun } from "./runs.ts";
import { openWorkbench } from "./workbench.ts";

export interface AgentsOptions {
  readonly groups: Groups;
  readonly finder: Finder;
  readonly parts: AnswerParts;
  readonly planners: Planners;
  readonly runs: Runs;
}

/** One tool per group: it takes a task, a planner carries it out with the group's tools, and the answer lists the steps. */
export function createAgentToolkit({
  groups,
  finder,
  parts,
  planners,
  runs,
}: AgentsOptions): OwnToolkit {
  let listed: readonly Group[] | undefined;
  let tools: readonly Tool[] = [];
  const runIds = createIds("run");

  async function runTask(group: Group, args: JsonObject, context: CallContext): Promise<Outcome> {
    const at = Date.now();
    const startedAt = performance.now();
    const request = readRequest(group, args);
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
    mayBe: (name) => name.endsWith("_agent"),
    async call({ name }, args, context) {
      const group = groups.all().find(({ file }) => file.name === name) ?? {
        file: { name, description: "", tools: [], instructions: "" },
        tools: new Set(),
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
    data: { description: "Input of the task" },
    context: { type: "string" },
    limits: limitsSchema,
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
    readonly data?: unknown;
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
