import { listLimit } from "./call-row.ts";
import { type Anchor, type ChainedRow, chainHash, prunedKind, verifyChain } from "./chain.ts";
import { auditConditions } from "./conditions.ts";
import { readAudit } from "./read-rows.ts";
import type { Database } from "./sqlite.ts";
import type { AuditEntry, AuditRow, CallFilter, Verification } from "./store.ts";

/** The audit in its table. Another process may have written the last row, so the chain goes on from what the file says, inside the transaction. */
export interface AuditTable {
  append(entry: AuditEntry, at: number): void;
  list(filter: CallFilter): readonly AuditRow[];
  verify(): Verification;
  /** Removes the rows before a time, and writes a row that says so. */
  prune(before: number, now: number): number;
}

export function createAuditTable(database: Database): AuditTable {
  const insert = database.prepare(
    "INSERT INTO audit (seq, at, kind, subject, caller, reason, details, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const findEnd = database.prepare("SELECT seq, hash FROM chain WHERE name = ?");
  const putEnd = database.prepare("UPDATE chain SET seq = ?, hash = ? WHERE name = ?");

  function end(name: "anchor" | "head"): Anchor {
    const row = findEnd.get(name);
    return { seq: Number(row?.seq ?? 0), hash: String(row?.hash ?? "") };
  }

  function append({ kind, subject, caller, reason, details = null }: AuditEntry, at: number): void {
    const head = end("head");
    const row = {
      seq: head.seq + 1,
      at,
      kind,
      subject,
      caller,
      reason,
      details: JSON.stringify(details),
    };
    const hash = chainHash(head.hash, row);
    insert.run(row.seq, at, kind, subject, caller, reason, row.details, hash);
    putEnd.run(row.seq, hash, "head");
  }

  function* walk(): Generator<ChainedRow> {
    // Types as they are stored, not as they should be: a row that was tampered with may hold anything.
    for (const row of database
      .prepare(
        "SELECT seq, at, kind, subject, caller, reason, details, hash FROM audit ORDER BY seq",
      )
      .iterate()) {
      yield row as unknown as ChainedRow;
    }
  }

  return {
    append,
    list(filter) {
      const { where, values } = auditConditions(filter);
      const order = filter.after === undefined ? "DESC" : "ASC";
      const rows = database
        .prepare(`SELECT * FROM audit ${where} ORDER BY seq ${order} LIMIT ?`)
        .all(...values, filter.limit ?? listLimit);
      return (order === "ASC" ? [...rows] : [...rows].reverse()).map(readAudit);
    },
    verify: () => verifyChain(walk(), { anchor: end("anchor"), head: end("head") }),
    prune(before, now) {
      const firstKept =
        database.prepare("SELECT seq FROM audit WHERE at >= ? ORDER BY seq LIMIT 1").get(before)
          ?.seq ?? Number.MAX_SAFE_INTEGER;
      const last = database
        .prepare("SELECT seq, hash FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT 1")
        .get(firstKept);
      if (!last) return 0;
      const anchor: Anchor = { seq: Number(last.seq), hash: String(last.hash) };
      putEnd.run(anchor.seq, anchor.hash, "anchor");
      const { changes } = database.prepare("DELETE FROM audit WHERE seq <= ?").run(anchor.seq);
      append(
        {
          kind: prunedKind,
          subject: "audit",
          caller: "guildhall",
          reason: "older than is kept",
          details: { ...anchor },
        },
        now,
      );
      return Number(changes);
    },
  };
}
