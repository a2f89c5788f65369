import type { Json } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
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
