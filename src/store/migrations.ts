import { HallError } from "../base/errors.ts";
import type { Database } from "./sqlite.ts";

/** What the file looked like after each version of it; the next change is one more text at the end. */
const migrations: readonly string[] = [
  `CREATE TABLE calls (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL, parent TEXT, root TEXT NOT NULL, at INTEGER NOT NULL, caller TEXT NOT NULL, connection TEXT NOT NULL,
     face TEXT, toolkit TEXT, tool TEXT NOT NULL, digest TEXT, outcome TEXT NOT NULL, code TEXT, ms REAL NOT NULL,
     bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL, planner TEXT, arguments TEXT, result TEXT, bucket INTEGER NOT NULL);
   CREATE INDEX calls_at ON calls (at);
   CREATE TABLE spans (
     span TEXT NOT NULL, start INTEGER NOT NULL, toolkit TEXT NOT NULL, tool TEXT NOT NULL, calls INTEGER NOT NULL, errors INTEGER NOT NULL,
     timeouts INTEGER NOT NULL, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL, ms REAL NOT NULL, histogram BLOB NOT NULL,
     PRIMARY KEY (span, start, tool)) WITHOUT ROWID;
   CREATE TABLE counted (seq INTEGER NOT NULL);
   INSERT INTO counted VALUES (0);
   CREATE TABLE audit (
     seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, caller TEXT NOT NULL, reason TEXT NOT NULL,
     details TEXT NOT NULL, hash TEXT NOT NULL);
   CREATE TABLE chain (name TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
   INSERT INTO chain VALUES ('anchor', 0, ''), ('head', 0, '');
   CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
   CREATE TRIGGER audit_keeps BEFORE DELETE ON audit WHEN old.seq > (SELECT seq FROM chain WHERE name = 'anchor')
     BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
   CREATE TABLE documents (
     shelf TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, expires_at INTEGER, PRIMARY KEY (shelf, key)) WITHOUT ROWID;`,
  "ALTER TABLE spans ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;",
];

/** Brings the file to this version, or leaves it as it is. Several processes may try at once. */
export function migrate(database: Database): void {
  if (versionOf(database) === migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = versionOf(database);
    if (version > migrations.length) {
      throw new HallError(
        "UNAVAILABLE",
        `the store was written by a newer Guildhall (its version is ${version}, ours ${migrations.length})`,
        {
          hint: "Use the newer Guildhall, or move .guildhall/state.db away.",
        },
      );
    }
    for (const change of migrations.slice(version)) database.exec(change);
    database.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function versionOf(database: Database): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version ?? 0);
}
