import type { Json } from "../base/json.ts";
import { addEncoded, encodeHistogram } from "./histogram.ts";
import type { SqlRow, SqlValue } from "./sqlite.ts";
import type { AuditRow, KeptCall } from "./store.ts";
import { type CountedSpan, type Counts, type Span, SpanTallies, type SpanTally } from "./tally.ts";

/** Rows as a database gives them, whichever it is: the columns have the same names in each. */
export function readCall({ bytes_in, bytes_out, bucket: _ours, ...row }: SqlRow): KeptCall {
  return { ...row, bytesIn: bytes_in, bytesOut: bytes_out } as unknown as KeptCall;
}

export function readAudit(row: SqlRow): AuditRow {
  return { ...row, details: readDetails(String(row.details)) } as unknown as AuditRow;
}

function readDetails(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Somebody changed the row; `verify` names it, and a list still shows what is there.
    return text;
  }
}

/** Calls that the database has added up by hour, tool and bucket. */
export function tallyRows(rows: Iterable<SqlRow>): SpanTallies {
  const tallies = new SpanTallies();
  for (const { hour, toolkit, tool, bucket, ...row } of rows) {
    const counts = readCounts(row);
    const part = { ...counts, histogram: new Map([[Number(bucket), counts.calls]]) };
    tallies.merge(
      { at: Number(hour), toolkit: toolkit === null ? null : String(toolkit), tool: String(tool) },
      part,
    );
  }
  return tallies;
}

export const spanColumns =
  "span, start, toolkit, tool, calls, errors, cancelled, timeouts, bytes_in, bytes_out, ms, histogram";

/** A span as it is written, on top of what was counted before; for `spanColumns`. */
export function spanValues(
  { span, start, toolkit, tool, tally }: CountedSpan,
  before: SqlRow | undefined,
): SqlValue[] {
  if (before) addEncoded(tally.histogram, before.histogram as Uint8Array);
  const sum = (column: string, value: number): number => value + Number(before?.[column] ?? 0);
  const { calls, errors, cancelled, timeouts, bytesIn, bytesOut, ms, histogram } = tally;
  const ends = [
    sum("calls", calls),
    sum("errors", errors),
    sum("cancelled", cancelled),
    sum("timeouts", timeouts),
  ];
  const sizes = [sum("bytes_in", bytesIn), sum("bytes_out", bytesOut), sum("ms", ms)];
  return [span, start, toolkit, tool, ...ends, ...sizes, encodeHistogram(histogram)];
}

export function* readSpans(rows: Iterable<SqlRow>): Generator<SpanTally> {
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

function readCounts({
  calls,
  errors,
  cancelled,
  timeouts,
  bytes_in,
  bytes_out,
  ms,
}: SqlRow): Counts {
  const ends = {
    calls: Number(calls),
    errors: Number(errors),
    cancelled: Number(cancelled),
    timeouts: Number(timeouts),
  };
  return { ...ends, bytesIn: Number(bytes_in), bytesOut: Number(bytes_out), ms: Number(ms) };
}
