import { hashOf } from "../base/json.ts";
import { bucketOf } from "./histogram.ts";
import type { CallFilter, CallRow } from "./store.ts";

/** A call on its way to the writer: its values in one flat array are the cheapest thing to send to another thread. */
export type PackedValue = string | number | null;

export const packedLength = 18;

/** Where the packed call has the values that are looked up or changed. */
export const packedIndex = {
  id: 0,
  toolkit: 7,
  tool: 8,
  arguments: 9,
  outcome: 10,
  code: 11,
  ms: 12,
  bytesOut: 14,
  planner: 15,
  kept: 16,
  result: 17,
};

/** In the order of `unpackCall`. */
export const callColumns: readonly string[] =
  "id parent root at caller connection face toolkit tool digest outcome code ms bytes_in bytes_out planner arguments result bucket".split(
    " ",
  );

/** The columns that change when a running call ends, in the order of `endOfCall`. */
export const endedColumns: readonly string[] =
  "toolkit tool outcome code ms bytes_out planner arguments result bucket".split(" ");

const endedIndexes = (
  ["toolkit", "tool", "outcome", "code", "ms", "bytesOut", "planner", "kept", "result"] as const
).map((name) => packedIndex[name]);

/** The row of a packed call: the digest replaces its arguments, and the bucket of its duration is added. */
export function unpackCall(values: readonly PackedValue[], at: number): PackedValue[] {
  const row = values.slice(at, at + packedLength);
  row[packedIndex.arguments] = digestArguments(row[packedIndex.arguments] as string);
  row.push(bucketOf(row[packedIndex.ms] as number));
  return row;
}

export function endOfCall(values: readonly PackedValue[], at: number): PackedValue[] {
  const end = endedIndexes.map((index) => values[at + index] ?? null);
  end.push(bucketOf(values[at + packedIndex.ms] as number));
  return end;
}

export function packCall(row: CallRow, into: PackedValue[]): void {
  const { kept } = row;
  into.push(
    row.id,
    row.parent,
    row.root,
    row.at,
    row.caller,
    row.connection,
    row.face,
    row.toolkit,
    row.tool,
    row.arguments,
    row.outcome,
    row.code,
    row.ms,
    row.bytesIn,
    row.bytesOut,
    row.planner,
    kept ? kept.arguments : null,
    kept ? kept.result : null,
  );
}

/** Null if the arguments are not JSON; such a call never ran. */
export function digestArguments(text: string): string | null {
  try {
    return hashOf(JSON.parse(text));
  } catch {
    return null;
  }
}

export const listLimit = 100;

export function matchesCall(
  { since, tool, outcome }: CallFilter,
  row: Pick<CallRow, "at" | "tool" | "toolkit" | "outcome" | "code">,
): boolean {
  if (since !== undefined && row.at < since) return false;
  if (tool !== undefined && row.tool !== tool && row.toolkit !== tool) return false;
  return outcome === undefined || row.outcome === outcome || row.code === outcome;
}
