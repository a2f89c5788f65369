import { hashOf, type Json } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { bucketOf } from "./periods.ts";
import type { AuditEntry, CallRow } from "./store.ts";

/** Removes secrets from the parts of a row that come from outside. Names that the hall assigned are left alone. */
export interface Scrub {
  call(row: CallRow): CallRow;
  entry(entry: AuditEntry): AuditEntry;
}

const cachedMax = 1_000;

export function createScrub(secrets: Secrets | undefined): Scrub {
  if (!secrets) return { call: (row) => row, entry: (entry) => entry };
  let cached = new Map<string, string>();
  let revision = -1;

  /** Cached, because a few clients make all the calls. */
  function name(text: string): string {
    if (secrets?.revision !== revision || cached.size > cachedMax) {
      cached = new Map();
      revision = secrets?.revision ?? 0;
    }
    let clean = cached.get(text);
    if (clean === undefined) {
      clean = secrets?.scrub(text) ?? text;
      cached.set(text, clean);
    }
    return clean;
  }

  return {
    call(row) {
      const { kept } = row;
      const caller = name(row.caller);
      if (caller === row.caller && row.toolkit !== null && !kept) return row;
      return {
        ...row,
        caller,
        tool: row.toolkit === null ? secrets.scrub(row.tool) : row.tool,
        kept: kept && {
          arguments: secrets.scrub(kept.arguments),
          result: kept.result === null ? null : secrets.scrub(kept.result),
        },
      };
    },
    entry({ kind, subject, caller, reason, details = null }) {
      const clean = (text: string): string => secrets.scrub(text);
      return {
        kind,
        subject: clean(subject),
        caller: clean(caller),
        reason: clean(reason),
        details: JSON.parse(clean(JSON.stringify(details))) as Json,
      };
    },
  };
}

/** A call on its way to the writer: its values in one flat array are the cheapest thing to send to another thread. */
export type PackedValue = string | number | null;

/** In the order of `packCall`, then the bucket of the duration. */
export const callColumns: readonly string[] =
  "id parent root at caller connection face toolkit tool digest outcome code ms bytes_in bytes_out planner arguments result bucket".split(
    " ",
  );

export const packedLength = callColumns.length - 1;

export function packCall(row: CallRow, into: PackedValue[]): void {
  const { kept } = row;
  into.push(
    row.id,
    row.parent,
    row.root,
    row.at,
    row.caller,
    row.connection,
    row.face,
    row.toolkit,
    row.tool,
    row.arguments,
    row.outcome,
    row.code,
    row.ms,
    row.bytesIn,
    row.bytesOut,
    row.planner,
    kept ? kept.arguments : null,
    kept ? kept.result : null,
  );
}

const digestIndex = callColumns.indexOf("digest");
const msIndex = callColumns.indexOf("ms");

/** The row of a packed call: the digest replaces its arguments, and the bucket of its duration is added. */
export function unpackCall(values: readonly PackedValue[], at: number): PackedValue[] {
  const row = values.slice(at, at + packedLength);
  row[digestIndex] = digestArguments(row[digestIndex] as string);
  row.push(bucketOf(row[msIndex] as number));
  return row;
}

/** Null if the arguments are not JSON; such a call never ran. */
export function digestArguments(text: string): string | null {
  try {
    return hashOf(JSON.parse(text));
  } catch {
    return null;
  }
}
