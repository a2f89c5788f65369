import { type ErrorCode, errorTable, HallError } from "../base/errors.ts";
import { hashOf, type JsonObject } from "../base/json.ts";
import { Secrets } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import { isSpelling } from "../registry/names.ts";
import type { Outcome } from "../tool.ts";
import type { Turn, WholeModel } from "./model/turn.ts";
import type { Planner, RunStep } from "./planner.ts";
import { AgentRun, type EndedRun, type TraceEvent } from "./run.ts";
import type { RunRecord } from "./runs.ts";
import type { Workbench } from "./workbench.ts";

/** A run repeated with the recorded answers of models and tools; everything else runs again. */
export interface Replay {
  readonly ended: EndedRun;
  /** Where it differs from the record; empty if it is the same. */
  readonly differences: readonly string[];
}

/** Calls no tool and no model. Throws NOT_FOUND if the record is incomplete. */
export async function replayRun(record: RunRecord): Promise<Replay> {
  if (record.offered.tools.length === 0 && record.offered.toolCount > 0) {
    throw new HallError(
      "NOT_FOUND",
      `run ${record.outline.id} was too large to be recorded completely`,
      { hint: "It can be shown but not replayed." },
    );
  }
  const run = new AgentRun(record.request, {
    bench: openRecord(record),
    scope: new Scope(),
    progress: () => {},
  });
  const ended = await run.work([await plannerOf(record)]);
  return { ended, differences: compare(record, ended) };
}

async function plannerOf({ outline: { planner, at }, turns }: RunRecord): Promise<Planner> {
  // "Tomorrow" is relative to the day of the run.
  if (planner === "local")
    return (await import("./local/local-planner.ts")).localPlanner({ now: () => new Date(at) });
  const { createModelPlanner } = await import("./model/model-planner.ts");
  const left = [...turns];
  const model: WholeModel = {
    modelId: "record",
    async answer() {
      const turn = left.shift();
      if (!turn) throw new HallError("EXECUTION", "the record has no further turn");
      return turn as unknown as Turn;
    },
  };
  return createModelPlanner({ kind: planner, open: async () => model, secrets: new Secrets() });
}

function openRecord({ offered, finds, steps, results }: RunRecord): Workbench {
  const known = [...offered.tools, ...finds.flatMap(({ tools }) => tools)];
  const given = new Map<string, { readonly step: RunStep; readonly outcome: Outcome }[]>();
  steps.forEach((step, at) => {
    const key = keyOf(step.tool, step.arguments);
    given.set(key, [...(given.get(key) ?? []), { step, outcome: results[at] ?? { content: [] } }]);
  });
  return {
    ...offered,
    find: async (query) => finds.find((found) => found.query === query)?.tools ?? [],
    get: (name) => known.find((tool) => isSpelling(name, tool.name)),
    async call({ name }, args) {
      const next = given.get(keyOf(name, args))?.shift();
      if (!next)
        throw new HallError(
          "UNAVAILABLE",
          `the record has no call of ${name} with these arguments`,
        );
      const code = next.step.outcome.toUpperCase();
      // Error details may contain secrets, so the record has only the message.
      if (Object.hasOwn(errorTable, code))
        throw new HallError(code as ErrorCode, next.step.excerpt);
      return next.outcome;
    },
  };
}

function keyOf(tool: string, args: JsonObject): string {
  return `${tool} ${hashOf(args)}`;
}

function compare(record: RunRecord, { steps, stopped, answer, trace }: EndedRun): string[] {
  const { outline } = record;
  const wasStopped = outline.stopped === "time" || outline.stopped === "cancelled";
  const differences = [
    ...compareLists("step", record.steps.map(describeStep), steps.map(describeStep)),
    ...(wasStopped ? [] : compareLists("event", describeTrace(record.trace), describeTrace(trace))),
  ];
  // A timeout or a cancellation does not repeat.
  if (wasStopped) return differences;
  if (stopped !== outline.stopped)
    differences.push(`it ended with "${stopped}" instead of "${outline.stopped}"`);
  if (answer !== record.answer) differences.push("the answer differs");
  return differences;
}

function compareLists(what: string, before: readonly string[], now: readonly string[]): string[] {
  const at = before.findIndex((text, index) => text !== now[index]);
  if (at === -1 && before.length === now.length) return [];
  const place = at === -1 ? before.length : at;
  return [
    `${what} ${place + 1} is "${now[place] ?? "missing"}" instead of "${before[place] ?? "missing"}"`,
  ];
}

function describeStep({ tool, arguments: args, outcome }: RunStep): string {
  return `${tool} ${JSON.stringify(args)} ${outcome}`;
}

/** Without times and transient events. Concurrent calls may have ended in another order. */
function describeTrace(trace: readonly TraceEvent[]): string[] {
  return trace
    .filter(({ isTransient }) => !isTransient)
    .sort((a, b) => (a.step ?? 0) - (b.step ?? 0))
    .map(({ phase, text }) => `${phase}: ${text}`);
}
