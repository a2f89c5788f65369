import type { JsonObject } from "../base/json.ts";
import type { Statistics, StoreState } from "../store/store.ts";
import type { Health, Tool, ToolkitSource } from "../tool.ts";
import type { ApprovalAnswer } from "../trust/approvals.ts";
import type { Marks } from "../trust/marks.ts";
import type { Level } from "../trust/trust.ts";
import type { UpstreamState } from "../upstream/upstream.ts";

/** What the views may ask of a running hall, over its local socket. Requests and answers, as JSON-RPC carries them. */
export interface AdminMethods {
  status: { params: Record<string, never>; result: HallStatus };
  /** The last lines a server wrote to stderr. */
  logs: { params: { server: string }; result: { lines: readonly string[] } };
  /** Calls that wait for a person's yes. */
  approvals: { params: Record<string, never>; result: { pending: readonly PendingApproval[] } };
  approve: { params: { token: string; answer: ApprovalAnswer }; result: { tool: string } };
  /** Asks the model of a client that is connected and lends it. */
  sample: { params: { params: JsonObject }; result: { answer: JsonObject } };
  /** The agents' files have changed: they are read again. */
  groupsChanged: { params: Record<string, never>; result: Record<string, never> };
  /** The ledger has changed: what it says holds from now on. `isRevoked` also takes back what was said for as long as the hall runs. */
  trustChanged: { params: { isRevoked?: boolean }; result: Record<string, never> };
  /** How each tool stands. */
  trust: { params: Record<string, never>; result: { tools: readonly ToolTrust[] } };
  /** For halls that keep their calls in memory; others can read the file. */
  statistics: { params: { since?: number }; result: Statistics };
  restart: { params: { server: string }; result: { state: UpstreamState } };
}

export interface PendingApproval {
  readonly token: string;
  readonly tool: string;
  /** Who is on the line, as far as the hall can tell. */
  readonly caller: string;
  /** What the client says of itself. */
  readonly client: string;
  readonly preview: string;
  readonly why: string;
  readonly askedAt: number;
  readonly expiresAt: number;
}

export interface ToolTrust {
  readonly name: string;
  /** What it is known by in the ledger. */
  readonly key: string;
  readonly toolkit: string;
  readonly source: ToolkitSource;
  readonly level: Level;
  readonly marks: Marks;
  /** Why it is not called at all. */
  readonly held?: string | undefined;
  /** Why a call of it needs a yes. */
  readonly ask?: string | undefined;
  /** Milliseconds since 1970, for trust that ends. */
  readonly until?: number | undefined;
  readonly pin: string;
  /** What a review would be about. */
  readonly definition: Tool;
}

export interface HallStatus {
  readonly version: string;
  readonly pid: number;
  readonly project: string;
  readonly startedAt: number;
  readonly clients: number;
  readonly store: StoreState;
  readonly upstreams: readonly UpstreamStatus[];
  readonly registrations: readonly RegistrationStatus[];
}

export interface RegistrationStatus {
  readonly name: string;
  readonly state: Health["state"];
  /** Who runs it; null while nobody does. */
  readonly runner: "connection" | "endpoint" | null;
  readonly tools: number;
  readonly registeredAt: number;
  /** Why it cannot be called, where it cannot. */
  readonly problem: string | undefined;
}

export interface UpstreamStatus {
  readonly name: string;
  readonly state: UpstreamState;
  readonly era: string | undefined;
  readonly protocol: string | undefined;
  readonly tools: number;
  readonly calls: number;
  readonly errors: number;
  readonly lastError: string | undefined;
}

/** A hall that ends says so on every line of a client that is attached to it; the client's side says that nothing more will come. */
export const leaving = '{"jsonrpc":"2.0","method":"guildhall/leaving"}';
export const left = '{"jsonrpc":"2.0","method":"guildhall/left"}';

/** The first line on the socket: who comes, and for what. The answer is one line too. */
export interface Hello {
  readonly hello: "mcp" | "admin";
  readonly version: string;
}
export type HelloAnswer =
  | { readonly ok: true; readonly pid: number }
  | { readonly ok: false; readonly reason: string };
