import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import { HallError, messageOf } from "../../base/errors.ts";
import { typeOfColumn } from "../schema.ts";
import { type Sql, type SqlRow, type SqlValue, storableText } from "../sql.ts";
import type { Address } from "./url.ts";

/** One connection. It runs one statement at a time. */
export interface Connection {
  readonly sql: Sql;
  /** Calls back when another connection notifies the channel. */
  listen(channel: string, listener: () => void): Promise<void>;
  close(): Promise<void>;
}

const connectMs = 4_000;
/** A statement that takes longer counts as a lost connection. */
const statementMs = 30_000;

export async function connect(
  address: Address,
  timeoutMs: number = statementMs,
): Promise<Connection> {
  try {
    return await open(address, tlsOptions(address), timeoutMs);
  } catch (error) {
    // These two modes fall back to a plain connection if the server has no TLS.
    const isOptional = address.tls.mode === "prefer" || address.tls.mode === "allow";
    if (isOptional && lacksTls(error))
      return open(address, false, timeoutMs).catch((again: unknown) =>
        Promise.reject(explainFailure(again, address)),
      );
    throw explainFailure(error, address);
  }
}

async function open(
  { host, port, user, password, database }: Address,
  ssl: ConnectionOptions | false,
  timeoutMs: number,
): Promise<Connection> {
  const client = new pg.Client({
    host,
    port,
    user,
    // A function, because pg searches ~/.pgpass if the password is empty.
    password: () => password,
    database,
    ssl,
    application_name: "guildhall",
    connectionTimeoutMillis: Math.min(connectMs, timeoutMs),
    query_timeout: timeoutMs,
    keepAlive: true,
    types,
  });
  // The next statement reports the failure.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
  return {
    sql: new PostgresSql(client),
    async listen(channel, listener) {
      client.on("notification", listener);
      await client.query(`LISTEN ${channel}`);
    },
    close: () => client.end(),
  };
}

class PostgresSql implements Sql {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  async query(sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return (await this.#send(sql, values.map(toParameter))).rows;
  }

  async change(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await this.#send(sql, values.map(toParameter))).rowCount ?? 0;
  }

  /** One array per column: a statement has the same text however many rows it gets. */
  async withRows(
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    sql: string,
  ): Promise<readonly SqlRow[]> {
    if (rows.length === 0) return [];
    const arrays = columns.map((column) => `?::${typeOfColumn(column)}[]`).join(", ");
    const names = columns.join(", ");
    const source = `SELECT ${names} FROM unnest(${arrays}) WITH ORDINALITY AS given (${names}, place) ORDER BY place`;
    const values = columns.map((_, index) => writeArray(rows, index));
    return (await this.#send(sql.replace("{rows}", source), values)).rows;
  }

  async script(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  #send(sql: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    let number = 0;
    return this.#client.query(
      sql.replaceAll("?", () => `$${++number}`),
      [...values],
    );
  }
}

function toParameter(value: SqlValue): string | number | null | Buffer {
  if (typeof value === "string") return storableText(value);
  if (typeof value === "bigint") return Number(value);
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

/**
 * A column of the rows as the text of an array. The driver would write it too, with two regular expressions for each
 * value, which was a tenth of what recording a call costs.
 */
function writeArray(rows: readonly (readonly SqlValue[])[], column: number): string {
  let text = "";
  for (const row of rows) text += `${text === "" ? "{" : ","}${writeElement(row[column])}`;
  return `${text}}`;
}

function writeElement(value: SqlValue | undefined): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "string")
    return `"${plainText.test(value) ? value : storableText(value).replace(/["\\]/g, "\\$&")}"`;
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`;
  return String(value);
}

/** Needs neither escapes nor replacements. */
const plainText = /^[ !#-[\]-~]*$/;

const bigint = 20;

/** Times, sizes and row numbers all fit into a number. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((type: number, format?: "text") =>
    type === bigint
      ? Number
      : pg.types.getTypeParser(type, format)) as typeof pg.types.getTypeParser,
};

/** As in libpq, `require` encrypts without checking the certificate, unless a root is given. */
function tlsOptions({ host, tls }: Address): ConnectionOptions | false {
  if (tls.mode === "disable") return false;
  const isChecked =
    tls.mode === "verify-ca" ||
    tls.mode === "verify-full" ||
    (tls.mode === "require" && tls.rootFile !== undefined);
  return {
    // Checked against the certificate, also if it is an address.
    host,
    rejectUnauthorized: isChecked,
    ...(tls.mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ca: read(tls.rootFile),
    cert: read(tls.certificateFile),
    key: read(tls.keyFile),
  };
}

function read(file: string | undefined): string | undefined {
  try {
    return file === undefined ? undefined : readFileSync(file, "utf8");
  } catch (cause) {
    throw new HallError("UNAVAILABLE", `cannot read "${file}" named in store.url`, { cause });
  }
}

/** Describes an error of the database or the network, without the password. */
export function explainFailure(error: unknown, address: Address): HallError {
  if (error instanceof HallError) return error;
  return new HallError("UNAVAILABLE", describe(error, address), { cause: error });
}

/** Class 22 is an invalid value, class 23 a violated constraint. Everything else may succeed later. */
export function isRowError(error: unknown): boolean {
  return /^2[23]...$/.test(codeOf(error));
}

function lacksTls(error: unknown): boolean {
  return textOfError(error).includes("does not support SSL");
}

const unreachable = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "EACCES",
  "ECONNRESET",
  "EPIPE",
]);
const untrusted =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME_INVALID)/;

function describe(error: unknown, { host, port, user, database, schema, tls }: Address): string {
  const [code, message] = [codeOf(error), textOfError(error)];
  const place = host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`;
  if (lacksTls(error))
    return `the database at ${place} does not support TLS; enable it there, or set sslmode=disable in store.url if you trust the network`;
  if (untrusted.test(code))
    return `the certificate of the database at ${place} is not trusted (${message}); set sslrootcert in store.url`;
  if (unreachable.has(code))
    return `cannot connect to the database at ${place} (${code}); check that it is running, and host and port in store.url`;
  if (/timeout/i.test(message) && code === "")
    return `the database at ${place} did not answer in time; check that it is running, and host and port in store.url`;
  if (code === "28P01")
    return `the database at ${place} rejected the password of "${user}"; check store.url`;
  if (code === "28000")
    return `the database at ${place} rejected the user "${user}" (${message}); check store.url and pg_hba.conf`;
  if (code === "3D000")
    return `no database "${database}" at ${place}; create it with \`createdb ${database}\`, or correct store.url`;
  if (code === "42501") {
    const create = `CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION "${user}"`;
    return `"${user}" may not create tables in the database "${database}" (${message}); its owner can run \`${create}\``;
  }
  return `the database at ${place} failed${tls.mode === "disable" ? "" : " (over TLS)"}: ${message}`;
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

/** An AggregateError of several addresses has only a code. */
function textOfError(error: unknown): string {
  return messageOf(error) || codeOf(error);
}
