import { digestArguments, listLimit, type PackedValue, packedLength, unpackCall } from "./call-row.ts";
import { addEncoded, encodeHistogram } from "./histogram.ts";
import type { Database, SqlRow, SqlValue } from "./sqlite.ts";
import { sumStatistics } from "./statistics.ts";
import type { CallFilter, CallRow, KeptCall, Statistics } from "./store.ts";
import { createTally, HourTallies, type HourTally, hourMs, type Tally } from "./tally.ts";

/** The calls and the hours they are counted in. Everything here happens inside a transaction of the writer. */
export interface CallTable {
  add(values: readonly PackedValue[]): void;
  begin(values: readonly PackedValue[]): void;
  /** Writes what was counted since the last time; part of the same transaction as the rows. */
  count(): void;
  /** Forgets what was counted for a transaction that failed. */
  forget(): void;
  list(filter: CallFilter): readonly KeptCall[];
  statistics(since: number): Statistics;
  /** Removes up to `limit` of the oldest, or of those before a time. */
  prune(limit: number, before?: number): number;
  pruneHours(before: number): void;
}

const columns = "id, parent, root, at, caller, connection, face, toolkit, tool, digest, outcome, code, ms, bytes_in, bytes_out, planner, arguments, result";

export function createCallTable(database: Database): CallTable {
  const insert = database.prepare(`INSERT INTO calls (${columns}) VALUES (${new Array(18).fill("?").join(", ")})`);
  const finish = database.prepare(
    "UPDATE calls SET toolkit = ?, tool = ?, outcome = ?, code = ?, ms = ?, bytes_out = ?, planner = ?, arguments = ?, result = ? WHERE seq = ?",
  );
  const findHour = database.prepare("SELECT * FROM hours WHERE hour = ? AND tool = ?");
  const putHour = database.prepare(
    "INSERT OR REPLACE INTO hours (hour, toolkit, tool, calls, errors, timeouts, bytes_in, bytes_out, ms, histogram) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const hours = new HourTallies();
  /** Where rows are that a second one will finish. */
  const begun = new Map<string, number>();
  /** Of those, what the transaction of now has begun and finished. */
  const began: string[] = [];
  const finished: string[] = [];

  function put(row: CallRow): number {
    const { kept } = row;
    const { lastInsertRowid } = insert.run(
      row.id,
      row.parent,
      row.root,
      row.at,
      row.caller,
      row.connection,
      row.face,
      row.toolkit,
      row.tool,
      digestArguments(row.arguments),
      row.outcome,
      row.code,
      row.ms,
      row.bytesIn,
      row.bytesOut,
      row.planner,
      kept?.arguments ?? null,
      kept?.result ?? null,
    );
    return Number(lastInsertRowid);
  }

  function add(row: CallRow): void {
    hours.add(row);
    const seq = begun.get(row.id);
    if (seq === undefined) {
      put(row);
      return;
    }
    const { toolkit, tool, outcome, code, ms, bytesOut, planner, kept } = row;
    finish.run(toolkit, tool, outcome, code, ms, bytesOut, planner, kept?.arguments ?? null, kept?.result ?? null, seq);
    finished.push(row.id);
  }

  function merge({ hour, toolkit, tool, tally }: HourTally): void {
    const before = findHour.get(hour, tool);
    if (before) addEncoded(tally.histogram, before.histogram as Uint8Array);
    const sum = (column: string, value: number): number => value + Number(before?.[column] ?? 0);
    const { calls, errors, timeouts, bytesIn, bytesOut, ms, histogram } = tally;
    putHour.run(
      hour,
      toolkit,
      tool,
      sum("calls", calls),
      sum("errors", errors),
      sum("timeouts", timeouts),
      sum("bytes_in", bytesIn),
      sum("bytes_out", bytesOut),
      sum("ms", ms),
      encodeHistogram(histogram),
    );
  }

  return {
    add(values) {
      for (let at = 0; at < values.length; at += packedLength) add(unpackCall(values, at));
    },
    begin(values) {
      const row = unpackCall(values, 0);
      begun.set(row.id, put(row));
      began.push(row.id);
    },
    count() {
      for (const tally of hours.all()) merge(tally);
      hours.clear();
      for (const id of finished.splice(0)) begun.delete(id);
      began.length = 0;
    },
    forget() {
      hours.clear();
      for (const id of began.splice(0)) begun.delete(id);
      finished.length = 0;
    },
    list(filter) {
      const { where, values } = conditions(filter);
      const order = filter.after === undefined ? "DESC" : "ASC";
      const rows = database.prepare(`SELECT seq, ${columns} FROM calls ${where} ORDER BY seq ${order} LIMIT ?`).all(...values, filter.limit ?? listLimit);
      return (order === "ASC" ? [...rows] : [...rows].reverse()).map(readCall);
    },
    statistics(since) {
      const rows = database.prepare("SELECT * FROM hours WHERE hour >= ?").iterate(Math.floor(since / hourMs));
      return sumStatistics(readHours(rows));
    },
    prune(limit, before) {
      const oldest = before === undefined ? "SELECT seq FROM calls ORDER BY seq LIMIT ?" : "SELECT seq FROM calls WHERE at < ? ORDER BY at LIMIT ?";
      const removed = database.prepare(`DELETE FROM calls WHERE seq IN (${oldest})`).run(...(before === undefined ? [] : [before]), limit);
      return Number(removed.changes);
    },
    pruneHours(before) {
      database.prepare("DELETE FROM hours WHERE hour < ?").run(Math.floor(before / hourMs));
    },
  };
}

function conditions({ since, tool, outcome, after }: CallFilter): { readonly where: string; readonly values: readonly SqlValue[] } {
  const parts: [string, ...SqlValue[]][] = [];
  if (since !== undefined) parts.push(["at >= ?", since]);
  if (tool !== undefined) parts.push(["(tool = ? OR toolkit = ?)", tool, tool]);
  if (outcome !== undefined) parts.push(["(outcome = ? OR code = ?)", outcome, outcome]);
  if (after !== undefined) parts.push(["seq > ?", after]);
  return { where: parts.length === 0 ? "" : `WHERE ${parts.map(([text]) => text).join(" AND ")}`, values: parts.flatMap(([, ...values]) => values) };
}

function readCall({ bytes_in, bytes_out, ...row }: SqlRow): KeptCall {
  return { ...row, bytesIn: bytes_in, bytesOut: bytes_out } as unknown as KeptCall;
}

function* readHours(rows: Iterable<SqlRow>): Generator<HourTally> {
  for (const { hour, toolkit, tool, ...row } of rows) yield { hour: Number(hour), toolkit: String(toolkit), tool: String(tool), tally: readTally(row) };
}

function readTally({ calls, errors, timeouts, bytes_in, bytes_out, ms, histogram }: SqlRow): Tally {
  const tally = createTally();
  addEncoded(tally.histogram, histogram as Uint8Array);
  const sums = {
    calls: Number(calls),
    errors: Number(errors),
    timeouts: Number(timeouts),
    bytesIn: Number(bytes_in),
    bytesOut: Number(bytes_out),
    ms: Number(ms),
  };
  return Object.assign(tally, sums);
}
