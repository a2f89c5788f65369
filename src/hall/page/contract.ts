import type { PageError } from "../../server/http/page-door.ts";
import type { KeptCall } from "../../store/store.ts";
import type { AdminMethods } from "../admin-contract.ts";
import type { LogEntry } from "../server-logs.ts";
import type { AgentMethods } from "./agents.ts";
import type { ConfigMethods } from "./config.ts";
import type { ExposedMethods } from "./exposed.ts";
import type { FeatureMethods } from "./features.ts";
import type { ProgramMethods } from "./programs.ts";
import type { RecordMethods } from "./records.ts";
import type { ReviewMethods } from "./review.ts";
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
    ConfigMethods,
    ReviewMethods,
    ToolMethods,
    TrafficMethods,
    AgentMethods,
    ProgramMethods,
    FeatureMethods,
    RecordMethods,
    ExposedMethods {
  /** The person who is signed in, and the hall. */
  session: { params: Record<string, never>; result: PageSession };
}

export interface PageSession {
  readonly principal: string;
  readonly scopes: readonly string[];
  readonly version: string;
  readonly project: string;
  readonly startedAt: number;
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
  | { readonly type: "changed"; readonly what: PagePart };

export type PagePart = "approvals" | "servers" | "tools" | "review";
