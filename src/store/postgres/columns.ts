import type { Parameter, Query } from "./connection.ts";

/** Rows as they go out in one statement: a list for each column. */
export interface Rows {
  /** Its columns, separated by commas. */
  readonly columns: string;
  /** Their types, in the same order. */
  readonly types: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

type Cell = string | number | bigint | null | Uint8Array;

/** For `FROM`: the rows in their order, with their place as the last column. */
export function unnest({ columns, types }: Rows): string {
  return `unnest(${types.map((type) => `?::${type}[]`).join(", ")}) WITH ORDINALITY AS given (${columns}, place)`;
}

export function columnsOf({ types, rows }: Rows): Parameter[] {
  return types.map((_, index) => rows.map((row) => storable(row[index] ?? null)));
}

/** `more` is what follows: what to do about a row that is there already, what to give back. */
export async function insertRows(
  query: Query,
  table: string,
  { more = "", ...rows }: Rows & { readonly more?: string },
): ReturnType<Query> {
  if (rows.rows.length === 0) return [];
  return query(
    `INSERT INTO ${table} (${rows.columns}) SELECT ${rows.columns} FROM ${unnest(rows)} ORDER BY place ${more}`,
    columnsOf(rows),
  );
}

/** A text here has no NUL and no half characters. What would not come back as it went is replaced before, so that the chain's hashes hold. */
export function storableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, "\ufffd");
}

function storable(cell: Cell): string | number | null | Uint8Array {
  if (typeof cell === "string") return storableText(cell);
  return typeof cell === "bigint" ? Number(cell) : cell;
}
