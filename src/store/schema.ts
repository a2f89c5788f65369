import { HallError } from "../base/errors.ts";
import type { Sql } from "./sql.ts";

export type EngineKind = "sqlite" | "postgresql";

/** Column types that are not text, for PostgreSQL's arrays. A column name has one type in all tables. */
const columnTypes = new Map([
  ...["seq", "at", "start", "calls", "errors", "cancelled", "timeouts", "expires_at"].map(bigint),
  ...["bytes_in", "bytes_out"].map(bigint),
  ["ms", "double precision"] as const,
  ["bucket", "integer"] as const,
  ["histogram", "bytea"] as const,
]);

function bigint(column: string): readonly [string, string] {
  return [column, "bigint"];
}

export function typeOfColumn(column: string): string {
  return columnTypes.get(column) ?? "text";
}

interface Dialect {
  /** A number that grows with every row. */
  readonly serial: string;
  readonly key: string;
  readonly bytes: string;
  /** Stores the row in its primary key. */
  readonly clustered: string;
  /** Keeps a statement from changing the audit by accident, and what else only this engine has. */
  readonly extras: string;
}

const dialects: Readonly<Record<EngineKind, Dialect>> = {
  sqlite: {
    serial: "INTEGER PRIMARY KEY",
    key: "INTEGER PRIMARY KEY",
    bytes: "blob",
    clustered: "WITHOUT ROWID",
    extras: `
      CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
      CREATE TRIGGER audit_keeps BEFORE DELETE ON audit
        WHEN old.seq > (SELECT seq FROM chain WHERE name = 'anchor')
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;`,
  },
  postgresql: {
    serial: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    key: "bigint PRIMARY KEY",
    bytes: "bytea",
    clustered: "",
    extras: `
      CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
          IF TG_OP = 'DELETE' THEN
            IF old.seq <= (SELECT seq FROM chain WHERE name = 'anchor') THEN RETURN old; END IF;
          END IF;
          RAISE EXCEPTION 'the audit is append-only';
        END $$;
      CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit
        FOR EACH ROW EXECUTE FUNCTION keep_audit();
      CREATE TRIGGER audit_keeps BEFORE TRUNCATE ON audit
        FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();
      CREATE TABLE writers (name text PRIMARY KEY, commits bigint NOT NULL, at bigint NOT NULL);`,
  },
};

/** The tables of a new store. A change to them also needs an entry in `changes` for existing stores. */
function createTables({ serial, key, bytes, clustered, extras }: Dialect): string {
  return `
    CREATE TABLE calls (
      seq ${serial}, id text NOT NULL, parent text, root text NOT NULL, at bigint NOT NULL,
      caller text NOT NULL, connection text NOT NULL, face text, toolkit text, tool text NOT NULL,
      digest text, outcome text NOT NULL, code text, ms double precision NOT NULL,
      bytes_in bigint NOT NULL, bytes_out bigint NOT NULL, planner text, arguments text, result text,
      bucket integer NOT NULL, person text, token text);
    CREATE INDEX calls_at ON calls (at);
    ${indexPeople}
    CREATE TABLE spans (
      span text NOT NULL, start bigint NOT NULL, toolkit text NOT NULL, tool text NOT NULL,
      calls bigint NOT NULL, errors bigint NOT NULL, cancelled bigint NOT NULL, timeouts bigint NOT NULL,
      bytes_in bigint NOT NULL, bytes_out bigint NOT NULL, ms double precision NOT NULL,
      histogram ${bytes} NOT NULL, PRIMARY KEY (span, start, tool)) ${clustered};
    CREATE TABLE counted (seq bigint NOT NULL);
    INSERT INTO counted VALUES (0);
    CREATE TABLE audit (
      seq ${key}, at bigint NOT NULL, kind text NOT NULL, subject text NOT NULL, caller text NOT NULL,
      reason text NOT NULL, details text NOT NULL, hash text NOT NULL);
    CREATE TABLE chain (name text PRIMARY KEY, seq bigint NOT NULL, hash text NOT NULL) ${clustered};
    INSERT INTO chain VALUES ('anchor', 0, ''), ('head', 0, '');
    CREATE TABLE documents (
      shelf text NOT NULL, key text NOT NULL, body text NOT NULL, expires_at bigint,
      PRIMARY KEY (shelf, key)) ${clustered};
    ${createRunning(key)}
    ${extras}`;
}

/** Calls that have begun and not ended, and the process that runs each. */
function createRunning(key: string): string {
  return `CREATE TABLE running (seq ${key}, writer text NOT NULL);`;
}

/** Calls of the hall's own user name no person and cost the index nothing. */
const indexPeople = "CREATE INDEX calls_person ON calls (person, at) WHERE person IS NOT NULL;";

interface Change {
  /** True if a hall of the previous version can continue: only names unknown to it are added. */
  readonly isAddition?: boolean;
  readonly apply: string;
  /** Leads back to the tables before the change. */
  readonly revert: string;
}

const addRunning = ({ key }: Dialect): Change => ({
  apply: `${createRunning(key)} INSERT INTO running SELECT seq, '' FROM calls WHERE outcome = 'running';`,
  revert: "DROP TABLE running;",
});

const addPeople: Change = {
  isAddition: true,
  apply: `ALTER TABLE calls ADD COLUMN person text; ALTER TABLE calls ADD COLUMN token text; ${indexPeople}`,
  revert:
    "DROP INDEX calls_person; ALTER TABLE calls DROP COLUMN token; ALTER TABLE calls DROP COLUMN person;",
};

/** Changes since the first version of each engine's tables, oldest first. */
const changes: Readonly<Record<EngineKind, readonly Change[]>> = {
  sqlite: [
    {
      apply: "ALTER TABLE spans ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;",
      revert: "ALTER TABLE spans DROP COLUMN cancelled;",
    },
    addRunning(dialects.sqlite),
    addPeople,
  ],
  postgresql: [addRunning(dialects.postgresql), addPeople],
};

export function newestVersion(kind: EngineKind): number {
  return 1 + changes[kind].length;
}

/** The oldest version whose halls can use the newest tables, while they are replaced one after the other. */
export function oldestUser(kind: EngineKind): number {
  return 2 + changes[kind].findLastIndex(({ isAddition }) => !isAddition);
}

/** Brings the tables from `version` (0: none yet) to the newest one, within a transaction of the caller. */
export async function migrate(sql: Sql, kind: EngineKind, version: number): Promise<void> {
  const newest = newestVersion(kind);
  if (version > newest) {
    const place = kind === "sqlite" ? "move .guildhall/state.db away" : "name another schema";
    throw new HallError(
      "UNAVAILABLE",
      `the store was written by a newer Guildhall (store version ${version}, supported ${newest})`,
      { hint: `Use the newer Guildhall, or ${place}.` },
    );
  }

  if (version === 0) await sql.script(createTables(dialects[kind]));
  else for (const change of changes[kind].slice(version - 1)) await sql.script(change.apply);
}

/** The statements that make the tables of a version. */
export function tablesOf(kind: EngineKind, version: number): string {
  const reverts = changes[kind].slice(version - 1).map(({ revert }) => revert);
  return [createTables(dialects[kind]), ...reverts.reverse()].join("\n");
}
