/** The messages between the hall and the thread that runs a session. Loads nothing of the languages themselves. */
import type { MessagePort } from "node:worker_threads";
import { type ErrorCode, HallError, messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { SyntaxCheck } from "../../lisp/lisp.ts";

export const languages = ["lisp", "js"] as const;
/** The languages of programs. Each has a worker of its own. */
export type Language = (typeof languages)[number];

/** One task for a session's thread. */
export type ThreadOrder =
  | {
      readonly kind: "evaluate";
      readonly code: string;
      readonly package?: string | undefined;
      readonly mode: EvaluationMode;
      readonly limits: EvaluationLimits;
      /** The arguments of a saved program; its last value is then returned as JSON, too. */
      readonly input?: JsonObject | undefined;
      /** The available tools, if they changed since the last order. */
      readonly tools?: readonly ToolEntry[] | undefined;
      /** Clock readings of an earlier run, returned again before the real clock is read. */
      readonly readings?: ClockReadings | undefined;
    }
  | { readonly kind: "definitions"; readonly type: DefinitionType }
  | { readonly kind: "syntax"; readonly code: string }
  /** Runs common forms in a throw-away session, so that the first program finds warm code. */
  | { readonly kind: "warm-up" };

/** `explore` allows only calls that change nothing; `act` allows all, under the usual guard. */
export type EvaluationMode = "explore" | "act";

export const definitionTypes = ["all", "functions", "variables", "macros", "classes"] as const;
export type DefinitionType = (typeof definitionTypes)[number];

export interface EvaluationLimits {
  /** Infinity for none. */
  readonly timeoutMs: number;
  readonly outputCharacters: number;
  readonly calls: number;
  /** Absent in runs that version 0.1 saved. */
  readonly steps?: number | undefined;
}

/** A tool as a program sees it; its schema is fetched on demand. */
export interface ToolEntry {
  readonly toolkit: string;
  readonly name: string;
  readonly fullName: string;
  /** As the caller sees it in its list, if that differs. */
  readonly shown?: string;
}

/** Messages of a thread while it works, and its result. */
export type ThreadReport =
  /** `request` is a HallRequest as JSON: cheap to pass between threads, and its own key in the history. */
  | { readonly kind: "request"; readonly number: number; readonly request: string }
  | { readonly kind: "withdrawal"; readonly number: number }
  | {
      readonly kind: "evaluated";
      readonly evaluation: EvaluationResult;
      readonly clock: ClockRecord;
    }
  | {
      readonly kind: "definitions";
      readonly definitions: readonly DefinitionSummary[];
      readonly package?: string | undefined;
    }
  | { readonly kind: "syntax"; readonly syntax: SyntaxCheck }
  | { readonly kind: "warm-up" };

/** Work that only the hall can do. The thread waits for the reply, or for one of several. */
export type HallRequest =
  | { readonly kind: "call"; readonly name: string; readonly arguments: JsonObject }
  | { readonly kind: "find"; readonly task: string; readonly limit: number }
  | { readonly kind: "schema"; readonly name: string }
  /** The full names of a group's tools. */
  | { readonly kind: "group"; readonly name: string }
  /** Adds content that the program has only a handle of to the answer. */
  | { readonly kind: "show"; readonly handle: string };

/** `answer` is a HallAnswer as JSON. */
export interface HallReply {
  readonly number: number;
  readonly answer: string;
}

export type HallAnswer = { readonly value: unknown } | { readonly failure: ToolFailure };

export interface ToolFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly details?: JsonObject | undefined;
}

export function writeValue(value: unknown): string {
  return JSON.stringify({ value } satisfies HallAnswer);
}

export function writeFailure(error: unknown): string {
  return `${failureStart}${JSON.stringify(failureOf(error))}}`;
}

/** Undefined for a value. Values can be large, so they are not parsed to find out. */
export function findFailure(text: string): ToolFailure | undefined {
  return text.startsWith(failureStart)
    ? (JSON.parse(text) as { failure: ToolFailure }).failure
    : undefined;
}

const failureStart = '{"failure":';

function failureOf(error: unknown): ToolFailure {
  if (error instanceof HallError)
    return { code: error.code, message: error.message, hint: error.hint, details: error.details };
  return { code: "INTERNAL", message: messageOf(error) };
}

/** Indexes into the shared memory: the number of replies sent, the stop flag, and whether the program shall hurry. */
export const sharedWords = { replies: 0, stop: 1, hurry: 2, heapMb: 3, count: 4 } as const;

export interface ThreadStart {
  readonly replies: MessagePort;
  readonly shared: Int32Array;
  /** The seed of `random`, so that a session can be replayed. */
  readonly seed: number;
  /** The limit of the thread's heap. */
  readonly heapMbMax: number;
}

export interface EvaluationResult {
  readonly values: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly warnings: readonly string[];
  readonly condition?: ConditionSummary | undefined;
  /** The names that this evaluation defined. */
  readonly definitions: readonly DefinitionSummary[];
  /** The number of further definitions that are not listed. */
  readonly definitionsLeftOut?: number | undefined;
  /** The current package, in Lisp. */
  readonly package?: string | undefined;
  /** The last value of a saved program, if it has a form in JSON. */
  readonly json?: string | undefined;
  readonly steps: number;
  readonly ms: number;
}

/** A program's clock readings in order: seconds since 1970, and milliseconds of elapsed time. */
export interface ClockReadings {
  readonly clock: readonly number[];
  readonly timer: readonly number[];
  /** In JavaScript, the numbers of the answered calls in the order in which the program learned of them. */
  readonly arrivals?: readonly number[];
}

export interface ClockRecord {
  /** Undefined when there were too many to keep. */
  readonly readings?: ClockReadings | undefined;
  /** The readings up to the first call that needed an approval: a resumed program continues from there. */
  readonly beforeRefusal?: ClockReadings | undefined;
}

export interface ConditionSummary {
  readonly type: string;
  readonly message: string;
  readonly restarts: readonly string[];
  readonly backtrace: readonly string[];
  /** The start of the Lisp form that signalled it, or the exact place in JavaScript. */
  readonly position?:
    | { readonly line: number; readonly column: number; readonly isExact?: boolean }
    | undefined;
}

export interface DefinitionSummary {
  /** `function`, `macro`, `variable`, `class`, `structure` … */
  readonly type: string;
  readonly name: string;
  readonly documentation?: string | undefined;
}
