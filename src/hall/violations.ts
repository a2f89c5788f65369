import { visible } from "../base/sanitize.ts";
import type { AuditEntry } from "../store/store.ts";
import type { Denial } from "../upstream/sandbox/denials.ts";

/** Accesses that sandboxes denied since this hall started, each once in the audit and in the server's log. */
export interface Violations {
  add(server: string, denial: Denial): void;
  of(server: string): readonly Denial[];
}

/** More of one server are not recorded: it could fill the audit. */
const denialsMax = 100;

export const violationKind = "confined";

export function createViolations({
  said,
  note,
}: {
  said(server: string, line: string): void;
  note(entry: AuditEntry): Promise<void>;
}): Violations {
  const known = new Map<string, Denial[]>();
  return {
    add(server, denial) {
      const seen = known.get(server) ?? [];
      const isKnown = seen.some(({ kind, what }) => kind === denial.kind && what === denial.what);
      if (isKnown || seen.length >= denialsMax) return;
      known.set(server, [...seen, denial]);
      const { kind, what } = denial;
      const reason = `sandbox denied: ${kind} ${visible(what)}`;
      said(server, `guildhall: ${reason}`);
      void note({
        kind: violationKind,
        subject: server,
        caller: `server ${server}`,
        reason,
        details: { kind, what },
      });
    },
    of: (server) => known.get(server) ?? [],
  };
}
