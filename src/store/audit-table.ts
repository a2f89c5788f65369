import type { Json } from "../base/json.ts";
import { type Anchor, type ChainedRow, ChainWalk, chainHash, prunedEntry } from "./chain.ts";
import { listRows, type Sql, type SqlRow, storableText } from "./sql.ts";
import type { AuditEntry, AuditRow, CallFilter, Verification } from "./store.ts";

const columns = ["seq", "at", "kind", "subject", "caller", "reason", "details", "hash"];
const insertRows = `INSERT INTO audit (${columns.join(", ")}) {rows}`;

export interface DatedEntry {
  readonly entry: AuditEntry;
  readonly at: number;
}

/** Continues the chain from its last row, whichever process wrote that. */
export async function appendAudit(sql: Sql, entries: readonly DatedEntry[]): Promise<void> {
  if (entries.length === 0) return;
  let { seq, hash } = await readEnd(sql, "head");
  const rows = entries.map(({ entry, at }) => {
    const row = { seq: ++seq, at, ...storableEntry(entry) };
    hash = chainHash(hash, row);
    return [seq, at, row.kind, row.subject, row.caller, row.reason, row.details, hash];
  });
  await sql.withRows(columns, rows, insertRows);
  await writeEnd(sql, "head", { seq, hash });
}

export async function listAudit(sql: Sql, filter: CallFilter): Promise<readonly AuditRow[]> {
  const { tool, outcome } = filter;
  const rows = await listRows(sql, filter, {
    table: "audit",
    columns: columns.slice(1),
    conditions: [
      tool !== undefined && ["subject = ?", tool],
      outcome !== undefined && ["kind = ?", outcome],
    ],
  });
  return rows.map(readRow);
}

function readRow(row: SqlRow): AuditRow {
  return { ...row, details: readDetails(String(row.details)) } as unknown as AuditRow;
}

function readDetails(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // The row was tampered with: `verify` reports it, and a list shows the text as it is.
    return text;
  }
}

const pageRows = 5_000;

/** Reads page by page, because the audit may not fit into memory. */
export async function verifyAudit(sql: Sql): Promise<Verification> {
  const walk = new ChainWalk(await readEnd(sql, "anchor"), await readEnd(sql, "head"));
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const page = (await sql.query(
      `SELECT ${columns.join(", ")} FROM audit WHERE seq > ? ORDER BY seq LIMIT ?`,
      [last, pageRows],
    )) as unknown as readonly ChainedRow[];
    for (const row of page) {
      const broken = walk.step(row);
      if (broken) return broken;
    }
    if (page.length < pageRows) return walk.end();
    last = page.at(-1)?.seq ?? last;
  }
}

/** Removes rows older than a time and appends a row that says so. */
export async function pruneAudit(sql: Sql, before: number, now: number): Promise<number> {
  const [last] = await sql.query(
    `SELECT seq, hash FROM audit
     WHERE seq < coalesce((SELECT seq FROM audit WHERE at >= ? ORDER BY seq LIMIT 1), 9223372036854775807)
     ORDER BY seq DESC LIMIT 1`,
    [before],
  );
  if (!last) return 0;

  const anchor: Anchor = { seq: Number(last.seq), hash: String(last.hash) };
  await writeEnd(sql, "anchor", anchor);
  const removed = await sql.change("DELETE FROM audit WHERE seq <= ?", [anchor.seq]);
  await appendAudit(sql, [
    { entry: prunedEntry(anchor, "older than the retention period"), at: now },
  ]);
  return removed;
}

async function readEnd(sql: Sql, name: "anchor" | "head"): Promise<Anchor> {
  const [row] = await sql.query("SELECT seq, hash FROM chain WHERE name = ?", [name]);
  return { seq: Number(row?.seq ?? 0), hash: String(row?.hash ?? "") };
}

async function writeEnd(sql: Sql, name: "anchor" | "head", { seq, hash }: Anchor): Promise<void> {
  await sql.change("UPDATE chain SET seq = ?, hash = ? WHERE name = ?", [seq, hash, name]);
}

function storableEntry({ kind, subject, caller, reason, details = null }: AuditEntry) {
  return {
    kind: storableText(kind),
    subject: storableText(subject),
    caller: storableText(caller),
    reason: storableText(reason),
    details: storableText(JSON.stringify(details)),
  };
}
