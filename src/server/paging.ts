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
  /** The key that the list is sorted by. */
  key(item: T): string;
}

/** One page of a sorted list. The cursor contains the last key, so it stays valid when the list changes. */
export function takePage<T>(
  sorted: readonly T[],
  { kind, cursor, size, seal, key }: PageOptions<T>,
): Page<T> {
  let start = 0;
  if (cursor !== undefined) {
    const last = seal.open(cursor, kind);
    if (last === undefined)
      throw new HallError("INVALID_PARAMS", "invalid cursor", {
        hint: "Request the list again without a cursor.",
      });
    start = sorted.findIndex((item) => key(item) > last);
    if (start === -1) start = sorted.length;
  }
  const items = sorted.slice(start, start + size);
  const lastItem = items.at(-1);
  if (start + size >= sorted.length || lastItem === undefined) return { items };
  return { items, nextCursor: seal.close(key(lastItem), kind) };
}
