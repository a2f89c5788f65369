import { Box } from "ink";
import type { ReactElement } from "react";
import type { PendingApproval } from "../../admin/contract.ts";
import type { Answer } from "../../trust/approvals.ts";
import { type Line, Lines } from "../parts/line.tsx";
import { elapsed, loadLines } from "../parts/run-state.ts";
import { type Column, Table } from "../parts/table.tsx";
import { wrap } from "../parts/width.ts";
import { type Binding, type Moment, on } from "../view.ts";
import { type BodyProps, neighbour, type Screen } from "./screen.ts";

/** Calls that wait for a person. */
export const approvalsScreen: Screen = { name: "approvals", title: "Approvals", bindings, Body };

function bindings({ state: { approvals } }: Moment): readonly Binding[] {
  const { pending, selected } = approvals;
  const go = (step: number) => () => {
    const next = neighbour(pending, ({ token }) => token === selected, step);
    return next && ({ kind: "select approval", token: next.token } as const);
  };
  const one = pending.find(({ token }) => token === selected);
  const answer = (keys: string, says: string, said: Answer): Binding => on(keys, says, () => one && { kind: "approve", token: one.token, answer: said });
  return [
    ...(one ? [answer("y", "yes, once", "once"), answer("n", "no", "no"), answer("a", "always", "always"), answer("h", "while this hall runs", "hall")] : []),
    on("up k", "up", go(-1)),
    on("down j", "down", go(1)),
  ];
}

function Body({ state, now, columns, rows }: BodyProps): ReactElement {
  const { pending, selected, load } = state.approvals;
  const one = pending.find(({ token }) => token === selected);
  const tableRows = Math.max(2, Math.min(pending.length + 1, Math.floor(rows / 2)));
  const below = [...(one ? previewLines(one, columns) : []), ...loadLines(load, columns)];
  return (
    <Box flexDirection="column">
      <Table
        columns={columnsOf(now)}
        items={pending}
        isSelected={({ token }) => token === selected}
        width={columns}
        rows={tableRows}
        empty={load.kind === "loaded" ? "No call waits for an answer." : ""}
      />
      <Lines lines={[[], ...below]} columns={columns} rows={rows - tableRows} />
    </Box>
  );
}

function columnsOf(now: number): readonly Column<PendingApproval>[] {
  return [
    { title: "tool", width: 30, text: ({ tool }) => tool, role: () => "accent" },
    { title: "called by", text: ({ caller }) => caller },
    { title: "waits", width: 11, side: "left", text: ({ askedAt }) => elapsed(now - askedAt) },
    { title: "ends in", width: 11, side: "left", text: ({ expiresAt }) => elapsed(expiresAt - now) },
  ];
}

function previewLines({ why, preview }: PendingApproval, columns: number): readonly Line[] {
  return [
    ...wrap(`Asked because ${why}.`, columns).map((text): Line => [{ text, role: "warning" }]),
    [],
    ...wrap(preview, columns).map((text): Line => [{ text }]),
  ];
}
