import type { AuditRow, AuditStore } from "../../store/store.ts";
import { method, type PageParts } from "./area.ts";

const rowsMax = 1_000;
const decisionsMax = 10_000;
/** A decision is in the audit within a moment of its time in the ledger. */
const apartMsMax = 60_000;

/** The audit, its chain, and what people have granted. */
export function recordArea({ hall }: PageParts) {
  return {
    /** Newest first. */
    audit: method(
      "admin",
      { subject: "string?", kind: "string?", after: "number?" },
      async ({ subject, kind, after }) => {
        const filter = { tool: subject, outcome: kind, after, limit: rowsMax };
        return { rows: [...(await hall.store.audit.list(filter))].reverse() };
      },
    ),
    verifyAudit: method("admin", {}, () => hall.store.audit.verify()),
    grants: method("admin", {}, async () => {
      hall.trust?.refresh();
      const { grants = {}, servers = {} } = hall.trust?.entries() ?? {};
      const decisions = await listDecisions(hall.store.audit);
      return {
        grants: Object.entries(grants).map(([tool, { grantedAt, until }]) => ({
          tool,
          grantedAt,
          until,
          by: callerOf(decisions, tool, grantedAt),
        })),
        servers: Object.entries(servers).map(([server, { reviewedAt }]) => ({
          server,
          reviewedAt,
          by: callerOf(decisions, server, reviewedAt),
        })),
      };
    }),
  };
}

/** The decisions of people. The ledger has their time but not who made them. */
async function listDecisions(audit: AuditStore): Promise<readonly AuditRow[]> {
  const kinds = ["granted", "answered", "reviewed"];
  const rows = await Promise.all(
    kinds.map((outcome) => audit.list({ outcome, limit: decisionsMax })),
  );
  return rows.flat();
}

function callerOf(
  decisions: readonly AuditRow[],
  subject: string,
  decidedAt: number,
): string | undefined {
  const [nearest] = decisions
    .filter((row) => row.subject === subject)
    .map((row) => ({ caller: row.caller, apart: Math.abs(row.at - decidedAt) }))
    .filter(({ apart }) => apart < apartMsMax)
    .sort((a, b) => a.apart - b.apart);
  return nearest?.caller;
}
