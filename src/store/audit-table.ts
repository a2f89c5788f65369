import type { Json } from "../base/json.ts";
import {
  type Anchor,
  type ChainedRow,
  ChainWalk,
  chainHash,
  chainStart,
  type Ends,
  prunedEntry,
} from "./chain.ts";
import { type Seal, type SealRecord, sealedHash } from "./seal.ts";
import { listRows, type Sql, type SqlRow, storableText } from "./sql.ts";
import type { AuditEntry, AuditRow, CallFilter, Verification } from "./store.ts";

const columns = ["seq", "at", "kind", "subject", "caller", "reason", "details", "hash"];
const insertRows = `INSERT INTO audit (${columns.join(", ")}) {rows}`;

export interface DatedEntry {
  readonly entry: AuditEntry;
  readonly at: number;
}

/** Continues the chain from its last row, whichever process wrote that. Returns how far it goes now. */
export async function appendAudit(
  sql: Sql,
  entries: readonly DatedEntry[],
  seal: Seal,
): Promise<SealRecord> {
  const { head, sealed } = await readEnds(sql);
  let { seq, hash } = head;
  const key = sealed && (await seal.key());
  const rows = entries.map(({ entry, at }) => {
    const row = { seq: ++seq, at, ...storableEntry(entry) };
    hash = chainHash(hash, row, key);
    return [seq, at, row.kind, row.subject, row.caller, row.reason, row.details, hash];
  });
  await sql.withRows(columns, rows, insertRows);
  await writeEnd(sql, "head", { seq, hash });
  return markOf(sealed, { seq, hash });
}

function markOf(sealed: Anchor | undefined, { seq, hash }: Anchor): SealRecord {
  return { store: sealed?.hash ?? "", seq, hash };
}

/** Why the store is not the one that was written up to the mark; undefined if it is. */
export async function findSetBack(
  sql: Sql,
  mark: SealRecord | undefined,
): Promise<string | undefined> {
  if (!mark) return undefined;
  const { anchor, head, sealed } = await readEnds(sql);
  if (mark.store !== (sealed?.hash ?? "")) return "was replaced by another one";
  if (head.seq < mark.seq)
    return `was set back: its last decision is row ${head.seq}, and row ${mark.seq} was written`;
  const known = [chainStart, anchor, head].find(({ seq }) => seq === mark.seq);
  if (mark.seq < anchor.seq || known?.hash === mark.hash) return undefined;
  const [row] = await sql.query("SELECT hash FROM audit WHERE seq = ?", [mark.seq]);
  return !known && row?.hash === mark.hash ? undefined : `was changed at row ${mark.seq}`;
}

export async function listAudit(sql: Sql, filter: CallFilter): Promise<readonly AuditRow[]> {
  const { tool, outcome, person } = filter;
  const rows = await listRows(sql, filter, {
    table: "audit",
    columns: columns.slice(1),
    conditions: [
      tool !== undefined && ["subject = ?", tool],
      outcome !== undefined && ["kind = ?", outcome],
      person !== undefined && ["caller = ?", person],
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
export async function verifyAudit(sql: Sql, seal: Seal): Promise<Verification> {
  const ends = await readEnds(sql);
  const { sealed } = ends;
  if (sealed && (await findSealer(sql, seal)) !== "us") {
    const reason = "the rows from here on have the key of another user, who can check them";
    return { rows: 0, head: ends.head.hash || null, broken: { seq: sealed.seq + 1, reason } };
  }
  const since = sealed && { seq: sealed.seq, hash: sealedHash(sealed.hash) };
  const walk = new ChainWalk(ends, since && { since, key: await seal.key() });
  for await (const page of readPages(sql))
    for (const row of page) {
      const broken = walk.step(row);
      if (broken) return broken;
    }

  const found = walk.end();
  if (found.broken) return found;
  const mark = await seal.readMark();
  const what = await findSetBack(sql, mark);
  return what === undefined
    ? found
    : { ...found, broken: { seq: mark?.seq ?? 0, reason: `the store ${what}` } };
}

async function* readPages(sql: Sql): AsyncGenerator<readonly ChainedRow[]> {
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const page = (await sql.query(
      `SELECT ${columns.join(", ")} FROM audit WHERE seq > ? ORDER BY seq LIMIT ?`,
      [last, pageRows],
    )) as unknown as readonly ChainedRow[];
    yield page;
    if (page.length < pageRows) return;
    last = page.at(-1)?.seq ?? last;
  }
}

/** The audit that was moved: its store, and its last row there. */
export interface Move extends Anchor {
  readonly store: string;
}

/** Copies the rows with new hashes, without a key, and appends a row with the last hash of the old chain. */
export async function moveAudit(
  from: Sql,
  to: Sql,
  { move, seal, onRows }: { readonly move: Move; readonly seal: Seal; onRows(count: number): void },
): Promise<void> {
  const { anchor } = await readEnds(from);
  let { seq, hash } = anchor;
  await writeEnd(to, "anchor", anchor);
  for await (const page of readPages(from)) {
    const rows = page.map((row) => {
      seq = row.seq;
      hash = chainHash(hash, row);
      return [seq, row.at, row.kind, row.subject, row.caller, row.reason, row.details, hash];
    });
    await to.withRows(columns, rows, insertRows);
    onRows(rows.length);
  }
  await writeEnd(to, "head", { seq, hash });
  const reason = "from a file; details name its last row and the hash it had there";
  const entry = { kind: "moved", subject: "store", caller: "guildhall", reason };
  await appendAudit(to, [{ entry: { ...entry, details: { ...move } }, at: Date.now() }], seal);
}

/** Removes rows older than a time and appends a row that says so. */
export async function pruneAudit(
  sql: Sql,
  { before, now, seal }: { readonly before: number; readonly now: number; readonly seal: Seal },
): Promise<number> {
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
  const entry = prunedEntry(anchor, "older than the retention period");
  await appendAudit(sql, [{ entry, at: now }], seal);
  return removed;
}

export async function readEnds(sql: Sql): Promise<Ends> {
  const rows = await sql.query("SELECT name, seq, hash FROM chain");
  const ends = new Map(
    rows.map(({ name, seq, hash }) => [name, { seq: Number(seq), hash: String(hash) }]),
  );
  const { anchor = chainStart, head = chainStart, sealed } = Object.fromEntries(ends);
  return { anchor, head, sealed };
}

/**
 * Everything after the last row is keyed from now on, and the rows up to it are sealed. Does
 * nothing if the chain has a key.
 */
export async function sealChain(sql: Sql, seal: Seal): Promise<void> {
  const { head, sealed } = await readEnds(sql);
  if (!sealed)
    await sql.change("INSERT INTO chain VALUES ('sealed', ?, ?)", [
      head.seq,
      await seal.name(head),
    ]);
}

/** Finds out who sealed the audit chain with a key. */
export async function findSealer(sql: Sql, seal: Seal): Promise<"nobody" | "us" | "somebody else"> {
  const { sealed } = await readEnds(sql);
  if (!sealed) return "nobody";
  return (await seal.isOwn(sealed.hash, sealed.seq)) ? "us" : "somebody else";
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
