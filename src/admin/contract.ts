import type { Answer, Pending } from "../trust/approvals.ts";
import type { SupervisorState } from "../upstream/supervisor.ts";

/** What the views may ask of a running hall, over its local socket. Requests and answers, as JSON-RPC carries them. */
export interface AdminMethods {
  status: { params: Record<string, never>; result: HallStatus };
  /** The last lines a server wrote to stderr. */
  logs: { params: { server: string }; result: { lines: readonly string[] } };
  /** Calls that wait for a person's yes. */
  approvals: { params: Record<string, never>; result: { pending: readonly PendingApproval[] } };
  approve: { params: { token: string; answer: Answer }; result: { tool: string } };
  /** The ledger has changed: what it says holds from now on. */
  trustChanged: { params: Record<string, never>; result: Record<string, never> };
  restart: { params: { server: string }; result: { state: SupervisorState } };
}

export type PendingApproval = Omit<Pending, "answered" | "argumentsHash">;

export interface HallStatus {
  readonly version: string;
  readonly pid: number;
  readonly project: string;
  readonly startedAt: number;
  readonly clients: number;
  readonly upstreams: readonly UpstreamStatus[];
}

export interface UpstreamStatus {
  readonly name: string;
  readonly state: SupervisorState;
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
export type HelloAnswer = { readonly ok: true; readonly pid: number } | { readonly ok: false; readonly reason: string };
