import { digestArguments, listLimit, type PackedValue, packedLength } from "./call-row.ts";
import { addEncoded, bucketOf, encodeHistogram } from "./histogram.ts";
import type { Database, SqlRow, SqlValue } from "./sqlite.ts";
import { sumStatistics } from "./statistics.ts";
import type { CallFilter, KeptCall, Statistics } from "./store.ts";
import { type Counts, type Span, SpanTallies, type SpanTally, spanMs, spanSince } from "./tally.ts";

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

const columns =
  "id, parent, root, at, caller, connection, face, toolkit, tool, digest, outcome, code, ms, bytes_in, bytes_out, planner, arguments, result, bucket";
/** Where the packed row has what is not written as it is, or is asked for by name. */
const place = { id: 0, toolkit: 7, tool: 8, arguments: 9, outcome: 10, code: 11, ms: 12, bytesOut: 14, planner: 15, kept: 16, result: 17 };

const countEvery = 5_000;
/** Rows of one statement: beginning and ending a statement costs as much as two more rows in it. */
const rowsAtOnce = 16;
/** What a row takes in a statement. */
const width = packedLength + 1;

export function createCallTable(database: Database): CallTable {
  const insert = database.prepare(insertOf(1));
  const insertMany = database.prepare(insertOf(rowsAtOnce));
  const finish = database.prepare(
    "UPDATE calls SET toolkit = ?, tool = ?, outcome = ?, code = ?, ms = ?, bytes_out = ?, planner = ?, arguments = ?, result = ?, bucket = ? WHERE seq = ?",
  );
  const findCounted = database.prepare("SELECT seq FROM counted");
  const putCounted = database.prepare("UPDATE counted SET seq = ?");
  const lastSeq = database.prepare("SELECT max(seq) AS seq FROM calls");
  const uncounted = database.prepare(`${sums} WHERE seq > ? AND outcome <> 'running' ${groups}`);
  const oneCall = database.prepare(`${sums} WHERE seq = ? ${groups}`);
  const findSpan = database.prepare("SELECT * FROM spans WHERE span = ? AND start = ? AND tool = ?");
  const putSpan = database.prepare(
    "INSERT OR REPLACE INTO spans (span, start, toolkit, tool, calls, errors, cancelled, timeouts, bytes_in, bytes_out, ms, histogram) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  /** Where rows are that a second one will finish. */
  const begun = new Map<string, number>();
  /** Of those, what the transaction of now has begun and finished. */
  const began: string[] = [];
  const finished: string[] = [];
  let added = 0;

  /** Many at a time, and what is left one by one. */
  function putAll(rows: readonly SqlValue[]): void {
    let at = 0;
    for (; at + rowsAtOnce * width <= rows.length; at += rowsAtOnce * width) insertMany.run(...rows.slice(at, at + rowsAtOnce * width));
    for (; at < rows.length; at += width) insert.run(...rows.slice(at, at + width));
  }

  function end(seq: number, values: readonly PackedValue[], at: number): void {
    const { toolkit, tool, outcome, code, ms, bytesOut, planner, kept, result } = place;
    finish.run(
      ...[toolkit, tool, outcome, code, ms, bytesOut, planner, kept, result].map((index) => values[at + index] ?? null),
      bucketOf(values[at + ms] as number),
      seq,
    );
    finished.push(values[at] as string);
    // It was passed over while it ran.
    if (seq <= countedSeq()) mergeAll(tally(oneCall.all(seq)));
  }

  function countedSeq(): number {
    return Number(findCounted.get()?.seq ?? 0);
  }

  function countAll(): void {
    const last = Number(lastSeq.get()?.seq ?? 0);
    mergeAll(tally(uncounted.iterate(countedSeq())));
    putCounted.run(Math.max(last, countedSeq()));
    added = 0;
  }

  function mergeAll(tallies: SpanTallies): void {
    for (const { span, start, toolkit, tool, tally: part } of tallies.all()) {
      const before = findSpan.get(span, start, tool);
      if (before) addEncoded(part.histogram, before.histogram as Uint8Array);
      const sum = (column: string, value: number): number => value + Number(before?.[column] ?? 0);
      const { calls, errors, cancelled, timeouts, bytesIn, bytesOut, ms, histogram } = part;
      const ends = [sum("calls", calls), sum("errors", errors), sum("cancelled", cancelled), sum("timeouts", timeouts)];
      const sizes = [sum("bytes_in", bytesIn), sum("bytes_out", bytesOut), sum("ms", ms)];
      putSpan.run(span, start, toolkit, tool, ...ends, ...sizes, encodeHistogram(histogram));
    }
  }

  return {
    add(values) {
      const rows: SqlValue[] = [];
      for (let at = 0; at < values.length; at += packedLength) {
        const seq = begun.size === 0 ? undefined : begun.get(values[at + place.id] as string);
        if (seq === undefined) unpack(values, at, rows);
        else end(seq, values, at);
        added++;
      }
      putAll(rows);
    },
    begin(values) {
      const id = values[place.id] as string;
      const row: SqlValue[] = [];
      unpack(values, 0, row);
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
      const { where, values } = conditions(filter);
      const order = filter.after === undefined ? "DESC" : "ASC";
      const rows = database.prepare(`SELECT seq, ${columns} FROM calls ${where} ORDER BY seq ${order} LIMIT ?`).all(...values, filter.limit ?? listLimit);
      return (order === "ASC" ? [...rows] : [...rows].reverse()).map(readCall);
    },
    statistics(since, now) {
      const by = spanSince(since, now);
      const from = since - (since % spanMs[by]);
      const spans = database.prepare("SELECT * FROM spans WHERE span = ? AND start >= ?").iterate(by, from);
      const rest = [...tally(uncounted.iterate(countedSeq())).all()].filter(({ span, start }) => span === by && start >= from);
      return sumStatistics(join(readSpans(spans), rest), by);
    },
    prune(limit, before) {
      const oldest = before === undefined ? "SELECT seq FROM calls ORDER BY seq LIMIT ?" : "SELECT seq FROM calls WHERE at < ? ORDER BY at LIMIT ?";
      countAll();
      const removed = database.prepare(`DELETE FROM calls WHERE seq IN (${oldest})`).run(...(before === undefined ? [] : [before]), limit);
      return Number(removed.changes);
    },
    pruneSpans(span, before) {
      database.prepare("DELETE FROM spans WHERE span = ? AND start < ?").run(span, before);
    },
  };
}

function insertOf(rows: number): string {
  const row = `(${new Array(width).fill("?").join(", ")})`;
  return `INSERT INTO calls (${columns}) VALUES ${new Array(rows).fill(row).join(", ")}`;
}

/** A packed call as the table has it: with the digest of its arguments in their place, and its bucket. */
function unpack(values: readonly PackedValue[], at: number, into: SqlValue[]): void {
  for (let index = 0; index < packedLength; index++) {
    const value = values[at + index] ?? null;
    into.push(index === place.arguments ? digestArguments(value as string) : value);
  }
  into.push(bucketOf(values[at + place.ms] as number));
}

function tally(rows: Iterable<SqlRow>): SpanTallies {
  const tallies = new SpanTallies();
  for (const { hour, toolkit, tool, bucket, ...row } of rows) {
    const counts = readCounts(row);
    const part = { ...counts, histogram: new Map([[Number(bucket), counts.calls]]) };
    tallies.merge({ at: Number(hour), toolkit: toolkit === null ? null : String(toolkit), tool: String(tool) }, part);
  }
  return tallies;
}

function* join<T>(first: Iterable<T>, second: Iterable<T>): Generator<T> {
  yield* first;
  yield* second;
}

function conditions({ since, tool, outcome, after }: CallFilter): { readonly where: string; readonly values: readonly SqlValue[] } {
  const parts: [string, ...SqlValue[]][] = [];
  if (since !== undefined) parts.push(["at >= ?", since]);
  if (tool !== undefined) parts.push(["(tool = ? OR toolkit = ?)", tool, tool]);
  if (outcome !== undefined) parts.push(["(outcome = ? OR code = ?)", outcome, outcome]);
  if (after !== undefined) parts.push(["seq > ?", after]);
  return { where: parts.length === 0 ? "" : `WHERE ${parts.map(([text]) => text).join(" AND ")}`, values: parts.flatMap(([, ...values]) => values) };
}

function readCall({ bytes_in, bytes_out, bucket: _ours, ...row }: SqlRow): KeptCall {
  return { ...row, bytesIn: bytes_in, bytesOut: bytes_out } as unknown as KeptCall;
}

function* readSpans(rows: Iterable<SqlRow>): Generator<SpanTally> {
  for (const { span, start, toolkit, tool, ...row } of rows) {
    yield {
      span: span as Span,
      start: Number(start),
      toolkit: String(toolkit),
      tool: String(tool),
      tally: { ...readCounts(row), histogram: row.histogram as Uint8Array },
    };
  }
}

function readCounts({ calls, errors, cancelled, timeouts, bytes_in, bytes_out, ms }: SqlRow): Counts {
  const ends = { calls: Number(calls), errors: Number(errors), cancelled: Number(cancelled), timeouts: Number(timeouts) };
  return { ...ends, bytesIn: Number(bytes_in), bytesOut: Number(bytes_out), ms: Number(ms) };
}
