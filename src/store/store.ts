import type { ErrorCode } from "../base/errors.ts";
import type { Json } from "../base/json.ts";

/**
 * Everything a hall records: calls, audit, registrations, discoveries, runs and retries. Kept in
 * memory, in a SQLite file or in a PostgreSQL database; `test/store/contract.ts` tests all three.
 * The promise of a write resolves when the row is durable, so that it survives a crash.
 */
export interface Store {
  readonly calls: CallStore;
  readonly audit: AuditStore;
  readonly registrations: DocumentStore;
  readonly discoveries: DocumentStore;
  readonly runs: DocumentStore;
  /** By the id of the client's call. */
  readonly retries: DocumentStore;
  /**
   * `since` is rounded down to the hour, or to the day if it is more than three days ago. Default: everything.
   * Figures of people are counted from the calls that are still kept.
   */
  statistics(since?: number, person?: string): Promise<Statistics>;
  /**
   * The calls since then, hour by hour or day by day: of one tool, of one toolkit or of all.
   * Rounded like `statistics`.
   */
  series(since: number, of?: string): Promise<Series>;
  /** Applies the retention limits. A store also does this by itself. */
  prune(): Promise<Pruned>;
  /** Resolves when everything added so far is durable. Rejects with UNAVAILABLE when it cannot be written. */
  flush(): Promise<void>;
  /** True while the writer cannot keep up: clients should not be read until it is false again. */
  readonly isFull: boolean;
  onFull(listener: (isFull: boolean) => void): () => void;
  state(): StoreState;
  /** Writes what is pending, then closes. Idempotent. */
  close(): Promise<void>;
}

export interface StoreState {
  readonly kind: "memory" | "sqlite" | "postgresql";
  readonly path?: string;
  /** Without its password. */
  readonly url?: string;
  /** Why the store cannot be written. Calls continue, except those that must be recorded first. */
  readonly problem: string | undefined;
  /** Rows that are not durable yet. */
  readonly waiting: number;
  /** Rows that were dropped while the writer failed. Recorded in the audit once it works again. */
  readonly lost: number;
}

export interface CallStore {
  /**
   * Returns at once; the row is durable within a tenth of a second. It replaces the row that `begin` wrote for the same
   * id. A function is called soon, and before anything is read: describing a call need not delay its answer.
   */
  add(row: CallRow | (() => CallRow)): void;
  /** For calls that must be recorded before they run: resolves when the row is durable. Rejects with UNAVAILABLE. */
  begin(row: CallRow): Promise<void>;
  /** The newest `limit` (default 100), oldest first; with `after`, the first ones after that row. */
  list(filter?: CallFilter): Promise<readonly KeptCall[]>;
}

/** `lost`: its process ended before it did, so nobody knows whether it did its work. Set when a hall starts. */
export type CallOutcome = "running" | "ok" | "error" | "failed" | "lost";

export interface CallRow {
  readonly id: string;
  readonly parent: string | null;
  /** The client's call that this one is part of; for the client's call itself, its own id. */
  readonly root: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The name the client gave. */
  readonly caller: string;
  readonly connection: string;
  /** The user behind a token, and which token: see `Person`. Null for the hall's own user. */
  readonly person: string | null;
  readonly token: string | null;
  readonly face: string | null;
  /** Null if no tool has the name. */
  readonly toolkit: string | null;
  /** The full name; for an unknown tool, the name the caller used. */
  readonly tool: string;
  /** As JSON. Only a digest of it is stored, unless `kept` is set. */
  readonly arguments: string;
  /** `error`: the tool reported an error. `failed`: the call failed with `code`. */
  readonly outcome: CallOutcome;
  readonly code: ErrorCode | null;
  readonly ms: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly planner: string | null;
  /** Complete arguments and result as JSON, without secrets; set if `store.record` is "full". */
  readonly kept?: { readonly arguments: string; readonly result: string | null } | undefined;
}

export interface KeptCall extends Omit<CallRow, "arguments" | "kept"> {
  /** The number of the row. */
  readonly seq: number;
  /** SHA-256 of the arguments with sorted keys; null if they were not JSON. */
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
  /** The user behind the calls; in the audit, the caller. */
  readonly person?: string | undefined;
  /** Only of calls: this one and those inside it. */
  readonly root?: string | undefined;
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

/** The default of `CallFilter.limit`. */
export const listLimit = 100;

/**
 * Append-only: each hash covers the row and the hash before it, so that changed, moved and missing
 * rows are detected.
 */
export interface AuditStore {
  /** Resolves when the row is durable. Rejects with UNAVAILABLE. */
  append(entry: AuditEntry): Promise<void>;
  /** Filtered like calls: `tool` is compared with the subject, `outcome` with the kind. */
  list(filter?: CallFilter): Promise<readonly AuditRow[]>;
  /** Rejects with UNAVAILABLE if the store was removed, replaced, emptied or set back since it was written. */
  check(): Promise<void>;
  verify(): Promise<Verification>;
  /** After that: begins a new audit with this row. False if the store is as it was written. */
  accept(entry: AuditEntry): Promise<boolean>;
}

export interface AuditEntry {
  /** One word: granted, revoked, blocked, approved, registered, unregistered, changed … */
  readonly kind: string;
  /** A tool, a toolkit, a server or a section of the config. */
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
  /** Hash of the last row. A copy kept elsewhere shows if the whole chain was rewritten. */
  readonly head: string | null;
  readonly broken?: { readonly seq: number; readonly reason: string };
}

/** JSON documents by key. */
export interface DocumentStore {
  /** Resolves when it is durable. */
  put(key: string, value: Json, options?: { readonly ttlMs?: number }): Promise<void>;
  /** The same for a value that is already JSON text. */
  putText(key: string, text: string, options?: { readonly ttlMs?: number }): Promise<void>;
  /** Undefined if there is none or it has expired. */
  find(key: string): Promise<Json | undefined>;
  /** Those whose key begins with `prefix`, sorted by key. */
  list(prefix?: string): Promise<readonly StoredDocument[]>;
  remove(key: string): Promise<void>;
}

export interface StoredDocument {
  readonly key: string;
  readonly value: Json;
}

export interface Statistics {
  /** The calls are counted in periods of this length. */
  readonly by: "hour" | "day";
  /**
   * Start of the first period and end of the last one, in milliseconds since 1970; null if there
   * are no calls.
   */
  readonly from: number | null;
  readonly to: number | null;
  readonly total: Figures;
  /** Busiest first. */
  readonly toolkits: readonly (Figures & { readonly toolkit: string })[];
  readonly tools: readonly (Figures & { readonly toolkit: string; readonly tool: string })[];
  /** Callers with a token; absent if there were none. */
  readonly people?: readonly (Figures & { readonly person: string })[] | undefined;
}

export interface Series {
  readonly by: "hour" | "day";
  /** Oldest first; periods without calls are left out. */
  readonly periods: readonly (Omit<Figures, "trend"> & { readonly start: number })[];
}

/** Unknown tools are counted together, because callers can invent any number of names. */
export const unknownName = "(unknown)";

export interface Figures {
  readonly calls: number;
  /** Includes timeouts. Calls that the caller cancelled are counted in `cancelled` instead. */
  readonly errors: number;
  readonly cancelled: number;
  readonly timeouts: number;
  /** 0 to 1. */
  readonly errorRate: number;
  /** Percentiles are within 5 % of the true value. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Calls over time, in equal parts. */
  readonly trend: readonly number[];
}

export interface Pruned {
  readonly calls: number;
  readonly audit: number;
}

export interface Retention {
  /** Calls. Default 30 days. */
  readonly keepDays: number;
  /** The audit and the statistics. Default 365 days. */
  readonly auditKeepDays: number;
  /** Limit for the whole store; beyond it the oldest calls are removed. Default 512 MB. */
  readonly sizeMbMax: number;
}

export const defaultRetention: Retention = { keepDays: 30, auditKeepDays: 365, sizeMbMax: 512 };
