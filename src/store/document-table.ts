import type { Json } from "../base/json.ts";
import type { Write } from "./protocol.ts";
import type { Sql } from "./sql.ts";
import type { StoredDocument } from "./store.ts";

/** Documents of every collection share a table. Its column for the collection is named `shelf`. */
export type Collection = "registrations" | "discoveries" | "runs" | "retries";

export type DocumentWrite = Extract<Write, { what: "put" | "remove" }>;

/** Only the last of several writes to one key matters. */
export async function writeDocuments(sql: Sql, writes: readonly DocumentWrite[]): Promise<void> {
  const last = new Map(writes.map((write) => [`${write.collection} ${write.key}`, write]));
  const removed = [...last.values()].filter(({ what }) => what === "remove");
  const put = [...last.values()].filter((write) => write.what === "put");
  await sql.withRows(
    ["shelf", "key"],
    removed.map(({ collection, key }) => [collection, key]),
    "DELETE FROM documents WHERE (shelf, key) IN ({rows})",
  );
  await sql.withRows(
    ["shelf", "key", "body", "expires_at"],
    put.map(({ collection, key, body, expiresAt }) => [collection, key, body, expiresAt]),
    `INSERT INTO documents (shelf, key, body, expires_at) {rows}
     ON CONFLICT (shelf, key) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at`,
  );
}

const isCurrent = "(expires_at IS NULL OR expires_at > ?)";

export async function findDocument(
  sql: Sql,
  collection: Collection,
  key: string,
): Promise<Json | undefined> {
  const [row] = await sql.query(
    `SELECT body FROM documents WHERE shelf = ? AND key = ? AND ${isCurrent}`,
    [collection, key, Date.now()],
  );
  return row && (JSON.parse(String(row.body)) as Json);
}

/** Sorted here, because the engines sort text differently. */
export async function listDocuments(
  sql: Sql,
  collection: Collection,
  prefix: string,
): Promise<readonly StoredDocument[]> {
  const rows = await sql.query(
    `SELECT key, body FROM documents
     WHERE shelf = ? AND ${isCurrent} AND substr(key, 1, length(?)) = ?`,
    [collection, Date.now(), prefix, prefix],
  );
  return rows
    .map(({ key, body }) => ({ key: String(key), value: JSON.parse(String(body)) as Json }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

export async function pruneDocuments(sql: Sql, now: number): Promise<void> {
  await sql.change("DELETE FROM documents WHERE expires_at <= ?", [now]);
}
