// Planning without a model: the best tool for a task, its arguments out of the task's own words, and the honesty to stop there. It runs what
// is beyond doubt and cannot do harm; everything else it prepares for whoever asked.

import type { JsonObject } from "../../base/json.ts";
import type { Outcome } from "../../tool.ts";
import type { Conclusion, Job, OfferedTool, Planner, StepResult } from "../planner.ts";
import { chooseTool } from "./choose.ts";
import { type Chosen, findDoubt } from "./decision.ts";
import { readTask } from "./reading.ts";
import { leansBack, stepsOf } from "./steps.ts";
import { sayTool, shorten, tellTool } from "./telling.ts";

export interface LocalPlannerOptions {
  /** What day it is, for "tomorrow" and "next Friday". Default: the process's clock. */
  readonly now?: () => Date;
}

export function localPlanner({ now = () => new Date() }: LocalPlannerOptions = {}): Planner {
  return {
    kind: "local",
    async plan(job) {
      const steps = stepsOf(job.task);
      if (steps.length > 1)
        job.note(
          "think",
          `${steps.length} steps: ${steps.map((step) => shorten(step, 60)).join(" → ")}`,
        );
      const done: StepResult[] = [];
      for (const [at, step] of steps.entries()) {
        const choices = chooseFor(step, await toolsFor(step, job, steps.length), job, now());
        const [first] = choices;
        const doubt =
          at > 0 && leansBack(step)
            ? "it speaks of what an earlier step gave"
            : findDoubt(first, { fits: job.fits });
        if (!first || doubt !== undefined)
          return prepare(job, {
            done,
            step,
            choices,
            doubt: doubt ?? "",
            left: steps.slice(at + 1),
          });
        job.note(
          "think",
          `${first.tool.name}, by ${Math.round(first.likelihood * 100)} % and every argument certain`,
        );
        const result = await job.call(first.tool.name, first.filling.values);
        if (result.step.outcome !== "ok" && result.step.outcome !== "empty")
          return prepare(job, {
            done: [...done, result],
            step,
            choices,
            doubt: `${first.tool.name} failed`,
            left: steps.slice(at + 1),
          });
        done.push(result);
      }
      return conclude(done);
    },
  };
}

/** The tools of a task are ranked already; a step of it is another task. */
async function toolsFor(
  step: string,
  job: Job,
  stepCount: number,
): Promise<readonly OfferedTool[]> {
  return stepCount === 1 ? job.tools.filter(({ score }) => score > 0) : job.find(step, foundMax);
}

const foundMax = 8;
const toldMax = 5;

function chooseFor(
  step: string,
  tools: readonly OfferedTool[],
  { data, context }: Job,
  today: Date,
): readonly Chosen[] {
  return chooseTool(readTask(step, today), tools, {
    data,
    context: context === undefined ? undefined : readTask(context, today),
  });
}

interface Prepared {
  readonly done: readonly StepResult[];
  readonly step: string;
  readonly choices: readonly Chosen[];
  /** Why nobody acted on it. */
  readonly doubt: string;
  /** Steps that come after it. */
  readonly left: readonly string[];
}

/** What was done, what would come next, and the line to go on with. */
function prepare(job: Job, { done, step, choices, doubt, left }: Prepared): Conclusion {
  const { agent, fits, better, toolCount } = job;
  job.note("think", `left to the caller: ${doubt}`);
  const told = choices.slice(0, toldMax);
  const isWhole = done.length === 0 && left.length === 0;
  const lead =
    told.length === 0
      ? `None of ${toolCount} tools has anything to do with ${isWhole ? "this" : `"${shorten(step, 120)}"`}. Say it in other words, one step at a time.`
      : `${isWhole ? "Not run" : `Not run: "${shorten(step, 120)}"`}, because ${doubt}. ${fits ? "The best tools for it:" : "The nearest tools:"}`;
  const parts = [
    better === undefined ? `${agent}:` : `${agent}: this looks like work for ${better}.`,
    ...done.map(({ outcome, step: { tool } }) => `Done with ${tool}:\n${textOf(outcome)}`),
    lead,
    ...told.map((choice, at) => sayTool(choice, at + 1)),
    left.length > 0 ? `Still to do: ${left.map((text) => shorten(text, 120)).join("; ")}.` : "",
    told.length > 0
      ? "Check the values, add what is missing, and go on with one of the call_tool lines."
      : "",
  ];
  const details: JsonObject = {
    fits,
    total: toolCount,
    why: doubt,
    tools: told.map(tellTool),
    ...(better === undefined ? {} : { better }),
    ...(left.length > 0 ? { left } : {}),
  };
  return {
    answer: parts.filter(Boolean).join("\n\n"),
    stopped: "not sure",
    carried: carriedOf(done),
    details,
  };
}

function conclude(done: readonly StepResult[]): Conclusion {
  const [only] = done;
  const answer =
    done.length === 1 && only
      ? textOf(only.outcome)
      : done.map(({ step: { tool }, outcome }) => `${tool}:\n${textOf(outcome)}`).join("\n\n");
  const result = done.at(-1)?.outcome.structuredContent;
  return {
    answer,
    stopped: "done",
    carried: carriedOf(done),
    ...(result === undefined ? {} : { result }),
  };
}

function textOf({ content, structuredContent }: Outcome): string {
  const text = content
    .flatMap(({ type, text }) => (type === "text" ? [String(text ?? "")] : []))
    .join("\n");
  if (text.trim() !== "") return text;
  return structuredContent === undefined
    ? "(nothing came back)"
    : JSON.stringify(structuredContent);
}

const carriedOf = (done: readonly StepResult[]): readonly JsonObject[] =>
  done.flatMap(({ outcome }) => outcome.content.filter(({ type }) => type !== "text"));
