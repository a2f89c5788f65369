import type { ModuleFailure } from "../registry/modules.ts";
import type { Statistics, StoreState } from "../store/store.ts";
import type { Health, Tool, ToolkitSource } from "../tool.ts";
import type { ApprovalAnswer, PendingApproval } from "../trust/approvals.ts";
import type { Verdict } from "../trust/trust.ts";
import type { Offer, SkippedTool } from "../upstream/lists.ts";
import type { SandboxDenial } from "../upstream/sandbox/denials.ts";
import type { UpstreamCounts, UpstreamState } from "../upstream/upstream.ts";

/** The methods of a running hall's local socket, as JSON-RPC requests and results. */
export interface AdminMethods {
  status: { params: Record<string, never>; result: HallStatus };
  /** The last lines a server wrote to stderr. */
  logs: { params: { server: string }; result: { lines: readonly string[] } };
  /** Calls that wait for approval. */
  approvals: { params: Record<string, never>; result: { pending: readonly ListedApproval[] } };
  approve: { params: { token: string; answer: ApprovalAnswer }; result: { tool: string } };
  /** Reads the agents' files again. */
  groupsChanged: { params: Record<string, never>; result: Record<string, never> };
  /** Reads the approvals again, and starts and stops what they allow. */
  trustChanged: { params: Record<string, never>; result: Record<string, never> };
  /** The trust level of each tool. */
  trust: { params: Record<string, never>; result: { tools: readonly ToolTrust[] } };
  /** The offer of each server, reviewed or not. */
  offers: { params: Record<string, never>; result: { servers: Readonly<Record<string, Offer>> } };
  /** For halls without a store file. */
  statistics: {
    params: { since?: number | undefined; person?: string | undefined };
    result: Statistics;
  };
  /** Ends the hall as a signal does, after the answer; the result is what ends. */
  stop: { params: Record<string, never>; result: HallStatus };
  restart: { params: { server: string }; result: { state: UpstreamState } };
  /** The address of the page with a code that signs in one browser within 60 s; undefined without HTTP. */
  page: { params: Record<string, never>; result: { url: string | undefined } };
}

export interface ListedApproval
  extends Omit<PendingApproval, "target" | "argumentsHash" | "callerPreview" | "isWaiting"> {
  readonly tool: string;
}

export interface ToolTrust extends Pick<Verdict, "level" | "marks" | "held" | "ask"> {
  readonly name: string;
  /** Its key in the ledger. */
  readonly key: string;
  readonly toolkit: string;
  readonly source: ToolkitSource;
  /** Milliseconds since 1970, for trust that ends. */
  readonly until?: number | undefined;
  readonly pin: string;
  /** The definition as the server sends it. */
  readonly definition: Tool;
}

export interface HallStatus {
  readonly version: string;
  readonly pid: number;
  readonly project: string;
  readonly startedAt: number;
  /** Where it listens over HTTP; absent in a hall for stdio only. */
  readonly url?: string | undefined;
  readonly clients: number;
  readonly store: StoreState;
  readonly upstreams: readonly UpstreamStatus[];
  readonly registrations: readonly RegistrationStatus[];
  /** Accesses that the sandbox of the modules has denied since the hall started. */
  readonly deniedToModules?: readonly SandboxDenial[] | undefined;
  /** Modules that are not loaded, and why. */
  readonly failedModules: readonly ModuleFailure[];
  /** What is wrong with the policies, because of which everything is denied. */
  readonly brokenPolicies?: readonly string[] | undefined;
}

export interface RegistrationStatus {
  readonly name: string;
  readonly state: Health["state"];
  /** Null while no connection or endpoint serves it. */
  readonly runner: "connection" | "endpoint" | null;
  readonly tools: number;
  readonly registeredAt: number;
  /** It has the name of a built-in toolkit, and serves instead while it has a runner. */
  readonly replacesBuiltIn: boolean;
  /** Set if it cannot be called: why. */
  readonly problem: string | undefined;
}

export interface UpstreamStatus extends Readonly<UpstreamCounts> {
  readonly name: string;
  readonly state: UpstreamState;
  readonly era: string | undefined;
  readonly protocol: string | undefined;
  readonly tools: number;
  /** Tools that it lists and that cannot be used. */
  readonly skipped?: readonly SkippedTool[] | undefined;
  /** Accesses that its sandbox has denied since the hall started. */
  readonly denied?: readonly SandboxDenial[] | undefined;
}

/** The first line on the socket. The answer is one line too; the client's second line is its own proof. */
export interface Hello {
  readonly hello: "mcp" | "admin";
  readonly version: string;
  /** Used once, for the proofs. */
  readonly nonce: string;
  /** The client sees only the tools of this preset. */
  readonly preset?: string | undefined;
}
export type HelloAnswer =
  | { readonly ok: true; readonly pid: number; readonly nonce: string; readonly proof: string }
  | { readonly ok: false; readonly reason: string };
