import { hashOf } from "../base/hash.ts";
import { bucketOf } from "./histogram.ts";
import type { CallFilter, CallRow } from "./store.ts";

/** A call on its way to the writer: plain values one behind the other, the cheapest thing to hand to another thread. */
export type PackedValue = string | number | null;

export const packedLength = 18;

/** Where the packed row has what is not written as it is, or is asked for by name. */
export const packedPlace = {
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

/** The table's, in the order of `unpackCall`. */
export const callColumns =
  "id, parent, root, at, caller, connection, face, toolkit, tool, digest, outcome, code, ms, bytes_in, bytes_out, planner, arguments, result, bucket";

/** What a second row says of a call that has begun. */
const endColumns = [
  "toolkit",
  "tool",
  "outcome",
  "code",
  "ms",
  "bytesOut",
  "planner",
  "kept",
  "result",
] as const;

/** A packed call as the table has it: with the digest of its arguments in their place, and its bucket. */
export function unpackCall(values: readonly PackedValue[], at: number, into: PackedValue[]): void {
  for (let index = 0; index < packedLength; index++) {
    const value = values[at + index] ?? null;
    into.push(index === packedPlace.arguments ? digestArguments(value as string) : value);
  }
  into.push(bucketOf(values[at + packedPlace.ms] as number));
}

/** How a call ended, for `endedColumns`, with the bucket behind it. */
export function endOfCall(values: readonly PackedValue[], at: number): PackedValue[] {
  return [
    ...endColumns.map((name) => values[at + packedPlace[name]] ?? null),
    bucketOf(values[at + packedPlace.ms] as number),
  ];
}

/** The columns of `endOfCall`. */
export const endedColumns = [
  "toolkit",
  "tool",
  "outcome",
  "code",
  "ms",
  "bytes_out",
  "planner",
  "arguments",
  "result",
  "bucket",
] as const;

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

/** Null where the arguments are no JSON: nothing that could be compared was ever run. */
export function digestArguments(text: string): string | null {
  try {
    return hashOf(JSON.parse(text));
  } catch {
    return null;
  }
}

export const listLimit = 100;

/** Whether a row is one of those asked for. */
export function matchesCall(
  { since, tool, outcome }: CallFilter,
  row: Pick<CallRow, "at" | "tool" | "toolkit" | "outcome" | "code">,
): boolean {
  if (since !== undefined && row.at < since) return false;
  if (tool !== undefined && row.tool !== tool && row.toolkit !== tool) return false;
  return outcome === undefined || row.outcome === outcome || row.code === outcome;
}
