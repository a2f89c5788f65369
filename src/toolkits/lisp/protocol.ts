/** What the hall and the thread that runs a session say to each other. */
import type { MessagePort } from "node:worker_threads";
import type { ErrorCode } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";

/** What a session is told to do, one thing at a time. */
export type Order =
  | {
      readonly kind: "evaluate";
      readonly code: string;
      readonly package?: string | undefined;
      readonly mode: Mode;
      readonly limits: EvaluationLimits;
      /** The tools there are, when that has changed since the last order. */
      readonly tools?: readonly ToolEntry[] | undefined;
      /** What it read of the clock when it was run before: it reads the same again, and the clock itself after that. */
      readonly readings?: ClockReadings | undefined;
    }
  | { readonly kind: "definitions"; readonly type: DefinitionType }
  | { readonly kind: "syntax"; readonly code: string }
  /** To have done once what programs do, in a session of its own that is thrown away. */
  | { readonly kind: "rehearsal" };

/** `explore`: only what changes nothing can be called; `act`: everything, under the same guard as any call. */
export type Mode = "explore" | "act";

export const definitionTypes = ["all", "functions", "variables", "macros", "classes"] as const;
export type DefinitionType = (typeof definitionTypes)[number];

export interface EvaluationLimits {
  /** Infinity for none. */
  readonly timeoutMs: number;
  readonly outputCharacters: number;
  readonly calls: number;
}

/** A tool as a program sees it; its schema is asked for when it is needed. */
export interface ToolEntry {
  readonly toolkit: string;
  readonly name: string;
  readonly fullName: string;
}

/** What a thread says while it works, and in the end. */
export type Report =
  /** `request` is a HallRequest as JSON: a text crosses between threads at little cost, and is its own key in the journal. */
  | { readonly kind: "request"; readonly number: number; readonly request: string }
  | { readonly kind: "withdrawal"; readonly number: number }
  | { readonly kind: "evaluated"; readonly evaluation: Evaluation; readonly clock: ClockRecord }
  | {
      readonly kind: "definitions";
      readonly definitions: readonly Definition[];
      readonly package: string;
    }
  | { readonly kind: "syntax"; readonly syntax: Syntax }
  | { readonly kind: "rehearsal" };

/** What only the hall can do. The thread waits for the reply, or for one of several. */
export type HallRequest =
  | { readonly kind: "call"; readonly name: string; readonly arguments: JsonObject }
  | { readonly kind: "find"; readonly task: string; readonly limit: number }
  | { readonly kind: "schema"; readonly name: string }
  /** The full names of a group's tools. */
  | { readonly kind: "group"; readonly name: string }
  /** Puts an image, or whatever else a program only has a handle of, into the answer. */
  | { readonly kind: "show"; readonly handle: string };

/** `answer` is an Answer as JSON. */
export interface Reply {
  readonly number: number;
  readonly answer: string;
}

export type Answer = { readonly value: unknown } | { readonly failure: Failure };

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly details?: JsonObject | undefined;
}

/** The two words of shared memory: how many replies were sent, and whether to stop. */
export const sharedWords = { replies: 0, stop: 1, count: 2 } as const;

export interface ThreadStart {
  readonly replies: MessagePort;
  readonly shared: Int32Array;
  /** What `random` starts from, so that a session can be run again. */
  readonly seed: number;
}

export interface Evaluation {
  readonly values: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly warnings: readonly string[];
  readonly condition?: ConditionReport | undefined;
  /** What this evaluation defined. */
  readonly definitions: readonly Definition[];
  /** How many more there are than are told of. */
  readonly definitionsLeftOut?: number | undefined;
  readonly package: string;
  readonly steps: number;
  readonly ms: number;
}

/** What a program read of the clock, in order: seconds since 1970, and milliseconds of the time that passes. */
export interface ClockReadings {
  readonly clock: readonly number[];
  readonly timer: readonly number[];
}

export interface ClockRecord {
  /** Undefined when there were too many to keep. */
  readonly readings?: ClockReadings | undefined;
  /** What it had read when a call was first refused for want of an approval: once it is given, time goes on from there. */
  readonly beforeRefusal?: ClockReadings | undefined;
}

/** What reading a text comes to, without running any of it. */
export type Syntax =
  | { readonly kind: "whole"; readonly forms: number }
  /** It ends inside a form. */
  | { readonly kind: "unfinished"; readonly problem: string }
  | { readonly kind: "wrong"; readonly problem: string };

export interface ConditionReport {
  readonly type: string;
  readonly message: string;
  readonly restarts: readonly string[];
  readonly backtrace: readonly string[];
  /** Where the form began that signalled it. */
  readonly position?: { readonly line: number; readonly column: number } | undefined;
  /** The tool, where a tool's failure was not handled. */
  readonly tool?: string | undefined;
}

export interface Definition {
  /** `function`, `macro`, `variable`, `class`, `structure` … */
  readonly type: string;
  readonly name: string;
  readonly documentation?: string | undefined;
}
