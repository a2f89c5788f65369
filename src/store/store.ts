import type { ErrorCode } from "../base/errors.ts";
import type { Json } from "../base/json.ts";

/**
 * What a hall remembers: its calls, its audit, what was registered, found and run. One contract, one suite of tests
 * (`test/store/contract.ts`): in memory, in a SQLite file, in a PostgreSQL database.
 * **Acknowledged** means confirmed by whoever writes: a promise of a write resolves when the row would survive a crash.
 */
export interface Store {
  readonly calls: CallStore;
  readonly audit: AuditStore;
  readonly registrations: Shelf;
  /** What was found out about servers and modules. */
  readonly discoveries: Shelf;
  readonly runs: Shelf;
  /** Counted as calls are added, not by reading them all again. `since` is rounded down to the hour; past three days, and without it, to the day. */
  statistics(since?: number): Promise<Statistics>;
  /** Forgets what is too old or too much. A store does it by itself now and then. */
  prune(): Promise<Pruned>;
  /** Resolves when everything added so far is durable. Rejects with UNAVAILABLE when it cannot be written. */
  flush(): Promise<void>;
  /** True while more waits to be written than the writer can take: nothing new should be read. */
  readonly isFull: boolean;
  onFull(listener: (isFull: boolean) => void): () => void;
  state(): StoreState;
  /** Writes what waits, then lets go. Idempotent. */
  close(): Promise<void>;
}

export interface StoreState {
  readonly kind: "memory" | "sqlite" | "postgresql";
  readonly path?: string;
  /** Without its password. */
  readonly url?: string;
  /** Why nothing can be written right now; calls go on, those that must be recorded first fail. */
  readonly problem: string | undefined;
  /** Rows that wait to be written. */
  readonly waiting: number;
  /** Rows that were given up, because the writer failed for longer than there was room. The audit says so when it can. */
  readonly lost: number;
}

export interface CallStore {
  /** Returns at once; the row is durable within a tenth of a second. A row whose id has begun takes that one's place. */
  add(row: CallRow): void;
  /** For calls that may not run unrecorded: resolves when the row is durable. Rejects with UNAVAILABLE. */
  begin(row: CallRow): Promise<void>;
  /** The newest `limit` (default 100), oldest first; with `after`, the first ones behind it. */
  list(filter?: CallFilter): Promise<readonly KeptCall[]>;
}

/** Running until a second row says how it ended; so a crash leaves a trace of what it interrupted. */
export type CallOutcome = "running" | "ok" | "error" | "failed";

export interface CallRow {
  readonly id: string;
  readonly parent: string | null;
  /** The call a client made, of which this one is a part; its own id where it is that one. */
  readonly root: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What the client calls itself. */
  readonly caller: string;
  readonly connection: string;
  readonly face: string | null;
  /** Null where no tool has the name. */
  readonly toolkit: string | null;
  /** The full name, or what the caller wrote. */
  readonly tool: string;
  /** As JSON. Digested and forgotten: only `kept` is written. */
  readonly arguments: string;
  /** `error` is what the tool itself said; `failed` has a code. */
  readonly outcome: CallOutcome;
  readonly code: ErrorCode | null;
  readonly ms: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly planner: string | null;
  /** Whole arguments and result as JSON, without secrets, where the config wants them. */
  readonly kept?: { readonly arguments: string; readonly result: string | null } | undefined;
}

export interface KeptCall extends Omit<CallRow, "arguments" | "kept"> {
  /** Grows with every row. */
  readonly seq: number;
  /** SHA-256 of the arguments with sorted keys; null where they were not JSON. */
  readonly digest: string | null;
  readonly arguments: string | null;
  readonly result: string | null;
}

export interface CallFilter {
  readonly since?: number | undefined;
  /** A full name, or a toolkit. */
  readonly tool?: string | undefined;
  /** An outcome, or an error code. */
  readonly outcome?: string | undefined;
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

/** Append-only: each row carries the hash of the one before it, so that no row can change, move or go unnoticed. */
export interface AuditStore {
  /** Resolves when the row is durable. Rejects with UNAVAILABLE. */
  append(entry: AuditEntry): Promise<void>;
  /** As with calls; `tool` compares with the subject, `outcome` with the kind. */
  list(filter?: CallFilter): Promise<readonly AuditRow[]>;
  verify(): Promise<Verification>;
}

export interface AuditEntry {
  /** What happened, in one word: granted, revoked, blocked, approved, registered, unregistered, changed … */
  readonly kind: string;
  /** What it happened to: a tool, a toolkit, a server, a section of the config. */
  readonly subject: string;
  readonly caller: string;
  readonly reason: string;
  readonly details?: Json | undefined;
}

export interface AuditRow extends Required<AuditEntry> {
  readonly seq: number;
  readonly at: number;
  readonly hash: string;
}

export interface Verification {
  readonly rows: number;
  /** Hash of the last row: kept elsewhere, it proves that nobody wrote the chain anew. */
  readonly head: string | null;
  readonly broken?: { readonly seq: number; readonly reason: string };
}

/** Documents by key. */
export interface Shelf {
  /** Resolves when it is durable. */
  put(key: string, value: Json, options?: { readonly ttlMs?: number }): Promise<void>;
  /** The same for what is a text of JSON already. */
  putText(key: string, text: string, options?: { readonly ttlMs?: number }): Promise<void>;
  /** Undefined when there is none, or its time is over. */
  find(key: string): Promise<Json | undefined>;
  /** Sorted by key; with `prefix`, those whose key begins with it. */
  list(prefix?: string): Promise<readonly { readonly key: string; readonly value: Json }[]>;
  remove(key: string): Promise<void>;
}

export interface Statistics {
  /** What calls were counted by. */
  readonly by: "hour" | "day";
  /** Where the first span begins and the last one ends, in milliseconds since 1970; null when there is nothing. */
  readonly from: number | null;
  readonly to: number | null;
  readonly total: Figures;
  /** Busiest first. */
  readonly toolkits: readonly (Figures & { readonly toolkit: string })[];
  readonly tools: readonly (Figures & { readonly toolkit: string; readonly tool: string })[];
}

export interface Figures {
  readonly calls: number;
  /** Calls that went wrong, timeouts among them. One that its caller withdrew did not: it is in `cancelled`. */
  readonly errors: number;
  readonly cancelled: number;
  readonly timeouts: number;
  /** 0 to 1. */
  readonly errorRate: number;
  /** Within 5 %. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Calls over the time counted, in equal parts. */
  readonly trend: readonly number[];
}

export interface Pruned {
  readonly calls: number;
  readonly audit: number;
}

/** What is kept, and for how long. */
export interface Retention {
  /** Calls. Default 30 days. */
  readonly keepDays: number;
  /** The audit and the statistics. Default 365 days. */
  readonly auditKeepDays: number;
  /** The whole file; past it the oldest calls go first. Default 512 MB. */
  readonly sizeMbMax: number;
}

export const defaultRetention: Retention = { keepDays: 30, auditKeepDays: 365, sizeMbMax: 512 };
