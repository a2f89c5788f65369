import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import { HallError } from "../../base/errors.ts";
import { explainFailure, offersNoTls } from "./failure.ts";
import type { Address, Tls } from "./url.ts";

/** One connection to the database; nothing is asked of it while it answers something else. */
export interface Connection {
  /** With a `?` for each value; several statements at once only without values. Gives the rows of the last one. */
  query: Query;
  close(): Promise<void>;
}

export type Query = (sql: string, values?: readonly Parameter[]) => Promise<readonly Row[]>;

/** A list stands for one column of many rows. */
export type Parameter = Value | readonly Value[];
type Value = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

const connectMs = 4_000;
/** A database that is this long over one statement is treated as gone. */
const statementMs = 30_000;

export async function connect(address: Address): Promise<Connection> {
  try {
    return await open(address, tlsOptions(address));
  } catch (error) {
    // What these two modes mean: encrypted if the server can, and else not.
    const isOptional = address.tls.mode === "prefer" || address.tls.mode === "allow";
    if (isOptional && offersNoTls(error))
      return open(address, false).catch((again: unknown) =>
        Promise.reject(explainFailure(again, address)),
      );
    throw explainFailure(error, address);
  }
}

async function open(
  { host, port, user, password, database }: Address,
  ssl: ConnectionOptions | false,
): Promise<Connection> {
  const client = new pg.Client({
    host,
    port,
    user,
    // As a function, so that no file of the machine's is looked through when there is none.
    password: () => password,
    database,
    ssl,
    application_name: "guildhall",
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    keepAlive: true,
    types,
  });
  // Whatever is asked next fails; there is nothing to do before.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
  return {
    async query(sql, values = []) {
      const result: pg.QueryResult | pg.QueryResult[] = await (values.length === 0
        ? client.query(sql)
        : client.query(numbered(sql), values.map(sendable)));
      return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) ?? [];
    },
    close: () => client.end(),
  };
}

/** `?` is what the other tables write; here they have numbers. */
function numbered(sql: string): string {
  let number = 0;
  return sql.replaceAll("?", () => `$${++number}`);
}

function sendable(value: Parameter): unknown {
  return value instanceof Uint8Array
    ? Buffer.from(value)
    : Array.isArray(value)
      ? value.map(sendable)
      : value;
}

const bigint = 20;

/** Times, sizes and numbers of rows all fit into a number. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((type: number, format?: "text") =>
    type === bigint
      ? Number
      : pg.types.getTypeParser(type, format)) as typeof pg.types.getTypeParser,
};

/** `require` encrypts and trusts whoever answers, unless a root is given; that, and no more, is what libpq makes of it. */
function tlsOptions({ host, tls }: Address): ConnectionOptions | false {
  if (tls.mode === "disable") return false;
  const isChecked =
    tls.mode === "verify-ca" ||
    tls.mode === "verify-full" ||
    (tls.mode === "require" && tls.rootFile !== undefined);
  return {
    // The name the certificate must have, where it is no name but an address.
    host,
    rejectUnauthorized: isChecked,
    ...(tls.mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...filesOf(tls),
  };
}

function filesOf({ rootFile, certificateFile, keyFile }: Tls): ConnectionOptions {
  return {
    ...(rootFile === undefined ? {} : { ca: read(rootFile) }),
    ...(certificateFile === undefined ? {} : { cert: read(certificateFile) }),
    ...(keyFile === undefined ? {} : { key: read(keyFile) }),
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new HallError(
      "UNAVAILABLE",
      `store.url names ${file}, which cannot be read: correct the path`,
      { cause },
    );
  }
}
