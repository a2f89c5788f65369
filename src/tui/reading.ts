import { wrap } from "./parts/width.ts";

/** A long text in a few rows: what is in sight of it, and how much is below. Nobody should agree to what they have not seen. */
export interface Reading {
  readonly lines: readonly string[];
  /** The first line in sight. */
  readonly from: number;
  /** How many lines are below those in sight; 0 once its end has come up. */
  readonly below: number;
  readonly isWhole: boolean;
}

export interface ReadingPlace {
  readonly columns: number;
  readonly rows: number;
  /** The line a person has scrolled to. */
  readonly from: number;
}

/** Where it does not fit, one row is left to say so. */
export function readFrom(text: string, { columns, rows, from }: ReadingPlace): Reading {
  const all = wrap(text, columns);
  if (all.length <= rows) return { lines: all, from: 0, below: 0, isWhole: true };
  const room = Math.max(1, rows - 1);
  const first = Math.max(0, Math.min(from, all.length - room));
  return {
    lines: all.slice(first, first + room),
    from: first,
    below: all.length - first - room,
    isWhole: false,
  };
}

/** What stands below a text that does not fit. */
export function tellRest({ below }: Reading): string {
  return below > 0
    ? `↓ ${below} more line${below === 1 ? "" : "s"}: PgDn`
    : "the end; PgUp goes back";
}
