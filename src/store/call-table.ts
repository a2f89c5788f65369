import {
  callColumns,
  endedColumns,
  endOfCall,
  listLimit,
  type PackedValue,
  packedLength,
  packedPlace,
  unpackCall,
} from "./call-row.ts";
import { callConditions } from "./conditions.ts";
import { readCall, readSpans, spanColumns, spanValues, tallyRows } from "./read-rows.ts";
import type { Database } from "./sqlite.ts";
import { sumStatistics } from "./statistics.ts";
import type { CallFilter, KeptCall, Statistics } from "./store.ts";
import { type Span, type SpanTallies, spanMs, spanSince } from "./tally.ts";

/**
 * The calls, and the spans they are counted in. Everything here happens inside a transaction of the writer.
 * Counting follows behind: `counted` is the last row that was, whoever wrote it, so that a crash loses no count, several
 * processes count nothing twice, and a busy one touches a tool's span once for thousands of its calls.
 */
export interface CallTable {
  add(values: readonly PackedValue[]): void;
  begin(values: readonly PackedValue[]): void;
  /** Counts what came since the last time, where that is enough to be worth it. */
  count(): void;
  /** The transaction went through, or did not. */
  settled(isDone: boolean): void;
  list(filter: CallFilter): readonly KeptCall[];
  statistics(since: number, now: number): Statistics;
  /** Removes up to `limit` of the oldest, or of those before a time. Counts them first. */
  prune(limit: number, before?: number): number;
  pruneSpans(span: Span, before: number): void;
}

/** SQLite adds up thousands of rows in the time it takes to hand us a few. */
const sums = `SELECT at - at % ${spanMs.hour} AS hour, toolkit, tool, bucket, count(*) AS calls, total(outcome <> 'ok' AND code IS NOT 'CANCELLED') AS errors,
  total(code = 'CANCELLED') AS cancelled, total(code = 'TIMEOUT') AS timeouts, total(bytes_in) AS bytes_in, total(bytes_out) AS bytes_out, total(ms) AS ms FROM calls`;
const groups = "GROUP BY hour, toolkit, tool, bucket";

const countEvery = 5_000;
/** Rows of one statement: beginning and ending a statement costs as much as two more rows in it. */
const rowsAtOnce = 16;
/** What a row takes in a statement. */
const width = packedLength + 1;

export function createCallTable(database: Database): CallTable {
  const insert = database.prepare(insertOf(1));
  const insertMany = database.prepare(insertOf(rowsAtOnce));
  const finish = database.prepare(
    `UPDATE calls SET ${endedColumns.map((name) => `${name} = ?`).join(", ")} WHERE seq = ?`,
  );
  const findCounted = database.prepare("SELECT seq FROM counted");
  const putCounted = database.prepare("UPDATE counted SET seq = ?");
  const lastSeq = database.prepare("SELECT max(seq) AS seq FROM calls");
  const uncounted = database.prepare(`${sums} WHERE seq > ? AND outcome <> 'running' ${groups}`);
  const oneCall = database.prepare(`${sums} WHERE seq = ? ${groups}`);
  const findSpan = database.prepare(
    "SELECT * FROM spans WHERE span = ? AND start = ? AND tool = ?",
  );
  const putSpan = database.prepare(
    `INSERT OR REPLACE INTO spans (${spanColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  /** Where rows are that a second one will finish. */
  const begun = new Map<string, number>();
  /** Of those, what the transaction of now has begun and finished. */
  const began: string[] = [];
  const finished: string[] = [];
  let added = 0;

  /** Many at a time, and what is left one by one. */
  function putAll(rows: readonly PackedValue[]): void {
    let at = 0;
    for (; at + rowsAtOnce * width <= rows.length; at += rowsAtOnce * width)
      insertMany.run(...rows.slice(at, at + rowsAtOnce * width));
    for (; at < rows.length; at += width) insert.run(...rows.slice(at, at + width));
  }

  function end(seq: number, values: readonly PackedValue[], at: number): void {
    finish.run(...endOfCall(values, at), seq);
    finished.push(values[at] as string);
    // It was passed over while it ran.
    if (seq <= countedSeq()) mergeAll(tallyRows(oneCall.all(seq)));
  }

  function countedSeq(): number {
    return Number(findCounted.get()?.seq ?? 0);
  }

  function countAll(): void {
    const last = Number(lastSeq.get()?.seq ?? 0);
    mergeAll(tallyRows(uncounted.iterate(countedSeq())));
    putCounted.run(Math.max(last, countedSeq()));
    added = 0;
  }

  function mergeAll(tallies: SpanTallies): void {
    for (const span of tallies.all())
      putSpan.run(...spanValues(span, findSpan.get(span.span, span.start, span.tool)));
  }

  return {
    add(values) {
      const rows: PackedValue[] = [];
      for (let at = 0; at < values.length; at += packedLength) {
        const seq = begun.size === 0 ? undefined : begun.get(values[at + packedPlace.id] as string);
        if (seq === undefined) unpackCall(values, at, rows);
        else end(seq, values, at);
        added++;
      }
      putAll(rows);
    },
    begin(values) {
      const id = values[packedPlace.id] as string;
      const row: PackedValue[] = [];
      unpackCall(values, 0, row);
      begun.set(id, Number(insert.run(...row).lastInsertRowid));
      began.push(id);
    },
    count() {
      if (added >= countEvery) countAll();
    },
    settled(isDone) {
      for (const id of isDone ? finished : began) begun.delete(id);
      began.length = 0;
      finished.length = 0;
    },
    list(filter) {
      const { where, values } = callConditions(filter);
      const order = filter.after === undefined ? "DESC" : "ASC";
      const rows = database
        .prepare(`SELECT seq, ${callColumns} FROM calls ${where} ORDER BY seq ${order} LIMIT ?`)
        .all(...values, filter.limit ?? listLimit);
      return (order === "ASC" ? [...rows] : [...rows].reverse()).map(readCall);
    },
    statistics(since, now) {
      const by = spanSince(since, now);
      const from = since - (since % spanMs[by]);
      const spans = database
        .prepare("SELECT * FROM spans WHERE span = ? AND start >= ?")
        .iterate(by, from);
      const rest = [...tallyRows(uncounted.iterate(countedSeq())).all()].filter(
        ({ span, start }) => span === by && start >= from,
      );
      return sumStatistics(join(readSpans(spans), rest), by);
    },
    prune(limit, before) {
      const oldest =
        before === undefined
          ? "SELECT seq FROM calls ORDER BY seq LIMIT ?"
          : "SELECT seq FROM calls WHERE at < ? ORDER BY at LIMIT ?";
      countAll();
      const removed = database
        .prepare(`DELETE FROM calls WHERE seq IN (${oldest})`)
        .run(...(before === undefined ? [] : [before]), limit);
      return Number(removed.changes);
    },
    pruneSpans(span, before) {
      database.prepare("DELETE FROM spans WHERE span = ? AND start < ?").run(span, before);
    },
  };
}

function insertOf(rows: number): string {
  const row = `(${new Array(width).fill("?").join(", ")})`;
  return `INSERT INTO calls (${callColumns}) VALUES ${new Array(rows).fill(row).join(", ")}`;
}

function* join<T>(first: Iterable<T>, second: Iterable<T>): Generator<T> {
  yield* first;
  yield* second;
}
