import { type StateFile, transact } from "./state-file.ts";
import type { Pruned, Retention } from "./store.ts";
import { hoursKeptMs, spanMs } from "./tally.ts";

/** Rows in one transaction: others want to write as well. By size, fewer: not more should go than must. */
const sliceRows = { byAge: 5_000, bySize: 500 };

export interface PruneOptions {
  readonly retention: Retention;
  readonly now: number;
}

/** Forgets by age, then by size, the oldest calls first. The audit goes by age only, and says so. */
export function pruneStore(
  { database, calls, audit, documents }: StateFile,
  { retention, now }: PruneOptions,
): Pruned {
  const callsBefore = now - retention.keepDays * spanMs.day;
  const auditBefore = now - retention.auditKeepDays * spanMs.day;
  const inSlices = (before?: number): number =>
    transact(database, () =>
      calls.prune(before === undefined ? sliceRows.bySize : sliceRows.byAge, before),
    );
  let removed = 0;
  for (let slice = inSlices(callsBefore); slice > 0; slice = inSlices(callsBefore))
    removed += slice;
  while (sizeOf(database) > retention.sizeMbMax * 1024 * 1024) {
    const slice = inSlices();
    if (slice === 0) break;
    removed += slice;
  }
  const forgotten = transact(database, () => {
    calls.pruneSpans("hour", now - hoursKeptMs - spanMs.hour);
    calls.pruneSpans("day", auditBefore);
    documents.prune(now);
    return audit.prune(auditBefore, now);
  });
  if (removed + forgotten > 0) database.exec("PRAGMA incremental_vacuum");
  return { calls: removed, audit: forgotten };
}

/** Pages in use; those that are free are given back afterwards. */
function sizeOf(database: StateFile["database"]): number {
  const read = (name: string): number =>
    Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  return (read("page_count") - read("freelist_count")) * read("page_size");
}
