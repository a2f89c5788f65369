import { createHash } from "node:crypto";
import type { Sql } from "../sql.ts";

/** A hall that is stopped in a transaction blocks the others for this long. */
const idleMs = 1_500;

/**
 * One change at a time, so that the numbers become visible in their order. Not the lock of the
 * store: a long commit there does not delay a revocation.
 */
export function beginEdit(schema: string): string {
  return `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleMs};
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
    SELECT pg_advisory_xact_lock(${lockNumber(`guildhall board ${schema}`)})`;
}

/**
 * Added beside the tables of the store, whose version stays the same: an older hall that uses the
 * same database continues and does not take part.
 */
export async function createTables(sql: Sql, schema: string): Promise<void> {
  const [found] = await sql.query("SELECT to_regclass(?) IS NOT NULL AS has_halls", [
    `${schema}.halls`,
  ]);
  if (found?.has_halls) return;
  const [there] = await sql.query("SELECT to_regnamespace(?) IS NOT NULL AS has_schema", [schema]);
  // The lock of the store, which may create the schema at this moment.
  await sql.script(`BEGIN; SELECT pg_advisory_xact_lock(${lockNumber(`guildhall ${schema}`)});
    ${there?.has_schema ? "" : `CREATE SCHEMA IF NOT EXISTS ${schema};`}
    CREATE SEQUENCE IF NOT EXISTS ${schema}.board_seq;
    CREATE TABLE IF NOT EXISTS ${schema}.board (
      team text NOT NULL, topic text NOT NULL, key text NOT NULL, seq bigint NOT NULL, body text,
      expires timestamptz, PRIMARY KEY (team, topic, key));
    CREATE INDEX IF NOT EXISTS board_seq_order ON ${schema}.board (team, seq);
    CREATE TABLE IF NOT EXISTS ${schema}.buckets (
      team text NOT NULL, key text NOT NULL, tokens double precision NOT NULL, at timestamptz NOT NULL,
      PRIMARY KEY (team, key));
    CREATE TABLE IF NOT EXISTS ${schema}.halls (
      id text PRIMARY KEY, team text NOT NULL, body text NOT NULL, seen bigint NOT NULL, until timestamptz NOT NULL);
    COMMIT`);
}

function lockNumber(name: string): bigint {
  return createHash("sha256").update(name).digest().readBigInt64BE();
}
