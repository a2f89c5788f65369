import type { PageError } from "../../server/http/page-door.ts";
import type { KeptCall, Series } from "../../store/store.ts";
import type { Progress } from "../../tool.ts";
import type { AdminMethods } from "../admin-contract.ts";
import type { ChangedPart } from "../events.ts";
import type { LogEntry } from "../server-logs.ts";
import type { AgentMethods } from "./agents.ts";
import type { ConfigMethods } from "./config.ts";
import type { ExposedMethods } from "./exposed.ts";
import type { FeatureMethods } from "./features.ts";
import type { OwnMethods } from "./own.ts";
import type { ProgramMethods } from "./programs.ts";
import type { QuestionMethods } from "./questions.ts";
import type { RecordMethods } from "./records.ts";
import type { ReviewMethods } from "./review.ts";
import type { RunMethods } from "./runs.ts";
import type { ServerMethods } from "./servers.ts";
import type { ToolMethods } from "./tools.ts";
import type { TrafficMethods } from "./traffic.ts";

/**
 * The requests of the page: POST /api/page/METHOD with the parameters as a JSON object. The page imports
 * this file for its types only. An area is one file that declares its methods and handles them.
 */
export interface PageMethods
  extends Pick<AdminMethods, "status" | "approvals" | "approve" | "statistics">,
    ServerMethods,
    OwnMethods,
    ConfigMethods,
    ReviewMethods,
    ToolMethods,
    QuestionMethods,
    RunMethods,
    TrafficMethods,
    AgentMethods,
    ProgramMethods,
    FeatureMethods,
    RecordMethods,
    ExposedMethods {
  /** Calls over time, of a tool, a toolkit or all. */
  series: { params: { readonly since: number; readonly of?: string | undefined }; result: Series };
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
