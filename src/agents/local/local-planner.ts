// Planning without a model, by the rules of docs/agents.md: run what is unambiguous and read-only,
// hand back the rest with everything the caller needs to continue.

import type { Advice } from "../../base/advice.ts";
import type { JsonObject } from "../../base/json.ts";
import { shortenLine } from "../../base/text.ts";
import { signatureOf } from "../../toolkits/find/signature.ts";
import {
  type Conclusion,
  carriedParts,
  type OfferedTool,
  type PlannedRun,
  type Planner,
  type RunRequest,
  type StepResult,
  shownName,
  textOf,
} from "../planner.ts";
import { type Choice, chooseTools, findDoubt } from "./choose.ts";
import { parametersOf } from "./parameters.ts";
import { type FindDates, type Mention, refersBack, splitSteps } from "./task.ts";

export interface LocalPlannerOptions {
  /** For "tomorrow" and "next Friday". Default: the system clock. */
  readonly now?: () => Date;
}

export function localPlanner({ now = () => new Date() }: LocalPlannerOptions = {}): Planner {
  return {
    kind: "local",
    async plan(run) {
      const steps = splitSteps(run.request.task);
      if (steps.length > 1)
        run.note(
          "think",
          `${steps.length} steps: ${steps.map((step) => shortenLine(step, 60)).join(" → ")}`,
        );

      const done: StepResult[] = [];
      for (const [at, step] of steps.entries()) {
        const handBack = (found: Found, doubt: string): Conclusion =>
          describeHandBack(run, { ...found, done, step, doubt, left: steps.slice(at + 1) });

        const found = await findChoices(step, run, { isWhole: steps.length === 1, now: now() });
        const doubt =
          at > 0 && refersBack(step)
            ? "it refers to the result of an earlier step"
            : findDoubt(step, found.choices, run.offer);
        const [first] = found.choices;
        if (!first || doubt !== undefined) return handBack(found, doubt ?? "no tool here fits it");

        run.note("think", `${first.tool.name}: nothing is open`);
        const result = await run.call(first.tool.name, first.filling.arguments);
        done.push(result);
        const isFailure = result.step.outcome !== "ok" && result.step.outcome !== "empty";
        if (isFailure)
          return handBack(afterFailure(found, first, result), `${shownName(first.tool)} failed`);
      }
      return conclude(done);
    },
  };
}

interface Found {
  readonly choices: readonly Choice[];
  /** Tools that fit but cannot be used now. */
  readonly unavailable: readonly OfferedTool[];
}

/** A tool that turned out to be unavailable is not offered again. */
function afterFailure(found: Found, { tool }: Choice, { step }: StepResult): Found {
  if (step.outcome !== "unavailable") return found;
  return {
    choices: found.choices.filter((choice) => choice.tool !== tool),
    unavailable: [...found.unavailable, { ...tool, unavailable: step.excerpt }],
  };
}

const foundMax = 8;

async function findChoices(
  step: string,
  run: PlannedRun,
  { isWhole, now }: { readonly isWhole: boolean; readonly now: Date },
): Promise<Found> {
  const { agent, data, context } = run.request;
  const offered = run.offer.tools;
  const ranked = isWhole ? offered : await run.find(step, foundMax);
  const tools = [
    ...ranked,
    ...offered.filter(isNotIn(ranked)).map((tool) => ({ ...tool, score: 0 })),
  ];
  const usable = tools.filter(({ unavailable }) => unavailable === undefined);
  const hasDates = usable.some(({ inputSchema }) =>
    parametersOf(inputSchema).some(({ takes }) => takes.includes("date")),
  );
  return {
    choices: chooseTools(step, usable, {
      agent,
      data,
      context,
      findDates: hasDates ? await loadDates(now) : undefined,
    }),
    unavailable: tools.filter(({ unavailable, score }) => unavailable !== undefined && score > 0),
  };
}

function isNotIn(tools: readonly OfferedTool[]): (tool: OfferedTool) => boolean {
  const names = new Set(tools.map(({ name }) => name));
  return ({ name }) => !names.has(name);
}

interface HandBack extends Found {
  readonly done: readonly StepResult[];
  readonly step: string;
  readonly doubt: string;
  /** The steps after the one that is handed back. */
  readonly left: readonly string[];
}

const shownMax = 5;
/** Tools far below the best are noise. */
const shownShareMin = 0.4;

function describeHandBack(run: PlannedRun, handBack: HandBack): Conclusion {
  const { fits, better, toolCount } = run.offer;
  const { done, step, choices, doubt, left, unavailable } = handBack;
  run.note("think", `handed back: ${doubt}`);

  const best = Math.max(0, ...choices.map(({ tool }) => tool.score));
  const shown = choices
    .filter((choice, at) => at === 0 || choice.tool.score >= best * shownShareMin)
    .slice(0, shownMax);
  const isWhole = done.length === 0 && left.length === 0;
  const subject = isWhole ? "" : `: "${shortenLine(step, 120)}"`;
  const parts = [
    better === undefined ? "" : `${better} may fit better.`,
    ...done.map(({ outcome, shown }) => `Result of ${shown}:\n${textOf(outcome)}`),
    shown.length === 0
      ? `None of the ${toolCount} tools fits${subject}. Try other words, one step at a time.`
      : `Not run${subject}, because ${doubt}. ${fits && !shown[0]?.isContrary ? "Best" : "Nearest"} tools:`,
    ...shown.map((choice, at) => describeChoice(choice, at + 1)),
    unavailable.length > 0
      ? `Not available now: ${unavailable.map((tool) => `${shownName(tool)} (${tool.unavailable})`).join("; ")}.`
      : "",
    left.length > 0 ? `Still to do: ${left.map((text) => shortenLine(text, 120)).join("; ")}.` : "",
  ];
  const details: JsonObject = {
    fits,
    total: toolCount,
    why: doubt,
    tools: shown.map(toolDetails),
    ...(unavailable.length > 0
      ? {
          unavailable: unavailable.map((tool) => ({
            name: shownName(tool),
            why: tool.unavailable,
          })),
        }
      : {}),
    ...(better === undefined ? {} : { better }),
    ...(left.length > 0 ? { left } : {}),
  };
  return {
    answer: parts.filter(Boolean).join("\n\n"),
    stopped: "not sure",
    carried: carriedParts(done),
    details,
    // Never propose to write a file that the task wants deleted.
    next: shown
      .filter(({ isContrary }) => !isContrary)
      .map((choice) => callAdvice(choice, run.request)),
  };
}

/**
 * How the caller can run the proposed tool. A caller that is shown only agents names the tool in a task for this agent.
 * If the tool changes something, the agent would refuse it, so the advice is a command for the user.
 */
function callAdvice(
  { tool, filling: { arguments: args } }: Choice,
  { agent, seesAgentsOnly }: RunRequest,
): Advice {
  if (!seesAgentsOnly) return { do: "call-tool", tool: shownName(tool), arguments: args };
  if (tool.isReadOnly && tool.asks === undefined)
    return {
      do: "call-tool",
      tool: agent,
      arguments: { task: shownName(tool), data: args },
      isListed: true,
    };
  const quoted = JSON.stringify(args).replaceAll("'", String.raw`'\''`);
  return { do: "run-command", command: `call ${tool.name} '${quoted}'` };
}

/** One proposed tool of a task that is handed back, as data for programs. */
function toolDetails(choice: Choice): JsonObject {
  const { tool, filling } = choice;
  return {
    name: shownName(tool),
    description: shortenLine(tool.description, 240),
    signature: signatureOf(shownName(tool), tool.inputSchema),
    inputSchema: tool.inputSchema,
    filled: filling.filled.map(({ name, value, isSure, from }) => ({
      name,
      value,
      sure: isSure,
      from,
    })),
    missing: filling.missing,
    call: { name: shownName(tool), arguments: filling.arguments },
    ...(tool.asks === undefined ? {} : { asks: tool.asks }),
  };
}

/** The same as text, for people and models. */
function describeChoice({ tool, filling: { filled, missing } }: Choice, place: number): string {
  const values = filled.map(
    ({ name, value, isSure, from }) =>
      `${name} = ${shortenLine(JSON.stringify(value), 200)} (${isSure ? "" : "check, "}from ${
        from === "data" || from === "default" ? from : `"${shortenLine(from, 40)}"`
      })`,
  );
  const describe = (name: string): string => {
    const { description = "" } =
      parametersOf(tool.inputSchema).find((parameter) => parameter.name === name) ?? {};
    return description === "" ? name : `${name} (${shortenLine(description, 100)})`;
  };
  const lines = [
    `${place}. ${signatureOf(shownName(tool), tool.inputSchema)}`,
    shortenLine(tool.description, 240),
    values.length > 0 ? `filled: ${values.join(", ")}` : "",
    missing.length > 0 ? `to add: ${missing.map(describe).join("; ")}` : "",
    tool.asks === undefined ? "" : `requires approval: ${tool.asks}`,
  ];
  return lines.filter(Boolean).join("\n   ");
}

function conclude(done: readonly StepResult[]): Conclusion {
  const [only] = done;
  const answer =
    done.length === 1 && only
      ? textOf(only.outcome)
      : done.map(({ shown, outcome }) => `${shown}:\n${textOf(outcome)}`).join("\n\n");
  return {
    answer,
    stopped: "done",
    carried: carriedParts(done),
    result: done.at(-1)?.outcome.structuredContent,
  };
}

/** Finds dates in English text, seen from `now`. The parser is loaded when it is first needed. */
export async function loadDates(now: Date): Promise<FindDates> {
  const { casual } = await import("chrono-node/en");
  return (text) =>
    casual.parse(text, now).flatMap(({ index, text: written, start, end }) => {
      // A bare time or a duration such as "5 minutes" names no day.
      if (!start.isCertain("day") && !start.isCertain("weekday")) return [];
      if (!end) return [toMention(start, index, written)];
      // "1 May 2026 to 5 May 2026"
      const joint = /\s*(?:to|until|till|through|and|–|-)\s+/i.exec(written);
      if (!joint) return [];
      const second = joint.index + joint[0].length;
      return [
        toMention(start, index, written.slice(0, joint.index)),
        toMention(end, index + second, written.slice(second)),
      ];
    });
}

interface ParsedDate {
  get(component: "day" | "month" | "year" | "hour" | "minute"): number | null;
  isCertain(component: "day" | "month" | "year" | "hour"): boolean;
}

function toMention(date: ParsedDate, start: number, text: string): Mention {
  const two = (part: "day" | "month" | "hour" | "minute"): string =>
    String(date.get(part) ?? 0).padStart(2, "0");
  const value = `${date.get("year")}-${two("month")}-${two("day")}`;
  // 3/4/2026 is a day in March in one country and in April in another.
  const isAmbiguous = /\b(?:0?\d|1[0-2])[/.](?:0?\d|1[0-2])[/.]\d{2,4}\b/.test(text);
  return {
    kind: "date",
    text,
    start,
    end: start + text.length,
    value,
    moment: date.isCertain("hour") ? `${value}T${two("hour")}:${two("minute")}:00` : undefined,
    isExact:
      !isAmbiguous && (["day", "month", "year"] as const).every((part) => date.isCertain(part)),
  };
}
