import type { Json } from "../../base/json.ts";
import type { ShelfName } from "../document-table.ts";
import type { Write } from "../protocol.ts";
import { insertRows, storableText } from "./columns.ts";
import type { Query } from "./connection.ts";

/** Documents of every shelf in one table. */
type DocumentWrite = Extract<Write, { what: "put" | "remove" }>;

/** Of several writes of one key only the last can matter. */
export async function writeDocuments(
  query: Query,
  writes: readonly DocumentWrite[],
): Promise<void> {
  const last = [...new Map(writes.map((write) => [`${write.shelf} ${write.key}`, write])).values()];
  const removed = last.filter((write) => write.what === "remove");
  if (removed.length > 0) {
    const keys = [removed.map(({ shelf }) => shelf), removed.map(({ key }) => storableText(key))];
    await query(
      "DELETE FROM documents USING unnest(?::text[], ?::text[]) AS gone (shelf, key) WHERE documents.shelf = gone.shelf AND documents.key = gone.key",
      keys,
    );
  }
  const put = last.filter((write) => write.what === "put");
  await insertRows(query, "documents", {
    columns: "shelf, key, body, expires_at",
    types: ["text", "text", "text", "bigint"],
    rows: put.map(({ shelf, key, body, expiresAt }) => [shelf, key, body, expiresAt]),
    more: "ON CONFLICT (shelf, key) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at",
  });
}

const isCurrent = "(expires_at IS NULL OR expires_at > ?)";

export async function findDocument(
  query: Query,
  shelf: ShelfName,
  key: string,
): Promise<Json | undefined> {
  const [row] = await query(
    `SELECT body FROM documents WHERE shelf = ? AND key = ? AND ${isCurrent}`,
    [shelf, storableText(key), Date.now()],
  );
  return row && (JSON.parse(String(row.body)) as Json);
}

export async function listDocuments(
  query: Query,
  shelf: ShelfName,
  prefix: string,
): Promise<readonly { readonly key: string; readonly value: Json }[]> {
  const rows = await query(
    `SELECT key, body FROM documents WHERE shelf = ? AND ${isCurrent} AND starts_with(key, ?) ORDER BY key COLLATE "C"`,
    [shelf, Date.now(), storableText(prefix)],
  );
  return rows.map(({ key, body }) => ({
    key: String(key),
    value: JSON.parse(String(body)) as Json,
  }));
}

export async function pruneDocuments(query: Query, now: number): Promise<void> {
  await query("DELETE FROM documents WHERE expires_at <= ?", [now]);
}
