import { hashOf } from "../base/hash.ts";
import type { CallFilter, CallRow } from "./store.ts";

/** A call on its way to the writer: plain values one behind the other, the cheapest thing to hand to another thread. */
export type PackedValue = string | number | null;

export const packedLength = 18;

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
export function matchesCall({ since, tool, outcome }: CallFilter, row: Pick<CallRow, "at" | "tool" | "toolkit" | "outcome" | "code">): boolean {
  if (since !== undefined && row.at < since) return false;
  if (tool !== undefined && row.tool !== tool && row.toolkit !== tool) return false;
  return outcome === undefined || row.outcome === outcome || row.code === outcome;
}
