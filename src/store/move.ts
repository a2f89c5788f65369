import { HallError } from "../base/errors.ts";
import { findSetBack, type Move, moveAudit, readEnds, verifyAudit } from "./audit-table.ts";
import { callColumns } from "./calls.ts";
import { PostgresEngine } from "./postgres/engine.ts";
import { Seal, type SealOptions, StoreChanged } from "./seal.ts";
import type { Sql, SqlRow, SqlValue } from "./sql.ts";
import { SqliteEngine } from "./sqlite-engine.ts";
import type { Verification } from "./store.ts";

/** The rows of a store by kind. */
export interface RowCounts {
  readonly calls: number;
  readonly audit: number;
  readonly documents: number;
  readonly statistics: number;
}

export interface Moved {
  readonly rows: RowCounts;
  /** The hash of the last row of the audit in the database. */
  readonly head: string | null;
  /** True if an earlier attempt had moved everything. */
  readonly wasMoved: boolean;
}

export interface MoveOptions {
  readonly path: string;
  readonly url: string;
  /** The records of the file and of the database in the user's data folder. */
  readonly seals: Readonly<Record<"file" | "database", Omit<SealOptions, "notify">>>;
  notify(message: string): void;
  onProgress(done: number, total: number): void;
}

/**
 * Copies a file's rows into an empty database, in one transaction: all of them or none. The file stays as it is, and
 * is locked meanwhile. The audit gets new hashes, because the file's are keyed and a database has no key.
 */
export async function moveStore(options: MoveOptions): Promise<Moved> {
  const { path, url, seals, notify } = options;
  const fileSeal = new Seal({ ...seals.file, notify });
  const seal = new Seal({ ...seals.database, notify });
  const file = new SqliteEngine({ path, isReader: true, seal: fileSeal, notify });
  const database = new PostgresEngine(url);
  try {
    return await file.write(async (from) => {
      requireIntact(await verifyAudit(from, fileSeal), "file");
      const move = await describeMove(from);
      const moved = await database.write((to) => moveRows(from, to, { move, seal, options }));
      const { head } = await database.read(readEnds);
      await seal.saveMark({ store: "", ...head });
      return moved;
    });
  } finally {
    await Promise.all([file.close(), database.close()]);
  }
}

function requireIntact(verification: Verification, where: "file" | "database"): Verification {
  const { broken } = verification;
  if (broken)
    throw new HallError(
      "EXECUTION",
      `the audit of the ${where} is broken at row ${broken.seq}: ${broken.reason}`,
      { hint: "Nothing was moved. Find out who can write to it." },
    );
  return verification;
}

/** The name of a store without its signature, which must not leave the machine. */
async function describeMove(from: Sql): Promise<Move> {
  const { head, sealed } = await readEnds(from);
  return { store: sealed?.hash.split(".")[0] ?? "", ...head };
}

interface Moving {
  readonly move: Move;
  readonly seal: Seal;
  readonly options: MoveOptions;
}

async function moveRows(from: Sql, to: Sql, { move, seal, options }: Moving): Promise<Moved> {
  const found = await countRows(to);
  const isEmpty = sum(found) === 0 && (await readEnds(to)).head.seq === 0;
  if (!isEmpty) {
    await requireSameMove(to, move);
    const { head } = requireIntact(await verifyAudit(to, seal), "database");
    return { rows: found, head, wasMoved: true };
  }
  const what = await findSetBack(to, await seal.readMark());
  if (what !== undefined) throw new StoreChanged(what);

  const rows = await countRows(from);
  const total = sum(rows);
  let done = 0;
  const onRows = (count: number): void => {
    done += count;
    options.onProgress(done, total);
  };
  for (const table of tables) await copyTable(from, to, table, onRows);
  await moveAudit(from, to, { move, seal, onRows });
  await moveCounters(from, to);

  const { head } = requireIntact(await verifyAudit(to, seal), "database");
  const copied = await countRows(to);
  // One more: the row about the move.
  const expected = { ...rows, audit: rows.audit + 1 };
  if (JSON.stringify(copied) !== JSON.stringify(expected))
    throw new HallError("INTERNAL", "the database has other rows than the file", {
      details: { expected, copied },
    });
  return { rows: copied, head, wasMoved: false };
}

/** Throws CONFLICT unless the rows in the database are those of this file as it is now, from an earlier attempt. */
async function requireSameMove(to: Sql, move: Move): Promise<void> {
  const rows = await to.query("SELECT details FROM audit WHERE kind = 'moved' ORDER BY seq");
  const moves = rows.map(({ details }) => JSON.parse(String(details)) as Move);
  const earlier = moves.find(({ store }) => store === move.store);
  if (!earlier)
    throw new HallError("CONFLICT", "the database already has rows of another store", {
      hint: "Name another database, or another schema of it with ?schema=NAME.",
    });
  if (earlier.hash !== move.hash)
    throw new HallError("CONFLICT", "the file has new rows since it was moved to this database", {
      hint: "Keep the file: its rows up to then are in the database, and the newer ones only in the file.",
    });
}

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The first columns, in whose order the rows are read. */
  readonly keyLength: number;
}

const tables: readonly Table[] = [
  { name: "calls", columns: ["seq", ...callColumns], keyLength: 1 },
  { name: "running", columns: ["seq", "writer"], keyLength: 1 },
  {
    name: "spans",
    columns:
      "span start tool toolkit calls errors cancelled timeouts bytes_in bytes_out ms histogram".split(
        " ",
      ),
    keyLength: 3,
  },
  { name: "documents", columns: ["shelf", "key", "body", "expires_at"], keyLength: 2 },
];

/** Rows may contain complete results, so a page is small. */
const pageRows = 1_000;

async function copyTable(
  from: Sql,
  to: Sql,
  { name, columns, keyLength }: Table,
  onRows: (count: number) => void,
): Promise<void> {
  const key = columns.slice(0, keyLength);
  const after = `(${key.join(", ")}) > (${key.map(() => "?").join(", ")})`;
  const numbering = name === "calls" ? "OVERRIDING SYSTEM VALUE" : "";
  const insert = `INSERT INTO ${name} (${columns.join(", ")}) ${numbering} {rows}`;
  for (let last: readonly SqlValue[] | undefined; ; ) {
    const page: readonly SqlRow[] = await from.query(
      `SELECT ${columns.join(", ")} FROM ${name} ${last ? `WHERE ${after}` : ""}
       ORDER BY ${key.join(", ")} LIMIT ?`,
      [...(last ?? []), pageRows],
    );
    const rows = page.map((row) => columns.map((column) => row[column] ?? null));
    await to.withRows(columns, rows, insert);
    if (name !== "running") onRows(rows.length);
    if (rows.length < pageRows) return;
    last = rows.at(-1)?.slice(0, keyLength);
  }
}

/** Calls that are counted already are not counted again, and new ones get numbers after them. */
async function moveCounters(from: Sql, to: Sql): Promise<void> {
  const [last] = await from.query(
    "SELECT seq AS counted, max(seq, (SELECT coalesce(max(seq), 0) FROM calls)) AS number FROM counted",
  );
  await to.change("UPDATE counted SET seq = ?", [Number(last?.counted ?? 0)]);
  const number = Number(last?.number ?? 0);
  if (number > 0)
    await to.query("SELECT setval(pg_get_serial_sequence('calls', 'seq'), ?)", [number]);
}

async function countRows(sql: Sql): Promise<RowCounts> {
  const [counts] = await sql.query(
    `SELECT (SELECT count(*) FROM calls) AS calls, (SELECT count(*) FROM audit) AS audit,
       (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM spans) AS statistics`,
  );
  const count = (name: keyof RowCounts): number => Number(counts?.[name] ?? 0);
  return {
    calls: count("calls"),
    audit: count("audit"),
    documents: count("documents"),
    statistics: count("statistics"),
  };
}

function sum({ calls, audit, documents, statistics }: RowCounts): number {
  return calls + audit + documents + statistics;
}
