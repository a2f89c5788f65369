import { createHash } from "node:crypto";
import type { openDatabase } from "../../src/store/sqlite.ts";

type Database = Awaited<ReturnType<typeof openDatabase>>;

/** Removes the triggers that protect the audit, and returns what creates them again. */
export function takeTriggers(database: Database): string {
  const triggers = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
  return triggers
    .all()
    .map(({ name, sql }) => {
      database.exec(`DROP TRIGGER ${name}`);
      return `${sql};`;
    })
    .join("");
}

/** Computes every hash again, as anybody can who has no key. */
export function rehash(database: Database): void {
  let hash = "";
  const update = database.prepare("UPDATE audit SET hash = ? WHERE seq = ?");
  for (const row of database.prepare("SELECT * FROM audit ORDER BY seq").all()) {
    const { seq, at, kind, subject, caller, reason, details } = row;
    const text = JSON.stringify([hash, seq, at, kind, subject, caller, reason, details]);
    hash = createHash("sha256").update(text).digest("hex");
    update.run(hash, Number(seq));
  }
  database.prepare("UPDATE chain SET hash = ? WHERE name = 'head'").run(hash);
}
