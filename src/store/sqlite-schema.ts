import { tablesOf } from "./schema.ts";
import { type Database, openDatabase } from "./sqlite.ts";

/**
 * True if a file has exactly our tables, indexes and triggers. A file that somebody else made may contain triggers, views and
 * expressions, which SQLite would run when we write or read.
 */
export async function hasOurSchema(database: Database, version: number): Promise<boolean> {
  if (version === 0) return readSchema(database).length === 0;
  const model = await openDatabase(":memory:");
  try {
    model.exec(tablesOf("sqlite", version));
    return readSchema(database).join("\n") === readSchema(model).join("\n");
  } finally {
    model.close();
  }
}

function readSchema(database: Database): readonly string[] {
  return database
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    .all()
    .map(({ type, name, tbl_name, sql }) => {
      const words = String(sql ?? "").match(/\w+|[^\s\w]/g) ?? [];
      return [type, name, tbl_name, ...(type === "trigger" ? words : comparable(words))].join(" ");
    })
    .sort();
}

/** Earlier versions wrote other names for the same types, and a column that was added later is in another place. */
function comparable(words: readonly string[]): readonly string[] {
  const text = words.join(" ").toLowerCase();
  return text
    .replaceAll("bigint", "integer")
    .replaceAll("double precision", "real")
    .replaceAll("default 0", "")
    .split(/\s+/)
    .sort();
}
