import { HallError } from "../base/errors.ts";
import type { Seal } from "./seal.ts";

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

export interface PageOptions<T> {
  readonly kind: string;
  readonly cursor: unknown;
  readonly size: number;
  readonly seal: Seal;
  /** What the list is sorted by. */
  key(item: T): string;
}

/** One page of a sorted list. A cursor names the last key shown, so it stays right when the list changes in between. */
export function takePage<T>(
  sorted: readonly T[],
  { kind, cursor, size, seal, key }: PageOptions<T>,
): Page<T> {
  let start = 0;
  if (cursor !== undefined) {
    const last = seal.open(cursor, kind);
    if (last === undefined)
      throw new HallError("INVALID_PARAMS", "the cursor is not one of ours", {
        hint: "Start again without a cursor.",
      });
    start = sorted.findIndex((item) => key(item) > last);
    if (start === -1) start = sorted.length;
  }
  const items = sorted.slice(start, start + size);
  const lastItem = items.at(-1);
  if (start + size >= sorted.length || lastItem === undefined) return { items };
  return { items, nextCursor: seal.close(key(lastItem), kind) };
}
