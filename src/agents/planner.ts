import type { Advice } from "../base/advice.ts";
import type { JsonObject } from "../base/json.ts";
import type { Outcome, Target } from "../tool.ts";

/** What turns a task into calls: with a model of ours, with the client's, or without one. Types only. */
export interface Planner {
  readonly kind: PlannerKind;
  /**
   * Works on the task until there is an answer, or until it cannot go on. What its calls gave is kept by the run, so a planner
   * that throws loses nothing: HallError when it cannot work at all, and whatever `job` throws when the run is over.
   */
  plan(job: Job): Promise<Conclusion>;
}

export const plannerKinds = ["model", "sampling", "local"] as const;
export type PlannerKind = (typeof plannerKinds)[number];

/** `auto`: a model of ours where there is a key for it, else the client's where it offers one, else none. */
export const plannerChoices = ["auto", ...plannerKinds] as const;
export type PlannerChoice = (typeof plannerChoices)[number];

/** One task of one agent, and all a planner may do about it. */
export interface Job {
  readonly agent: string;
  readonly task: string;
  /** What the task is about, as the caller gave it. */
  readonly data?: unknown;
  readonly context?: string | undefined;
  /** The body of the agent's file. */
  readonly instructions: string;
  readonly limits: RunLimits;
  /** The group's tools for this task, best first, at most `offeredMax`; `find` knows the others. */
  readonly tools: readonly OfferedTool[];
  /** False when no tool of the group seems made for the task. */
  readonly fits: boolean;
  /** How many tools the group has. */
  readonly toolCount: number;
  /** Another agent whose tools fit where those of this one do not. */
  readonly better?: string | undefined;
  /** Aborted when the caller withdraws or the time is up. */
  readonly signal: AbortSignal;
  /** Milliseconds left of the run's time. */
  remainingMs(): number;
  /** Other tools of the group, best first. */
  find(query: string, limit?: number): Promise<readonly OfferedTool[]>;
  /**
   * Calls a tool of the group through the gateway, as one step of the run. Whatever goes wrong with the tool is a result, not an
   * error: a planner reads it and goes on. Throws BUDGET when the run may take no more steps, and TIMEOUT or CANCELLED when it is over.
   */
  call(tool: string, args: JsonObject): Promise<StepResult>;
  /** Says what the planner thinks: for the trace, and for whoever watches. The run itself notes the other phases. */
  note(phase: Phase, text: string): void;
  /** What would be the answer, should the run be ended now. */
  draft(text: string): void;
  /** Before a model is asked once more. Throws BUDGET when the run may have no more turns, or has no tokens left. */
  beginTurn(): void;
  /** Counts what a turn cost, and keeps what was said in it for a replay. */
  spend(usage: Usage, said?: JsonObject): void;
}

/** A tool as a planner sees it. */
export interface OfferedTool {
  /** The full name: what `call` wants. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** How well it fits the task, from 0 to about 1: to compare within one list. */
  readonly score: number;
  /** Whether it changes and sends nothing, by its reviewed annotations or its name. */
  readonly isReadOnly: boolean;
  /** Why a person would be asked first; nobody can be asked inside a run, so such a call is refused and named in the answer. */
  readonly asks?: string | undefined;
  /** Why it cannot be called right now. */
  readonly unavailable?: string | undefined;
  readonly target: Target;
}

export const offeredMax = 20;

/** One call of a run, as its answer tells of it. */
export interface Step {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly outcome: StepOutcome;
  readonly ms: number;
  /** The beginning of what it gave, or what went wrong. */
  readonly excerpt: string;
}

/** `ok`; `empty` for a result without content; `error` for what the tool itself says; else the code of the failure in lower case. */
export type StepOutcome = "ok" | "empty" | "error" | (string & {});

export interface StepResult {
  readonly step: Step;
  /** What the tool gave; a failure reads like a tool's own error. */
  readonly outcome: Outcome;
}

/** What one run may use. What it obtained before it came to a limit is its answer, marked partial. */
export interface RunLimits {
  readonly turns: number;
  /** Calls of tools. */
  readonly steps: number;
  /** Of a model, in and out. */
  readonly tokens: number;
  /** Of all results together. */
  readonly resultBytes: number;
  readonly seconds: number;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True where nobody counted and the length of the texts had to do. */
  readonly estimated?: boolean;
}

export const phases = ["observe", "think", "execute", "verify", "learn"] as const;
export type Phase = (typeof phases)[number];

/** How a planner ended. */
export interface Conclusion {
  /** The answer as text: Markdown, for a model and for a person. */
  readonly answer: string;
  readonly stopped: StopReason;
  /** What went wrong, where something did. */
  readonly problem?: string | undefined;
  /** Parts of the tools' results that belong into the answer: images, resource links. */
  readonly carried?: readonly JsonObject[] | undefined;
  /** The result of a tool that is the answer as data. */
  readonly result?: unknown;
  /** Further fields of the answer, such as the tools that would be called next. */
  readonly details?: JsonObject | undefined;
  /** How the caller continues. */
  readonly next?: readonly Advice[] | undefined;
}

/**
 * Why a run ended. `done`: with an answer. `not sure`: the caller has to go on. `turns`, `steps`, `tokens`, `bytes`, `time`: a limit.
 * `length`, `filter`: the model was cut off. `failed`: the planner could not go on. `cancelled`: the caller withdrew.
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
