import {
  addTally,
  countNames,
  type Histogram,
  isOf,
  listPeople,
  listPeriods,
  type Period,
  PeriodTallies,
  type PeriodTally,
  periodMs,
  periodSince,
  refusedCodes,
  sumStatistics,
  type Tally,
} from "./periods.ts";
import type { Sql, SqlRow } from "./sql.ts";
import type { Series, Statistics } from "./store.ts";

// Calls are counted by hour and by day, some time after they were written. The table `spans` has a
// row per tool and period; `counted` holds the last call that is included, whichever process wrote
// it. So a crash loses no count, several processes count nothing twice, and a tool's row is updated
// once for thousands of its calls.

const keyColumns = ["span", "start", "tool"];
const countColumns = ["calls", "errors", "cancelled", "timeouts", "bytes_in", "bytes_out", "ms"];
const periodColumns = [...keyColumns, "toolkit", ...countColumns, "histogram"];
const upsertPeriods = `INSERT INTO spans (${periodColumns.join(", ")}) {rows}
  ON CONFLICT (span, start, tool) DO UPDATE SET ${periodColumns
    .filter((column) => !keyColumns.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}`;

const noErrors = ["CANCELLED", ...refusedCodes].map((code) => `'${code}'`).join(", ");
/** Summed in the database: it sums thousands of rows in the time it takes to return a few. */
const sums = `at - at % ${periodMs.hour} AS hour, toolkit, tool, bucket, count(*) AS calls,
  count(*) FILTER (WHERE outcome <> 'ok' AND (code IS NULL OR code NOT IN (${noErrors}))) AS errors,
  count(*) FILTER (WHERE code = 'CANCELLED') AS cancelled,
  count(*) FILTER (WHERE code = 'TIMEOUT') AS timeouts,
  sum(bytes_in) AS bytes_in, sum(bytes_out) AS bytes_out, sum(ms) AS ms`;
const groups = "GROUP BY hour, toolkit, tool, bucket";
const uncounted = `SELECT ${sums} FROM calls
  WHERE seq > (SELECT seq FROM counted) AND outcome <> 'running' ${groups}`;

const sumsOfPerson = `SELECT ${sums} FROM calls
  WHERE person = ? AND at >= ? AND outcome <> 'running' ${groups}`;
/** In the place of the tool is the person. */
const sumsOfPeople = `SELECT ${sums.replace("toolkit, tool,", "person AS toolkit, person AS tool,")}
  FROM calls WHERE person IS NOT NULL AND at >= ? AND outcome <> 'running' GROUP BY hour, person, bucket`;

/** Counts every call that was added since the last time. */
export async function countCalls(sql: Sql): Promise<void> {
  await mergePeriods(sql, readSums(await sql.query(uncounted)));
  await sql.change(
    `UPDATE counted SET seq = (SELECT max(seq) FROM calls)
     WHERE seq < (SELECT max(seq) FROM calls)`,
  );
}

/** Counts calls that `countCalls` skipped because they were still running. */
export async function countLateCalls(sql: Sql, seqs: readonly number[]): Promise<void> {
  const [lastCounted] = await sql.query("SELECT seq FROM counted");
  const skippedSeqs = seqs.filter((seq) => seq <= Number(lastCounted?.seq ?? 0));
  const rows = await sql.withRows(
    ["seq"],
    skippedSeqs.map((seq) => [seq]),
    `SELECT ${sums} FROM calls WHERE seq IN ({rows}) ${groups}`,
  );
  await mergePeriods(sql, readSums(rows));
}

export async function readStatistics(
  sql: Sql,
  { since, person }: { readonly since: number; readonly person?: string | undefined },
  now: number,
): Promise<Statistics> {
  const wanted = periodSince(since, now);
  const from = since - (since % periodMs[wanted]);
  if (person !== undefined) {
    const sums = readSums(await sql.query(sumsOfPerson, [person, from]));
    return sumStatistics(ofPeriod(sums, wanted, from), wanted);
  }
  const countedRows = await sql.query("SELECT * FROM spans WHERE span = ? AND start >= ?", [
    wanted,
    from,
  ]);
  const uncountedTallies = ofPeriod(readSums(await sql.query(uncounted)), wanted, from);
  const people = ofPeriod(readSums(await sql.query(sumsOfPeople, [from])), wanted, from);
  return {
    ...sumStatistics([...countedRows.map(readPeriod), ...uncountedTallies], wanted),
    ...listPeople(people, wanted),
  };
}

/** `of` is a tool or a toolkit. */
export async function readSeries(
  sql: Sql,
  { since, of }: { readonly since: number; readonly of?: string | undefined },
  now: number,
): Promise<Series> {
  const wanted = periodSince(since, now);
  const from = since - (since % periodMs[wanted]);
  const condition = of === undefined ? "" : " AND (tool = ? OR toolkit = ?)";
  const countedRows = await sql.query(
    `SELECT * FROM spans WHERE span = ? AND start >= ?${condition}`,
    of === undefined ? [wanted, from] : [wanted, from, of, of],
  );
  const newest = ofPeriod(readSums(await sql.query(uncounted)), wanted, from).filter((tally) =>
    isOf(tally, of),
  );
  return listPeriods([...countedRows.map(readPeriod), ...newest], wanted);
}

function ofPeriod(tallies: PeriodTallies, wanted: Period, from: number): readonly PeriodTally[] {
  return [...tallies.all()].filter(({ period, start }) => period === wanted && start >= from);
}

export async function prunePeriods(sql: Sql, period: Period, before: number): Promise<void> {
  await sql.change("DELETE FROM spans WHERE span = ? AND start < ?", [period, before]);
}

/** Adds tallies to the rows of their periods. */
async function mergePeriods(sql: Sql, tallies: PeriodTallies): Promise<void> {
  const added = [...tallies.all()];
  const storedRows = await sql.withRows(
    keyColumns,
    added.map(({ period, start, tool }) => [period, start, tool]),
    `WITH given (${keyColumns.join(", ")}) AS ({rows})
     SELECT spans.* FROM spans JOIN given USING (${keyColumns.join(", ")})`,
  );
  const storedByKey = new Map(
    storedRows.map(readPeriod).map((stored) => [periodKey(stored), stored.tally]),
  );

  const rows = added.map((addition) => {
    const { period, start, tool, toolkit, tally } = addition;
    const stored = storedByKey.get(periodKey(addition));
    if (stored) addTally(tally, stored);
    const counts = countNames.map((name) => tally[name]);
    return [period, start, tool, toolkit, ...counts, encodeHistogram(tally.histogram)];
  });
  await sql.withRows(periodColumns, rows, upsertPeriods);
}

function periodKey({ period, start, tool }: PeriodTally): string {
  return `${period} ${start} ${tool}`;
}

/** Calls that the database has summed by hour, tool and bucket. */
function readSums(rows: readonly SqlRow[]): PeriodTallies {
  const tallies = new PeriodTallies();
  for (const row of rows) {
    const call = {
      at: Number(row.hour),
      toolkit: row.toolkit as string | null,
      tool: String(row.tool),
    };
    tallies.add(call, readTally(row));
  }
  return tallies;
}

function readPeriod(row: SqlRow): PeriodTally {
  return {
    period: row.span as Period,
    start: Number(row.start),
    toolkit: String(row.toolkit),
    tool: String(row.tool),
    tally: readTally(row),
  };
}

/** Rows of `spans` have a histogram; sums of calls have the bucket of their duration. */
function readTally(row: SqlRow): Tally {
  return {
    calls: Number(row.calls),
    errors: Number(row.errors),
    cancelled: Number(row.cancelled),
    timeouts: Number(row.timeouts),
    bytesIn: Number(row.bytes_in),
    bytesOut: Number(row.bytes_out),
    ms: Number(row.ms),
    histogram: row.histogram
      ? decodeHistogram(row.histogram as Uint8Array)
      : new Map([[Number(row.bucket), Number(row.calls)]]),
  };
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
