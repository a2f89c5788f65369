import type { Json } from "../base/json.ts";
import type { Database } from "./sqlite.ts";

export type ShelfName = "registrations" | "discoveries" | "runs";

/** Documents of every shelf in one table. */
export interface DocumentTable {
  put(shelf: ShelfName, key: string, body: string, expiresAt: number | null): void;
  find(shelf: ShelfName, key: string, now: number): Json | undefined;
  list(
    shelf: ShelfName,
    prefix: string,
    now: number,
  ): readonly { readonly key: string; readonly value: Json }[];
  remove(shelf: ShelfName, key: string): void;
  prune(now: number): void;
}

export function createDocumentTable(database: Database): DocumentTable {
  const isCurrent = "(expires_at IS NULL OR expires_at > ?)";
  return {
    put(shelf, key, body, expiresAt) {
      database
        .prepare(
          "INSERT OR REPLACE INTO documents (shelf, key, body, expires_at) VALUES (?, ?, ?, ?)",
        )
        .run(shelf, key, body, expiresAt);
    },
    find(shelf, key, now) {
      const row = database
        .prepare(`SELECT body FROM documents WHERE shelf = ? AND key = ? AND ${isCurrent}`)
        .get(shelf, key, now);
      return row && (JSON.parse(String(row.body)) as Json);
    },
    list(shelf, prefix, now) {
      const isWanted = "substr(key, 1, length(?)) = ?";
      const rows = database
        .prepare(
          `SELECT key, body FROM documents WHERE shelf = ? AND ${isCurrent} AND ${isWanted} ORDER BY key`,
        )
        .all(shelf, now, prefix, prefix);
      return rows.map(({ key, body }) => ({
        key: String(key),
        value: JSON.parse(String(body)) as Json,
      }));
    },
    remove(shelf, key) {
      database.prepare("DELETE FROM documents WHERE shelf = ? AND key = ?").run(shelf, key);
    },
    prune(now) {
      database.prepare("DELETE FROM documents WHERE expires_at <= ?").run(now);
    },
  };
}
