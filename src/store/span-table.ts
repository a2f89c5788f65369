import {
  addTally,
  countNames,
  type Histogram,
  type Span,
  SpanTallies,
  type SpanTally,
  spanMs,
  spanSince,
  sumStatistics,
  type Tally,
} from "./spans.ts";
import type { Sql, SqlRow } from "./sql.ts";
import type { Statistics } from "./store.ts";

/**
 * Calls are counted by hour and by day in `spans`, some time after they were written: `counted` holds the last
 * call that is included, whichever process wrote it. So a crash loses no count, several processes count
 * nothing twice, and a tool's span is updated once for thousands of its calls.
 */
const keyColumns = ["span", "start", "tool"];
const countColumns = ["calls", "errors", "cancelled", "timeouts", "bytes_in", "bytes_out", "ms"];
const spanColumns = [...keyColumns, "toolkit", ...countColumns, "histogram"];
const upsertSpans = `INSERT INTO spans (${spanColumns.join(", ")}) {rows}
  ON CONFLICT (span, start, tool) DO UPDATE SET ${spanColumns
    .filter((column) => !keyColumns.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}`;

/** The database sums thousands of rows in the time it takes to hand over a few. */
const sums = `at - at % ${spanMs.hour} AS hour, toolkit, tool, bucket, count(*) AS calls,
  count(*) FILTER (WHERE outcome <> 'ok' AND (code IS NULL OR code <> 'CANCELLED')) AS errors,
  count(*) FILTER (WHERE code = 'CANCELLED') AS cancelled,
  count(*) FILTER (WHERE code = 'TIMEOUT') AS timeouts,
  sum(bytes_in) AS bytes_in, sum(bytes_out) AS bytes_out, sum(ms) AS ms`;
const groups = "GROUP BY hour, toolkit, tool, bucket";
const uncounted = `SELECT ${sums} FROM calls
  WHERE seq > (SELECT seq FROM counted) AND outcome <> 'running' ${groups}`;

/** Counts every call that was added since the last time. */
export async function countCalls(sql: Sql): Promise<void> {
  await mergeSpans(sql, readSums(await sql.query(uncounted)));
  await sql.change(
    `UPDATE counted SET seq = (SELECT max(seq) FROM calls)
     WHERE seq < (SELECT max(seq) FROM calls)`,
  );
}

/** Counts calls that were still running when the count passed them. */
export async function countLateCalls(sql: Sql, seqs: readonly number[]): Promise<void> {
  const [counted] = await sql.query("SELECT seq FROM counted");
  const passed = seqs.filter((seq) => seq <= Number(counted?.seq ?? 0));
  const rows = await sql.withRows(
    ["seq"],
    passed.map((seq) => [seq]),
    `SELECT ${sums} FROM calls WHERE seq IN ({rows}) ${groups}`,
  );
  await mergeSpans(sql, readSums(rows));
}

export async function readStatistics(sql: Sql, since: number, now: number): Promise<Statistics> {
  const by = spanSince(since, now);
  const from = since - (since % spanMs[by]);
  const counted = await sql.query("SELECT * FROM spans WHERE span = ? AND start >= ?", [by, from]);
  const rest = [...readSums(await sql.query(uncounted)).all()].filter(
    ({ span, start }) => span === by && start >= from,
  );
  return sumStatistics([...counted.map(readSpan), ...rest], by);
}

export async function pruneSpans(sql: Sql, span: Span, before: number): Promise<void> {
  await sql.change("DELETE FROM spans WHERE span = ? AND start < ?", [span, before]);
}

/** Adds tallies to the rows of their spans. */
async function mergeSpans(sql: Sql, tallies: SpanTallies): Promise<void> {
  const spans = [...tallies.all()];
  const found = await sql.withRows(
    keyColumns,
    spans.map(({ span, start, tool }) => [span, start, tool]),
    `WITH given (${keyColumns.join(", ")}) AS ({rows})
     SELECT spans.* FROM spans JOIN given USING (${keyColumns.join(", ")})`,
  );
  const before = new Map(found.map((row) => [spanKey(row), row]));

  const rows = spans.map((key) => {
    const { span, start, tool, toolkit, tally } = key;
    const earlier = before.get(spanKey(key));
    if (earlier) addTally(tally, readTally(earlier));
    const counts = countNames.map((name) => tally[name]);
    return [span, start, tool, toolkit, ...counts, encodeHistogram(tally.histogram)];
  });
  await sql.withRows(spanColumns, rows, upsertSpans);
}

function spanKey({ span, start, tool }: Pick<SpanTally, "span" | "start" | "tool"> | SqlRow) {
  return `${span} ${start} ${tool}`;
}

/** Calls that the database has summed by hour, tool and bucket. */
function readSums(rows: readonly SqlRow[]): SpanTallies {
  const tallies = new SpanTallies();
  for (const row of rows) {
    const named = {
      at: Number(row.hour),
      toolkit: row.toolkit as string | null,
      tool: String(row.tool),
    };
    tallies.add(named, readTally(row));
  }
  return tallies;
}

function readSpan(row: SqlRow): SpanTally {
  return {
    span: row.span as Span,
    start: Number(row.start),
    toolkit: String(row.toolkit),
    tool: String(row.tool),
    tally: readTally(row),
  };
}

/** A span has a histogram; calls that were summed have the bucket of their duration. */
function readTally(row: SqlRow): Tally {
  const counts = countNames.map((name, index) => [name, Number(row[countColumns[index] ?? ""])]);
  const histogram: Histogram = row.histogram
    ? decodeHistogram(row.histogram as Uint8Array)
    : new Map([[Number(row.bucket), Number(row.calls)]]);
  return { ...(Object.fromEntries(counts) as Omit<Tally, "histogram">), histogram };
}

const entryBytes = 6;

/** Two bytes for the bucket, four for the count. */
function encodeHistogram(histogram: Histogram): Uint8Array {
  const bytes = Buffer.allocUnsafe(entryBytes * histogram.size);
  let at = 0;
  for (const [bucket, count] of histogram) {
    bytes.writeUInt16BE(bucket, at);
    bytes.writeUInt32BE(count, at + 2);
    at += entryBytes;
  }
  return bytes;
}

function decodeHistogram(bytes: Uint8Array): Histogram {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const histogram: Histogram = new Map();
  for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes)
    histogram.set(view.getUint16(at), view.getUint32(at + 2));
  return histogram;
}
