import type { ErrorCode } from "../base/errors.ts";
import type { PackedCalls } from "./calls.ts";
import type { Collection } from "./document-table.ts";
import type { AuditEntry, CallFilter, Retention } from "./store.ts";

/** Messages from the hall's thread to the writer's thread. */
export type ToWriter =
  | { readonly kind: "calls"; readonly batch: number; readonly calls: PackedCalls }
  | {
      readonly kind: "write";
      readonly id: number;
      readonly write: Write;
      /** When the caller stops waiting, by `monotonicMs`: the wall clock may be set meanwhile. */
      readonly deadline: number;
    }
  | { readonly kind: "read"; readonly id: number; readonly read: Read }
  | { readonly kind: "close" };

/** Items that wait to be written. */
export type PendingWrite = Extract<ToWriter, { kind: "calls" | "write" }>;

export type Write =
  | { readonly what: "begin"; readonly call: PackedCalls }
  | { readonly what: "append"; readonly entry: AuditEntry; readonly at: number }
  | {
      readonly what: "put";
      readonly collection: Collection;
      readonly key: string;
      readonly body: string;
      readonly expiresAt: number | null;
    }
  | { readonly what: "remove"; readonly collection: Collection; readonly key: string }
  /** Writes nothing; confirmed when everything before it is durable. */
  | { readonly what: "flush" };

export type Read =
  | { readonly what: "calls"; readonly filter: CallFilter }
  | { readonly what: "audit"; readonly filter: CallFilter }
  /** Fails if the store is not the one that was written before. */
  | { readonly what: "check" }
  | { readonly what: "verify" }
  /** Begins a new audit with this row if the store is not the one that was written before. */
  | { readonly what: "accept"; readonly entry: AuditEntry; readonly at: number }
  | { readonly what: "statistics"; readonly since: number; readonly person?: string | undefined }
  | { readonly what: "series"; readonly since: number; readonly of?: string | undefined }
  | { readonly what: "find"; readonly collection: Collection; readonly key: string }
  | { readonly what: "documents"; readonly collection: Collection; readonly prefix: string }
  | { readonly what: "prune"; readonly now: number };

export type FromWriter =
  /** Every batch up to this one is durable. */
  | { readonly kind: "committed"; readonly batch: number }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | {
      readonly kind: "rejected";
      readonly id: number;
      readonly code: ErrorCode;
      readonly message: string;
      /** True if the store is not the one that was written before. */
      readonly isChanged: boolean;
    }
  /** Null when the writer works again. */
  | { readonly kind: "problem"; readonly message: string | null }
  | { readonly kind: "notice"; readonly message: string }
  | { readonly kind: "closed" };

/** A file, or the URL of a database. */
export type StoreLocation = { readonly path: string } | { readonly url: string };

export interface WriterOptions {
  readonly location: StoreLocation;
  readonly retention: Retention;
  /** A damaged file is left in place. */
  readonly isReader: boolean;
  /** The record of this store in the user's data folder. */
  readonly seal: { readonly folder: string; readonly place: string };
}
