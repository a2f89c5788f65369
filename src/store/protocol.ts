import type { ErrorCode } from "../base/errors.ts";
import type { PackedValue } from "./call-row.ts";
import type { ShelfName } from "./document-table.ts";
import type { AuditEntry, CallFilter, Retention } from "./store.ts";

/** What the hall's thread and the writer's say to each other. */
export type ToWriter =
  | { readonly kind: "calls"; readonly batch: number; readonly values: readonly PackedValue[] }
  | {
      readonly kind: "write";
      readonly id: number;
      readonly write: Write;
      readonly giveUpAt: number;
    }
  | { readonly kind: "read"; readonly id: number; readonly read: Read }
  | { readonly kind: "close" };

export type Write =
  | { readonly what: "begin"; readonly values: readonly PackedValue[] }
  | { readonly what: "append"; readonly entry: AuditEntry; readonly at: number }
  | {
      readonly what: "put";
      readonly shelf: ShelfName;
      readonly key: string;
      readonly body: string;
      readonly expiresAt: number | null;
    }
  | { readonly what: "remove"; readonly shelf: ShelfName; readonly key: string }
  /** Nothing of its own: confirmed when everything before it is. */
  | { readonly what: "flush" };

export type Read =
  | { readonly what: "calls"; readonly filter: CallFilter }
  | { readonly what: "audit"; readonly filter: CallFilter }
  | { readonly what: "verify" }
  | { readonly what: "statistics"; readonly since: number }
  | { readonly what: "find"; readonly shelf: ShelfName; readonly key: string }
  | { readonly what: "documents"; readonly shelf: ShelfName; readonly prefix: string }
  | { readonly what: "prune"; readonly now: number };

export type FromWriter =
  /** Every batch up to this one is durable. */
  | { readonly kind: "kept"; readonly batch: number }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | {
      readonly kind: "refused";
      readonly id: number;
      readonly code: ErrorCode;
      readonly message: string;
    }
  /** Null when it is over. */
  | { readonly kind: "problem"; readonly message: string | null }
  | { readonly kind: "notice"; readonly message: string }
  | { readonly kind: "closed" };

/** Where rows go: a file, or the URL of a database. */
export type Place = { readonly path: string } | { readonly url: string };

export interface WriterOptions {
  readonly place: Place;
  readonly retention: Retention;
  /** A file that cannot be read is left where it is. */
  readonly isReader?: boolean;
}
