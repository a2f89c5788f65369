import { HallError } from "../../base/errors.ts";
import type { Query } from "./connection.ts";

/** What the schema looked like after each version of it; the next change is one more text at the end. */
const migrations: readonly string[] = [
  `CREATE TABLE calls (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL, parent text, root text NOT NULL, at bigint NOT NULL, caller text NOT NULL,
     connection text NOT NULL, face text, toolkit text, tool text NOT NULL, digest text, outcome text NOT NULL, code text, ms double precision NOT NULL,
     bytes_in bigint NOT NULL, bytes_out bigint NOT NULL, planner text, arguments text, result text, bucket integer NOT NULL);
   CREATE INDEX calls_at ON calls (at);
   CREATE TABLE spans (
     span text NOT NULL, start bigint NOT NULL, toolkit text NOT NULL, tool text NOT NULL, calls bigint NOT NULL, errors bigint NOT NULL,
     cancelled bigint NOT NULL, timeouts bigint NOT NULL, bytes_in bigint NOT NULL, bytes_out bigint NOT NULL, ms double precision NOT NULL, histogram bytea NOT NULL,
     PRIMARY KEY (span, start, tool));
   CREATE TABLE counted (seq bigint NOT NULL);
   INSERT INTO counted VALUES (0);
   CREATE TABLE audit (
     seq bigint PRIMARY KEY, at bigint NOT NULL, kind text NOT NULL, subject text NOT NULL, caller text NOT NULL, reason text NOT NULL,
     details text NOT NULL, hash text NOT NULL);
   CREATE TABLE chain (name text PRIMARY KEY, seq bigint NOT NULL, hash text NOT NULL);
   INSERT INTO chain VALUES ('anchor', 0, ''), ('head', 0, '');
   CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
     BEGIN
       IF TG_OP = 'DELETE' THEN
         IF old.seq <= (SELECT seq FROM chain WHERE name = 'anchor') THEN RETURN old; END IF;
       END IF;
       RAISE EXCEPTION 'the audit is append-only';
     END $$;
   CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();
   CREATE TRIGGER audit_keeps BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();
   CREATE TABLE documents (shelf text NOT NULL, key text NOT NULL, body text NOT NULL, expires_at bigint, PRIMARY KEY (shelf, key));
   CREATE TABLE writers (name text PRIMARY KEY, commits bigint NOT NULL, at bigint NOT NULL);`,
];

/** Brings the schema to this version, or leaves it as it is. Inside a transaction that keeps all others out. */
export async function migrate(query: Query, schema: string): Promise<void> {
  const [found] = await query(
    "SELECT to_regnamespace(?) IS NOT NULL AS has_schema, to_regclass(?) IS NOT NULL AS has_version",
    [schema, `${schema}.version`],
  );
  // Asking for one that exists takes a right that its user may not have.
  if (!found?.has_schema) await query(`CREATE SCHEMA ${schema}`);
  if (!found?.has_version)
    await query("CREATE TABLE version (number integer NOT NULL); INSERT INTO version VALUES (0)");
  const version = Number((await query("SELECT number FROM version"))[0]?.number);
  if (version > migrations.length) {
    throw new HallError(
      "UNAVAILABLE",
      `the store was written by a newer Guildhall (its version is ${version}, ours ${migrations.length})`,
      {
        hint: "Use the newer Guildhall, or name another schema in store.url.",
      },
    );
  }
  if (version === migrations.length) return;
  for (const change of migrations.slice(version)) await query(change);
  await query("UPDATE version SET number = ?", [migrations.length]);
}
