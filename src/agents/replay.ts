import { type ErrorCode, errorTable, HallError } from "../base/errors.ts";
import { hashOf } from "../base/hash.ts";
import type { JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { Outcome, Target } from "../tool.ts";
import type { OfferedTool, Planner, Step } from "./planner.ts";
import { type EndedRun, Run, type TraceEvent } from "./run.ts";
import type { RecordedTool, RunRecord } from "./runs.ts";
import type { Workbench } from "./workbench.ts";

/** A run gone through again: what models said and what tools gave comes from its record, everything else is done anew. */
export interface Replay {
  readonly ended: EndedRun;
  /** Where it went another way, in words; empty when it is the same. */
  readonly differences: readonly string[];
}

/** Calls nobody and asks nobody. Throws NOT_FOUND where the record is not whole. */
export async function replayRun(record: RunRecord): Promise<Replay> {
  if (record.offered.tools.length === 0 && record.offered.toolCount > 0) {
    throw new HallError(
      "NOT_FOUND",
      `the run ${record.outline.id} was too large to be kept whole`,
      { hint: "It can be shown, not replayed." },
    );
  }
  const run = new Run(record.request, {
    bench: openRecord(record),
    scope: new Scope(),
    progress: () => {},
  });
  const ended = await run.work([await plannerOf(record)]);
  return { ended, differences: compare(record, ended) };
}

async function plannerOf({ outline: { planner, at }, said }: RunRecord): Promise<Planner> {
  // "Tomorrow" was the day after that one.
  if (planner === "local")
    return (await import("./local/local-planner.ts")).localPlanner({ now: () => new Date(at) });
  const [{ createModelPlanner }, { createRecordedModel }, { Secrets }] = await Promise.all([
    import("./model/model-planner.ts"),
    import("./model/recorded-model.ts"),
    import("../base/log.ts"),
  ]);
  return createModelPlanner({
    kind: planner,
    open: async () => createRecordedModel(said),
    secrets: new Secrets(),
  });
}

function openRecord({ offered, finds, steps, results }: RunRecord): Workbench {
  const tools = offered.tools.map(withTarget);
  const found = finds.map(({ query, tools: more }) => ({ query, tools: more.map(withTarget) }));
  const known = [...tools, ...found.flatMap((find) => find.tools)];
  const given = new Map<string, { readonly step: Step; readonly outcome: Outcome }[]>();
  steps.forEach((step, at) => {
    const key = keyOf(step.tool, step.arguments);
    given.set(key, [...(given.get(key) ?? []), { step, outcome: results[at] ?? { content: [] } }]);
  });
  return {
    tools,
    fits: offered.fits,
    toolCount: offered.toolCount,
    better: offered.better,
    find: async (query) => found.find((find) => find.query === query)?.tools ?? [],
    get: (name) =>
      known.find((tool) => tool.name === name || tool.name.replace(".", "__") === name),
    async call({ name }, args) {
      const next = given.get(keyOf(name, args))?.shift();
      if (!next)
        throw new HallError(
          "UNAVAILABLE",
          `the record has no call of ${name} with these arguments`,
        );
      const code = next.step.outcome.toUpperCase();
      // Secrets are not in the record, so neither is the whole error: its words are.
      if (Object.hasOwn(errorTable, code))
        throw new HallError(code as ErrorCode, next.step.excerpt);
      return next.outcome;
    },
  };
}

function keyOf(tool: string, args: JsonObject): string {
  return `${tool} ${hashOf(args)}`;
}

/** Nothing is called, so nobody stands behind it. */
function withTarget(tool: RecordedTool): OfferedTool {
  const { name, description, inputSchema } = tool;
  const [id = "", ...rest] = name.split(".");
  const toolkit: Target["toolkit"] = {
    id,
    list: async () => [],
    call: () => Promise.reject(new HallError("EXECUTION", "a replay calls nobody")),
    health: async () => ({ state: "available" }),
    close: async () => {},
  };
  return {
    ...tool,
    target: { toolkit, tool: { name: rest.join("."), description, inputSchema }, fullName: name },
  };
}

function compare(record: RunRecord, { steps, stopped, answer, trace }: EndedRun): string[] {
  const { outline } = record;
  const wasStopped = outline.stopped === "time" || outline.stopped === "cancelled";
  const differences = [
    ...compareLists("step", record.steps.map(describeStep), steps.map(describeStep)),
    ...(wasStopped ? [] : compareLists("event", describeTrace(record.trace), describeTrace(trace))),
  ];
  // Neither the clock nor a caller who went away comes again.
  if (wasStopped) return differences;
  if (stopped !== outline.stopped)
    differences.push(`it ended with ${stopped}, then with ${outline.stopped}`);
  if (answer !== record.answer) differences.push("its answer is another");
  return differences;
}

function compareLists(what: string, before: readonly string[], now: readonly string[]): string[] {
  const at = before.findIndex((text, index) => text !== now[index]);
  if (at === -1 && before.length === now.length) return [];
  const place = at === -1 ? before.length : at;
  return [
    `${what} ${place + 1} is "${now[place] ?? "missing"}", and was "${before[place] ?? "missing"}"`,
  ];
}

function describeStep({ tool, arguments: args, outcome }: Step): string {
  return `${tool} ${JSON.stringify(args)} ${outcome}`;
}

/** Without times; calls that ran together may have come back in another order. */
function describeTrace(trace: readonly TraceEvent[]): string[] {
  const untimed = ({ phase, text }: TraceEvent): string =>
    `${phase}: ${text.replace(/ in \d+ ms$/, "")}`;
  // What a provider's trouble cost is not gone through again.
  const kept = trace.filter(
    ({ text }) => !/; again in \d+ ms$/.test(text) && !text.includes("planner cannot work"),
  );
  return [...kept].sort((a, b) => (a.step ?? 0) - (b.step ?? 0)).map(untimed);
}
