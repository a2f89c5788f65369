import { createHash, randomBytes } from "node:crypto";
import { migrate, newestVersion, oldestUser } from "../schema.ts";
import type { Engine, Sql } from "../sql.ts";
import { type Connection, connect, explainFailure, isRowError } from "./connection.ts";
import { type Address, parseDatabaseUrl } from "./url.ts";

/** A commit whose answer was lost: it may have succeeded. */
interface UnknownCommit {
  readonly number: number;
  onCommitted(): void;
}

/** A writer that has not written for this long has ended. */
const writersKeptMs = 86_400_000;
/** Bytes of a row beside its columns: its header, and its entries in the page and two indexes. */
const rowOverheadBytes = 100;

/**
 * A PostgreSQL database that several halls share. A writing transaction holds one lock from begin
 * to commit, so there is one audit chain and one order of rows. After a failure the connection is
 * dropped, and the next attempt opens another.
 */
export class PostgresEngine implements Engine {
  readonly #url: string;
  /** Identifies this writer in the database, with the number of its last commit. */
  readonly #name = randomBytes(12).toString("hex");
  #commits = 0;
  #unknownCommit: UnknownCommit | undefined;
  #address: Address | undefined;
  #connection: Connection | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  write<T>(work: (sql: Sql) => Promise<T>, onCommitted?: (result: T) => void): Promise<T> {
    return this.#transact(beginWriting, async (sql) => {
      if (this.#unknownCommit) await this.#resolve(sql, this.#unknownCommit);
      const result = await work(sql);

      const number = ++this.#commits;
      this.#unknownCommit = { number, onCommitted: () => onCommitted?.(result) };
      await sql.script(
        `INSERT INTO writers VALUES ('${this.#name}', ${number}, ${Date.now()})
         ON CONFLICT (name) DO UPDATE SET commits = excluded.commits, at = excluded.at; COMMIT`,
      );
      this.#unknownCommit = undefined;
      onCommitted?.(result);
      return result;
    });
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#transact(beginReading, async (sql) => {
      const result = await work(sql);
      await sql.script("COMMIT");
      return result;
    });
  }

  /** A table does not shrink when rows are deleted, so its size alone says nothing: the rows are measured. */
  async findExcess(sql: Sql, bytesMax: number): Promise<number | undefined> {
    const [sizes] = await sql.query(
      `SELECT sum(pg_total_relation_size(oid))::float8 AS all,
         (sum(pg_total_relation_size(oid)) FILTER (WHERE relname = 'calls'))::float8 AS calls
       FROM pg_class WHERE relnamespace = to_regnamespace(?) AND relkind = 'r'`,
      [this.#getAddress().schema],
    );
    if (Number(sizes?.all ?? 0) <= bytesMax) return undefined;

    const callBytesMax = bytesMax - (Number(sizes?.all) - Number(sizes?.calls));
    const [last] = await sql.query(
      `SELECT max(seq) AS seq FROM (
         SELECT seq, sum(pg_column_size(calls.*) + ${rowOverheadBytes}) OVER (ORDER BY seq DESC) AS bytes
         FROM calls) AS sized WHERE bytes > ?`,
      [callBytesMax],
    );
    return last?.seq == null ? undefined : Number(last.seq);
  }

  async startAnew(): Promise<void> {}

  async cleanUp(now: number): Promise<void> {
    await this.write((sql) =>
      sql.change("DELETE FROM writers WHERE at < ?", [now - writersKeptMs]),
    );
  }

  isRowError(error: unknown): boolean {
    return isRowError(error);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  #getAddress(): Address {
    this.#address ??= parseDatabaseUrl(this.#url);
    return this.#address;
  }

  /** `work` ends the transaction itself. */
  async #transact<T>(
    begin: (schema: string) => string,
    work: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    const address = this.#getAddress();
    try {
      const { sql } = await this.#open(address);
      await sql.script(begin(address.schema));
      return await work(sql);
    } catch (error) {
      if (isRowError(error) && (await this.#rollBack())) throw error;
      this.#connection?.close().catch(ignore);
      this.#connection = undefined;
      throw explainFailure(error, address);
    }
  }

  async #open(address: Address): Promise<Connection> {
    if (this.#connection) return this.#connection;
    const connection = await connect(address);
    try {
      await connection.sql.script(beginWriting(address.schema));
      await updateSchema(connection.sql, address.schema);
      await connection.sql.script("COMMIT");
    } catch (error) {
      connection.close().catch(ignore);
      throw error;
    }
    this.#connection = connection;
    return connection;
  }

  /** False if the connection is gone, and the transaction with it. */
  async #rollBack(): Promise<boolean> {
    try {
      await this.#connection?.sql.script("ROLLBACK");
      return true;
    } catch {
      return false;
    }
  }

  async #resolve(sql: Sql, { number, onCommitted }: UnknownCommit): Promise<void> {
    const [last] = await sql.query("SELECT commits FROM writers WHERE name = ?", [this.#name]);
    this.#unknownCommit = undefined;
    if (last?.commits === number) onCommitted();
  }
}

/** Closing a connection that has failed may fail too. */
function ignore(): void {}

async function updateSchema(sql: Sql, schema: string): Promise<void> {
  const [found] = await sql.query(
    "SELECT to_regnamespace(?) IS NOT NULL AS has_schema, to_regclass(?) IS NOT NULL AS has_version",
    [schema, `${schema}.version`],
  );
  // CREATE SCHEMA IF NOT EXISTS needs the right to create one, even if it exists.
  if (!found?.has_schema) await sql.script(`CREATE SCHEMA ${schema}`);
  if (!found?.has_version)
    await sql.script(
      "CREATE TABLE version (number integer NOT NULL); INSERT INTO version VALUES (0)",
    );

  // `number` is the oldest version that can use the tables; `added` is theirs. A hall of an older
  // version reads `number` alone, and continues while newer ones take over. Its table may not have
  // the other column yet.
  const [version] = await sql.query(
    "SELECT number, (to_jsonb(version) ->> 'added')::integer AS added FROM version",
  );
  const number = Number(version?.number);
  const newest = newestVersion("postgresql");
  const current = Math.max(number, Number(version?.added ?? 0));
  if (current >= newest && number <= newest) return;
  await migrate(sql, "postgresql", current);
  await sql.script("ALTER TABLE version ADD COLUMN IF NOT EXISTS added integer");
  await sql.change("UPDATE version SET number = ?, added = ?", [oldestUser("postgresql"), newest]);
}

/**
 * A hall that hangs in a write blocks the others this long, which durable writes wait; then these
 * wait before a retry.
 */
const idleMs = 1_500;
const lockMs = 10_000;

/** Settings end with the transaction, because a connection pool in between may reuse the connection. */
function beginWriting(schema: string): string {
  return `BEGIN; SET LOCAL search_path = ${schema};
    SET LOCAL idle_in_transaction_session_timeout = ${idleMs}; SET LOCAL lock_timeout = ${lockMs};
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
    SELECT pg_advisory_xact_lock(${lockNumber(schema)})`;
}

function beginReading(schema: string): string {
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${schema}`;
}

/** The same number in every hall. */
function lockNumber(schema: string): bigint {
  return createHash("sha256").update(`guildhall ${schema}`).digest().readBigInt64BE();
}
