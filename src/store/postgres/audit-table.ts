import { listLimit } from "../call-row.ts";
import { type Anchor, type ChainedRow, chainHash, createChainWalk, prunedKind } from "../chain.ts";
import { auditConditions } from "../conditions.ts";
import { readAudit } from "../read-rows.ts";
import type { AuditEntry, AuditRow, CallFilter, Verification } from "../store.ts";
import { insertRows, storableText } from "./columns.ts";
import type { Query } from "./connection.ts";

/** One chain for all halls: whoever appends has kept the others out, and goes on from the last row, whoever wrote it. */
export interface Dated {
  readonly entry: AuditEntry;
  readonly at: number;
}

const columns = "seq, at, kind, subject, caller, reason, details, hash";
const types = ["bigint", "bigint", "text", "text", "text", "text", "text", "text"];

export async function appendAudit(query: Query, entries: readonly Dated[]): Promise<void> {
  if (entries.length === 0) return;
  let { seq, hash } = await findEnd(query, "head");
  const rows = entries.map(({ entry, at }) => {
    const row = { seq: ++seq, at, ...textsOf(entry) };
    hash = chainHash(hash, row);
    return [seq, at, row.kind, row.subject, row.caller, row.reason, row.details, hash];
  });
  await insertRows(query, "audit", { columns, types, rows });
  await putEnd(query, "head", { seq, hash });
}

export async function listAudit(query: Query, filter: CallFilter): Promise<readonly AuditRow[]> {
  const { where, values } = auditConditions(filter);
  const order = filter.after === undefined ? "DESC" : "ASC";
  const rows = await query(`SELECT ${columns} FROM audit ${where} ORDER BY seq ${order} LIMIT ?`, [
    ...values,
    filter.limit ?? listLimit,
  ] as never);
  return (order === "ASC" ? [...rows] : [...rows].reverse()).map(readAudit);
}

const pageRows = 5_000;

/** Inside a transaction that sees one moment, page by page: there may be more rows than there is memory. */
export async function verifyAudit(query: Query): Promise<Verification> {
  const walk = createChainWalk({
    anchor: await findEnd(query, "anchor"),
    head: await findEnd(query, "head"),
  });
  for (let last: number | null = null; ; ) {
    const page = (await query(
      `SELECT ${columns} FROM audit WHERE ?::bigint IS NULL OR seq > ? ORDER BY seq LIMIT ?`,
      [last, last, pageRows],
    )) as unknown as readonly ChainedRow[];
    for (const row of page) {
      const broken = walk.step(row);
      if (broken) return broken;
    }
    if (page.length < pageRows) return walk.end();
    last = page.at(-1)?.seq ?? null;
  }
}

/** Removes the rows before a time, and writes a row that says so. */
export async function pruneAudit(query: Query, before: number, now: number): Promise<number> {
  const [last] = await query(
    "SELECT seq, hash FROM audit WHERE seq < coalesce((SELECT min(seq) FROM audit WHERE at >= ?), 9223372036854775807) ORDER BY seq DESC LIMIT 1",
    [before],
  );
  if (!last) return 0;
  const anchor: Anchor = { seq: Number(last.seq), hash: String(last.hash) };
  await putEnd(query, "anchor", anchor);
  const [gone] = await query(
    "WITH gone AS (DELETE FROM audit WHERE seq <= ? RETURNING 1) SELECT count(*) AS rows FROM gone",
    [anchor.seq],
  );
  await appendAudit(query, [
    {
      entry: {
        kind: prunedKind,
        subject: "audit",
        caller: "guildhall",
        reason: "older than is kept",
        details: { ...anchor },
      },
      at: now,
    },
  ]);
  return Number(gone?.rows ?? 0);
}

async function findEnd(query: Query, name: "anchor" | "head"): Promise<Anchor> {
  const [row] = await query("SELECT seq, hash FROM chain WHERE name = ?", [name]);
  return { seq: Number(row?.seq ?? 0), hash: String(row?.hash ?? "") };
}

async function putEnd(query: Query, name: "anchor" | "head", { seq, hash }: Anchor): Promise<void> {
  await query("UPDATE chain SET seq = ?, hash = ? WHERE name = ?", [seq, hash, name]);
}

/** As they will be read again: a hash covers what is in the row, not what was meant to be. */
function textsOf({
  kind,
  subject,
  caller,
  reason,
  details = null,
}: AuditEntry): Pick<ChainedRow, "kind" | "subject" | "caller" | "reason" | "details"> {
  const [a, b, c, d, e] = [kind, subject, caller, reason, JSON.stringify(details)].map(
    storableText,
  ) as [string, string, string, string, string];
  return { kind: a, subject: b, caller: c, reason: d, details: e };
}
