import type { Waiting } from "../archive.ts";
import {
  callColumns,
  endedColumns,
  endOfCall,
  listLimit,
  type PackedValue,
  packedLength,
  packedPlace,
  unpackCall,
} from "../call-row.ts";
import { callConditions } from "../conditions.ts";
import { readCall, readSpans, spanColumns, spanValues, tallyRows } from "../read-rows.ts";
import type { SqlRow } from "../sqlite.ts";
import { sumStatistics } from "../statistics.ts";
import type { CallFilter, KeptCall, Statistics } from "../store.ts";
import { type CountedSpan, type Span, type SpanTallies, spanMs, spanSince } from "../tally.ts";
import { columnsOf, insertRows, storableText, unnest } from "./columns.ts";
import type { Query } from "./connection.ts";

/**
 * The calls and the spans they are counted in, as in a file (`store/call-table.ts`), a batch of rows to a statement. Whoever
 * writes has kept all others out, so that rows are numbered in the order they become visible, and `counted` passes over none.
 */
export interface CallTable {
  /** What has begun is remembered once `settle` is called: when the transaction is through. */
  write(query: Query, batch: readonly Waiting[]): Promise<{ settle(): void }>;
  list(query: Query, filter: CallFilter): Promise<readonly KeptCall[]>;
  statistics(query: Query, since: number, now: number): Promise<Statistics>;
  /** Removes up to `limit` of those before a time, or up to a row. Counts them first. */
  prune(
    query: Query,
    limit: number,
    until: { readonly before: number } | { readonly seq: number },
  ): Promise<number>;
  pruneSpans(query: Query, span: Span, before: number): Promise<void>;
}

const columnTypes = {
  seq: "bigint",
  at: "bigint",
  ms: "double precision",
  bytes_in: "bigint",
  bytes_out: "bigint",
  bucket: "integer",
  start: "bigint",
  calls: "bigint",
  errors: "bigint",
  cancelled: "bigint",
  timeouts: "bigint",
  histogram: "bytea",
} as Readonly<Record<string, string>>;
const typesOf = (columns: readonly string[]): string[] =>
  columns.map((column) => columnTypes[column] ?? "text");

const columnList = callColumns.split(", ");
const inserted = { columns: callColumns, types: typesOf(columnList) };
const endPlaces = endedColumns.map((column) => columnList.indexOf(column));
const updatedColumns = ["seq", ...endedColumns];
const spanColumnList = spanColumns.split(", ");
const spanKeyColumns = ["span", "start", "tool"];

const sums = `SELECT at - at % ${spanMs.hour} AS hour, toolkit, tool, bucket, count(*) AS calls, count(*) FILTER (WHERE outcome <> 'ok' AND code IS DISTINCT FROM 'CANCELLED') AS errors,
  count(*) FILTER (WHERE code = 'CANCELLED') AS cancelled,
  count(*) FILTER (WHERE code = 'TIMEOUT') AS timeouts, sum(bytes_in)::bigint AS bytes_in, sum(bytes_out)::bigint AS bytes_out, sum(ms) AS ms FROM calls`;
const groups = "GROUP BY hour, toolkit, tool, bucket";

const countEvery = 5_000;

export function createCallTable(): CallTable {
  /** Where rows are that a second one will finish. */
  const begun = new Map<string, number>();
  let uncounted = 0;

  async function write(query: Query, batch: readonly Waiting[]): Promise<{ settle(): void }> {
    const { rows, opened, ends } = sort(batch, begun);
    const more = opened.size === 0 ? "" : "RETURNING seq, id";
    const given = await insertRows(query, "calls", { ...inserted, rows, more });
    const started = given.filter(({ id }) => opened.has(String(id)));
    if (ends.size > 0) await endAll(query, ends);
    const added = uncounted + rows.length;
    if (added >= countEvery) await countAll(query);
    return {
      settle() {
        for (const { id, seq } of started) begun.set(String(id), Number(seq));
        for (const id of ends.keys()) begun.delete(id);
        uncounted = added >= countEvery ? 0 : added;
      },
    };
  }

  async function endAll(query: Query, ends: ReadonlyMap<string, PackedValue[]>): Promise<void> {
    const rows = [...ends].map(([id, end]) => [begun.get(id) ?? 0, ...end]);
    const given = { columns: updatedColumns.join(", "), types: typesOf(updatedColumns), rows };
    const changes = endedColumns.map((column) => `${column} = given.${column}`).join(", ");
    await query(
      `UPDATE calls SET ${changes} FROM ${unnest(given)} WHERE calls.seq = given.seq`,
      columnsOf(given),
    );
    const last = await countedSeq(query);
    const passed = rows.map(([seq]) => Number(seq)).filter((seq) => seq <= last);
    // They were passed over while they ran.
    if (passed.length > 0)
      await mergeAll(
        query,
        tallyRows(await query(`${sums} WHERE seq = ANY (?) ${groups}`, [passed])),
      );
  }

  return {
    write,
    async list(query, filter) {
      const { where, values } = callConditions(filter);
      const order = filter.after === undefined ? "DESC" : "ASC";
      const found = await query(
        `SELECT seq, ${callColumns} FROM calls ${where} ORDER BY seq ${order} LIMIT ?`,
        [...values, filter.limit ?? listLimit] as never,
      );
      return (order === "ASC" ? [...found] : [...found].reverse()).map(readCall);
    },
    async statistics(query, since, now) {
      const by = spanSince(since, now);
      const from = since - (since % spanMs[by]);
      const spans = await query("SELECT * FROM spans WHERE span = ? AND start >= ?", [by, from]);
      const rest = [...(await tallyUncounted(query)).all()].filter(
        ({ span, start }) => span === by && start >= from,
      );
      return sumStatistics([...readSpans(spans), ...rest], by);
    },
    async prune(query, limit, until) {
      await countAll(query);
      const [oldest, value] =
        "seq" in until
          ? ["SELECT seq FROM calls WHERE seq <= ? ORDER BY seq LIMIT ?", until.seq]
          : ["SELECT seq FROM calls WHERE at < ? ORDER BY at LIMIT ?", until.before];
      const [gone] = await query(
        `WITH gone AS (DELETE FROM calls WHERE seq IN (${oldest}) RETURNING 1) SELECT count(*) AS calls FROM gone`,
        [value, limit],
      );
      return Number(gone?.calls ?? 0);
    },
    async pruneSpans(query, span, before) {
      await query("DELETE FROM spans WHERE span = ? AND start < ?", [span, before]);
    },
  };
}

interface Sorted {
  /** To be inserted, as they are written. */
  readonly rows: PackedValue[][];
  /** Ids of those that will be finished by a second row. */
  readonly opened: ReadonlyMap<string, PackedValue[]>;
  /** How calls ended that began in an earlier transaction, by id. */
  readonly ends: ReadonlyMap<string, PackedValue[]>;
}

function sort(batch: readonly Waiting[], begun: ReadonlyMap<string, number>): Sorted {
  const rows: PackedValue[][] = [];
  const opened = new Map<string, PackedValue[]>();
  const ends = new Map<string, PackedValue[]>();
  function add(values: readonly PackedValue[], at: number): void {
    const id = idOf(values, at);
    const same = opened.get(id);
    if (same) {
      for (const [index, value] of endOfCall(values, at).entries())
        same[endPlaces[index] ?? 0] = value;
      opened.delete(id);
    } else if (begun.has(id)) ends.set(id, endOfCall(values, at));
    else rows.push(unpacked(values, at));
  }
  for (const item of batch) {
    if (item.kind === "calls")
      for (let at = 0; at < item.values.length; at += packedLength) add(item.values, at);
    else if (item.write.what === "begin") {
      const row = unpacked(item.write.values, 0);
      rows.push(row);
      opened.set(idOf(item.write.values, 0), row);
    }
  }
  return { rows, opened, ends };
}

function unpacked(values: readonly PackedValue[], at: number): PackedValue[] {
  const row: PackedValue[] = [];
  unpackCall(values, at, row);
  return row;
}

function idOf(values: readonly PackedValue[], at: number): string {
  return storableText(values[at + packedPlace.id] as string);
}

async function countedSeq(query: Query): Promise<number> {
  return Number((await query("SELECT seq FROM counted"))[0]?.seq ?? 0);
}

async function tallyUncounted(query: Query): Promise<SpanTallies> {
  return tallyRows(
    await query(`${sums} WHERE seq > (SELECT seq FROM counted) AND outcome <> 'running' ${groups}`),
  );
}

async function countAll(query: Query): Promise<void> {
  await mergeAll(query, await tallyUncounted(query));
  await query("UPDATE counted SET seq = greatest(seq, (SELECT max(seq) FROM calls))");
}

async function mergeAll(query: Query, tallies: SpanTallies): Promise<void> {
  const spans = [...tallies.all()];
  if (spans.length === 0) return;
  const keys = {
    columns: spanKeyColumns.join(", "),
    types: typesOf(spanKeyColumns),
    rows: spans.map(({ span, start, tool }) => [span, start, tool]),
  };
  const before = new Map<string, SqlRow>();
  for (const row of await query(
    `SELECT spans.* FROM spans JOIN ${unnest(keys)} USING (span, start, tool)`,
    columnsOf(keys),
  ))
    before.set(keyOf(row), row);
  const changes = spanColumnList
    .filter((column) => !spanKeyColumns.includes(column))
    .map((column) => `${column} = excluded.${column}`);
  await insertRows(query, "spans", {
    columns: spanColumns,
    types: typesOf(spanColumnList),
    rows: spans.map((span) => spanValues(span, before.get(keyOf(span)))),
    more: `ON CONFLICT (span, start, tool) DO UPDATE SET ${changes.join(", ")}`,
  });
}

function keyOf({
  span,
  start,
  tool,
}: Pick<CountedSpan, "span" | "start" | "tool"> | SqlRow): string {
  return `${span} ${start} ${tool}`;
}
