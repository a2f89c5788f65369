import { type Advice, adviceForModel } from "../base/advice.ts";
import { errorType, fullMessageOf, type HallError } from "../base/errors.ts";
import { isObject, type JsonObject, textsOf } from "../base/json.ts";
import type { Outcome } from "../tool.ts";

/** Turns a task into tool calls: with a configured model, with the client's model, or without one. */
export interface Planner {
  readonly kind: PlannerKind;
  /**
   * Works on the task until there is an answer. The run keeps the results of all calls, so nothing is lost if the
   * planner throws: a HallError if it cannot work at all, or an error of `run` when the run is over.
   */
  plan(run: PlannedRun): Promise<Conclusion>;
}

export const plannerKinds = ["model", "sampling", "local"] as const;
export type PlannerKind = (typeof plannerKinds)[number];

/** `auto`: a configured model if its key is set, else the client's model if it supports sampling, else none. */
export const plannerChoices = ["auto", ...plannerKinds] as const;
export type PlannerChoice = (typeof plannerChoices)[number];

/** A task for one agent, with the settings of its file. */
export interface RunRequest {
  readonly agent: string;
  readonly task: string;
  /** Input of the task, as the caller sent it. */
  readonly data?: JsonObject | undefined;
  readonly context?: string | undefined;
  /** The body of the agent's file. */
  readonly instructions: string;
  readonly limits: RunLimits;
  /** The caller sees agents only: it cannot call a tool by its name. */
  readonly seesAgentsOnly?: boolean | undefined;
}

/** The group's tools for a task. */
export interface ToolOffer {
  /** Best first, at most `offeredMax`; `find` knows the others. */
  readonly tools: readonly OfferedTool[];
  /** False if no tool of the group clearly fits the task. */
  readonly fits: boolean;
  /** How many tools the group has. */
  readonly toolCount: number;
  /** Another agent whose tools fit better. */
  readonly better?: string | undefined;
}

/** A run as its planner sees it: the task, and all that the planner may do about it. */
export interface PlannedRun {
  readonly request: RunRequest;
  readonly offer: ToolOffer;
  /** Aborted when the caller cancels or the time is up. */
  readonly signal: AbortSignal;
  /** Milliseconds left of the run's time. */
  remainingMs(): number;
  /** Other tools of the group, best first. */
  find(query: string, limit?: number): Promise<readonly OfferedTool[]>;
  /**
   * Calls a tool of the group through the gateway, as one step of the run. A tool's failure is a result, not an error.
   * Throws BUDGET when the run has no steps left, and TIMEOUT or CANCELLED when it is over.
   */
  call(tool: string, args: JsonObject): Promise<StepResult>;
  /** Adds to the trace. `isTransient` marks events that a replay does not repeat, such as retries. */
  note(phase: RunPhase, text: string, options?: { readonly isTransient?: boolean }): void;
  /** The answer to give if the run ends now. */
  draft(text: string): void;
  /** Before each turn of a model. Throws BUDGET when the run has no turns or tokens left. */
  beginTurn(): void;
  /** Counts the cost of a turn, and keeps the turn for a replay. */
  spend(usage: Usage, turn?: JsonObject): void;
}

/** A tool as a planner sees it. */
export interface OfferedTool {
  /** The full name, which `call` takes. */
  readonly name: string;
  /** The name in the answer, as the client that asked sees it in its list. Default: the full name. */
  readonly shown?: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** How well it fits the task, from 0 to about 1; comparable within one list. */
  readonly score: number;
  /** True if it changes and sends nothing, by its reviewed annotations or its name. */
  readonly isReadOnly: boolean;
  /** Why it requires approval. A run cannot ask, so such a call is refused and listed in the answer. */
  readonly asks?: string | undefined;
  /** Why it cannot be called now. */
  readonly unavailable?: string | undefined;
  /** True for a tool that the agent's file does not name. */
  readonly isGuest?: boolean | undefined;
}

export const offeredMax = 20;

export function shownName({ name, shown = name }: Pick<OfferedTool, "name" | "shown">): string {
  return shown;
}

/** One call of a run. */
export interface RunStep {
  /** The full name. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** `ok`; `empty` for a result without content; `error` for a tool's own error; else the error code in lower case. */
  readonly outcome: string;
  readonly ms: number;
  /** The beginning of the result, or the error. */
  readonly excerpt: string;
}

export interface StepResult {
  readonly step: RunStep;
  /** The tool's name in the answer. */
  readonly shown: string;
  /** The tool's result; a failure looks like a tool's own error. */
  readonly outcome: Outcome;
}

/** The limits of one run. At a limit the results so far become the answer, marked partial. */
export interface RunLimits {
  readonly turns: number;
  /** Tool calls. */
  readonly steps: number;
  /** Input and output tokens of a model. */
  readonly tokens: number;
  /** Of all results together. */
  readonly bytes: number;
  readonly seconds: number;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True if the tokens were estimated from the length of the texts. */
  readonly estimated?: boolean | undefined;
}

export type RunPhase = "observe" | "think" | "execute" | "verify" | "learn";

/** How a planner ended. */
export interface Conclusion {
  /** Markdown, for a model and for a person. */
  readonly answer: string;
  readonly stopped: StopReason;
  readonly problem?: string | undefined;
  /** Images and resource links of the results that belong to the answer. */
  readonly carried?: readonly JsonObject[] | undefined;
  /** The structured result that is the answer as data. */
  readonly result?: unknown;
  /** Further fields of the answer, such as the tools that would be called next. */
  readonly details?: JsonObject | undefined;
  /** How the caller continues. */
  readonly next?: readonly Advice[] | undefined;
}

/**
 * Why a run ended. `done`: with an answer. `not sure`: handed back to the caller. `turns`, `steps`,
 * `tokens`, `bytes`, `time`: at a limit. `length`, `filter`: the model was cut off. `failed`: the
 * planner failed. `cancelled`: the caller cancelled.
 */
export type StopReason =
  | "done"
  | "not sure"
  | "turns"
  | "steps"
  | "tokens"
  | "bytes"
  | "time"
  | "length"
  | "filter"
  | "failed"
  | "cancelled";

// How a step describes its call: a failure, an empty result, or the beginning of the result.

/** A failure as a tool's own error, with the way to fix it. */
export function describeFailure(error: HallError): Outcome {
  const { code, hint, next, details } = error;
  const errors = Array.isArray(details?.errors)
    ? `\n${JSON.stringify(details.errors).slice(0, 1_000)}`
    : "";
  const advice = next.length > 0 ? adviceForModel(next) : hint;
  return {
    content: [
      { type: "text", text: `${errorType(code)}: ${fullMessageOf(error)}${errors}\n${advice}` },
    ],
    isError: true,
  };
}

/** True if a result has no content. */
export function isEmpty({ content, structuredContent }: Outcome): boolean {
  const hasText = (item: JsonObject): boolean =>
    item.type !== "text" || String(item.text ?? "").trim() !== "";
  const hasValue = (value: unknown): boolean =>
    isObject(value) || Array.isArray(value)
      ? Object.keys(value).length > 0
      : value !== undefined && value !== null;
  return !content.some(hasText) && !hasValue(structuredContent);
}

/** The text of a result; its data if it has no text, else the kinds of its other parts. */
export function textOf({ content, structuredContent }: Outcome): string {
  const text = textsOf(content);
  if (text.trim() !== "") return text;
  if (structuredContent !== undefined) return JSON.stringify(structuredContent);
  const kinds = content.flatMap(({ type, mimeType, uri }) =>
    type === "text" ? [] : [`[${String(type)} ${String(mimeType ?? uri ?? "")}]`],
  );
  return kinds.join(" ") || "(empty result)";
}

/** Images, resource links and the like, which an answer carries along. */
export const carriedParts = (done: readonly StepResult[]): readonly JsonObject[] =>
  done.flatMap(({ outcome }) => outcome.content.filter(({ type }) => type !== "text"));
