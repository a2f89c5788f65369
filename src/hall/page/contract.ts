import type { PageError } from "../../server/http/page-door.ts";
import type { KeptCall } from "../../store/store.ts";
import type { Progress } from "../../tool.ts";
import type { ChangedPart } from "../events.ts";
import type { LogEntry } from "../server-logs.ts";
import type { MethodsOf } from "./area.ts";
import type { createAreas, hallArea } from "./host.ts";

/**
 * The requests of the page: POST /api/page/METHOD with the parameters as a JSON object. The page imports
 * this file for its types only. An area is one file with methods that belong together.
 */
export interface PageMethods
  extends MethodsOf<ReturnType<typeof createAreas>>,
    MethodsOf<ReturnType<typeof hallArea>> {
  /** The person who is signed in, and the hall. */
  session: { params: Record<string, never>; result: PageSession };
  /** The session and the answers of a first screen at once. A failed one is left out. */
  start: {
    params: { readonly reads: PageReads };
    result: { readonly session: PageSession; readonly answers: PageAnswers };
  };
}

export type PageReads = { readonly [M in FirstMethod]?: PageMethods[M]["params"] };
export type PageAnswers = { readonly [M in FirstMethod]?: PageMethods[M]["result"] };
type FirstMethod = Exclude<keyof PageMethods, "start">;

export interface PageSession {
  readonly principal: string;
  /** Has logins and secrets of their own; not the user of the hall. */
  readonly isPerson: boolean;
  readonly scopes: readonly string[];
  readonly version: string;
  readonly project: string;
  readonly startedAt: number;
  /** The id of the last event so far. */
  readonly lastEvent: string;
}

export type PageAnswer<T> = { readonly result: T } | { readonly error: PageError };

export type { PageError };

/** A recorded call without its arguments and result. */
export type CallLine = Omit<KeptCall, "arguments" | "result" | "seq" | "digest">;

/**
 * The events of the page at GET /api/page/events, one JSON object per event. Events have ids; a page that
 * lost the stream sends the last one and gets what it missed, or `reset`.
 */
export type PageEvent =
  /** The page cannot know what it missed: it reads everything again. */
  | { readonly type: "reset"; readonly startedAt: number }
  | { readonly type: "calls"; readonly calls: readonly CallLine[] }
  | { readonly type: "logs"; readonly lines: readonly LogEntry[] }
  /** Of a call that this person made in a page. */
  | { readonly type: "progress"; readonly key: string; readonly progress: Progress }
  | { readonly type: "changed"; readonly what: ChangedPart };
