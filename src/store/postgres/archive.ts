import { createHash, randomBytes } from "node:crypto";
import type { Archive, Waiting } from "../archive.ts";
import type { Read } from "../protocol.ts";
import type { Retention } from "../store.ts";
import { appendAudit, type Dated, listAudit, verifyAudit } from "./audit-table.ts";
import { createCallTable } from "./call-table.ts";
import { type Connection, connect, type Query } from "./connection.ts";
import { findDocument, listDocuments, writeDocuments } from "./document-table.ts";
import { explainFailure, isOfRow } from "./failure.ts";
import { migrate } from "./migrations.ts";
import { pruneDatabase } from "./retention.ts";
import { type Address, parseDatabaseUrl } from "./url.ts";

export interface DatabaseOptions {
  readonly url: string;
  readonly retention: Retention;
}

/** A commit whose answer never came: it may be through. */
interface Doubt {
  readonly commit: number;
  readonly items: readonly Waiting[];
  settle(): void;
}

/**
 * An archive in a PostgreSQL database that several halls share. A transaction keeps those of all others out, from its begin to
 * its commit: so there is one chain, and one order of rows. A connection that fails is left, and the next attempt makes another.
 */
export function createDatabaseArchive({ url, retention }: DatabaseOptions): Archive {
  const calls = createCallTable();
  /** What this writer is called in the database, beside the number of its last commit. */
  const name = randomBytes(12).toString("hex");
  const written = new WeakSet<Waiting>();
  let commits = 0;
  let doubt: Doubt | undefined;
  let address: Address | undefined;
  let connection: Connection | undefined;

  async function opened(where: Address): Promise<Connection> {
    if (connection) return connection;
    const made = await connect(where);
    try {
      await made.query(beginWriting(where.schema));
      await migrate(made.query, where.schema);
      await made.query("COMMIT");
    } catch (error) {
      made.close().catch(() => {});
      throw explainFailure(error, where);
    }
    connection = made;
    return made;
  }

  /** All of `work` or nothing, which ends the transaction itself. Throws what a person can do something with. */
  async function within<T>(
    begin: (schema: string) => string,
    work: (query: Query) => Promise<T>,
  ): Promise<T> {
    address ??= parseDatabaseUrl(url);
    try {
      const { query } = await opened(address);
      await query(begin(address.schema));
      return await work(query);
    } catch (error) {
      if (isOfRow(error) && (await rolledBack())) throw error;
      leave();
      throw explainFailure(error, address);
    }
  }

  async function rolledBack(): Promise<boolean> {
    try {
      await connection?.query("ROLLBACK");
      return true;
    } catch {
      // The connection is gone, and the transaction with it.
      return false;
    }
  }

  function leave(): void {
    // Nobody waits for the end of a connection that has failed.
    connection?.close().catch(() => {});
    connection = undefined;
  }

  const transact = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    within(beginWriting, async (query) => {
      const result = await work(query);
      await query("COMMIT");
      return result;
    });

  function commit(batch: readonly Waiting[]): Promise<void> {
    return within(beginWriting, async (query) => {
      if (doubt) await resolveDoubt(query, doubt);
      const items = batch.filter((item) => !written.has(item));
      const { settle } = await calls.write(query, items);
      await appendAudit(query, items.flatMap(auditOf));
      await writeDocuments(query, items.flatMap(documentOf));
      doubt = { commit: ++commits, items, settle };
      await query(
        `INSERT INTO writers VALUES ('${name}', ${commits}, ${Date.now()}) ON CONFLICT (name) DO UPDATE SET commits = excluded.commits, at = excluded.at; COMMIT`,
      );
      doubt = undefined;
      settle();
    });
  }

  /** What is through already is not written a second time. */
  async function resolveDoubt(
    query: Query,
    { commit: number, items, settle }: Doubt,
  ): Promise<void> {
    const [last] = await query("SELECT commits FROM writers WHERE name = ?", [name]);
    if (last?.commits === number) {
      for (const item of items) written.add(item);
      settle();
    }
    doubt = undefined;
  }

  return {
    commit,
    read(read) {
      if (read.what === "prune")
        return pruneDatabase({
          schema: parseDatabaseUrl(url).schema,
          calls,
          retention,
          now: read.now,
          transact,
        });
      return within(beginReading, async (query) => {
        const answer = await readFrom(query, read);
        await query("COMMIT");
        return answer;
      });
    },
    isOfRow,
    async close() {
      const last = connection;
      connection = undefined;
      await last?.close();
    },
  };

  function readFrom(query: Query, read: Exclude<Read, { what: "prune" }>): Promise<unknown> {
    switch (read.what) {
      case "calls":
        return calls.list(query, read.filter);
      case "audit":
        return listAudit(query, read.filter);
      case "verify":
        return verifyAudit(query);
      case "statistics":
        return calls.statistics(query, read.since, Date.now());
      case "find":
        return findDocument(query, read.shelf, read.key);
      case "documents":
        return listDocuments(query, read.shelf, read.prefix);
    }
  }
}

function auditOf(item: Waiting): Dated[] {
  return item.kind === "write" && item.write.what === "append" ? [item.write] : [];
}

function documentOf(item: Waiting): Parameters<typeof writeDocuments>[1] {
  return item.kind === "write" && (item.write.what === "put" || item.write.what === "remove")
    ? [item.write]
    : [];
}

/** How long one hall may keep the others waiting, should it be cut off in the middle; and how long they wait before they try again. */
const idleMs = 5_000;
const lockMs = 10_000;

/** Settings end with the transaction: a pool in between hands the connection to somebody else. */
function beginWriting(schema: string): string {
  return `BEGIN; SET LOCAL search_path = ${schema}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}; SET LOCAL lock_timeout = ${lockMs};
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
    SELECT pg_advisory_xact_lock(${lockOf(schema)})`;
}

/** One moment for all that is read. */
function beginReading(schema: string): string {
  return `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ${schema}`;
}

/** The same number in every hall. */
function lockOf(schema: string): bigint {
  return createHash("sha256").update(`guildhall ${schema}`).digest().readBigInt64BE();
}
