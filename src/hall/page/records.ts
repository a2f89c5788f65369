import type { AuditRow, Verification } from "../../store/store.ts";
import type { Grant } from "../../trust/ledger.ts";
import type { Area, PageParts } from "./area.ts";

/** The audit, its chain, and what people have granted. */
export interface RecordMethods {
  audit: {
    params: {
      readonly subject?: string | undefined;
      readonly kind?: string | undefined;
      readonly after?: number | undefined;
    };
    /** Newest first. */
    result: { readonly rows: readonly AuditRow[] };
  };
  verifyAudit: { params: Record<string, never>; result: Verification };
  grants: {
    params: Record<string, never>;
    result: {
      readonly grants: readonly (Pick<Grant, "grantedAt" | "until"> & { readonly tool: string })[];
      readonly servers: readonly { readonly server: string; readonly reviewedAt: number }[];
    };
  };
}

const rowsMax = 1_000;

export function recordArea({ hall }: PageParts): Area<RecordMethods> {
  return {
    audit: {
      scope: "admin",
      fields: { subject: "string?", kind: "string?", after: "number?" },
      async run({ subject, kind, after }) {
        const filter = { tool: subject, outcome: kind, after, limit: rowsMax };
        return { rows: [...(await hall.store.audit.list(filter))].reverse() };
      },
    },
    verifyAudit: { scope: "admin", run: () => hall.store.audit.verify() },
    grants: {
      scope: "admin",
      async run() {
        hall.trust?.refresh();
        const { grants = {}, servers = {} } = hall.trust?.entries() ?? {};
        return {
          grants: Object.entries(grants).map(([tool, { grantedAt, until }]) => ({
            tool,
            grantedAt,
            until,
          })),
          servers: Object.entries(servers).map(([server, { reviewedAt }]) => ({
            server,
            reviewedAt,
          })),
        };
      },
    },
  };
}
