import type { Pruned, Retention } from "../store.ts";
import { hoursKeptMs, spanMs } from "../tally.ts";
import { pruneAudit } from "./audit-table.ts";
import type { CallTable } from "./call-table.ts";
import type { Query } from "./connection.ts";
import { pruneDocuments } from "./document-table.ts";

/** Rows in one transaction: others want to write as well. */
const sliceRows = 5_000;
/** What a row takes beside what is in it: its head, its place in the page and in two indexes. */
const rowBytes = 100;
const megabyte = 1024 * 1024;
/** A writer that has written nothing for so long is none any more. */
const writersKeptMs = spanMs.day;

export interface PruneOptions {
  readonly schema: string;
  readonly calls: CallTable;
  readonly retention: Retention;
  readonly now: number;
  /** A transaction that keeps all others out. */
  transact<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** Forgets by age, then by size, the oldest calls first. The audit goes by age only, and says so. */
export async function pruneDatabase({
  schema,
  calls,
  retention,
  now,
  transact,
}: PruneOptions): Promise<Pruned> {
  const auditBefore = now - retention.auditKeepDays * spanMs.day;
  const inSlices = async (until: Parameters<CallTable["prune"]>[2]): Promise<number> => {
    let removed = 0;
    for (let slice = sliceRows; slice === sliceRows; removed += slice)
      slice = await transact((query) => calls.prune(query, sliceRows, until));
    return removed;
  };
  let removed = await inSlices({ before: now - retention.keepDays * spanMs.day });
  const seq = await transact((query) =>
    findLastTooMuch(query, schema, retention.sizeMbMax * megabyte),
  );
  if (seq !== undefined) removed += await inSlices({ seq });
  const forgotten = await transact(async (query) => {
    await calls.pruneSpans(query, "hour", now - hoursKeptMs - spanMs.hour);
    await calls.pruneSpans(query, "day", auditBefore);
    await pruneDocuments(query, now);
    await query("DELETE FROM writers WHERE at < ?", [now - writersKeptMs]);
    return pruneAudit(query, auditBefore, now);
  });
  return { calls: removed, audit: forgotten };
}

/**
 * The newest call that there is no room for. A table does not shrink when rows go, their room is used again: so a table that is
 * too large says nothing, and its rows are measured.
 */
async function findLastTooMuch(
  query: Query,
  schema: string,
  bytesMax: number,
): Promise<number | undefined> {
  const [sizes] = await query(
    `SELECT sum(pg_total_relation_size(oid))::float8 AS all, (sum(pg_total_relation_size(oid)) FILTER (WHERE relname = 'calls'))::float8 AS calls
     FROM pg_class WHERE relnamespace = to_regnamespace(?) AND relkind = 'r'`,
    [schema],
  );
  if (Number(sizes?.all ?? 0) <= bytesMax) return undefined;
  const room = bytesMax - (Number(sizes?.all) - Number(sizes?.calls));
  const [last] = await query(
    `SELECT max(seq) AS seq FROM (SELECT seq, sum(pg_column_size(calls.*) + ${rowBytes}) OVER (ORDER BY seq DESC) AS bytes FROM calls) AS sized WHERE bytes > ?`,
    [room],
  );
  return last?.seq == null ? undefined : Number(last.seq);
}
