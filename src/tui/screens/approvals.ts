import type { PendingApproval } from "../../hall/admin-contract.ts";
import type { Answer } from "../../trust/approvals.ts";
import type { Line } from "../parts/line.ts";
import { elapsed, loadLines } from "../parts/run-state.ts";
import { type Column, tableLines } from "../parts/table.ts";
import { wrap } from "../parts/width.ts";
import { type Reading, readFrom, tellRest } from "../reading.ts";
import type { TuiState } from "../state.ts";
import { type Binding, type Moment, on } from "../view.ts";
import { type BodyProps, bodyRows, neighbour, type Screen } from "./screen.ts";

/** Calls that wait for a person. */
export const approvalsScreen: Screen = { name: "approvals", title: "Approvals", bindings, body };

function bindings({ state }: Moment): readonly Binding[] {
  const { pending, selected } = state.approvals;
  const go = (step: number) => () => {
    const next = neighbour(pending, ({ token }) => token === selected, step);
    return next && ({ kind: "select approval", token: next.token } as const);
  };
  return [...answerBindings(state), on("up k", "up", go(-1)), on("down j", "down", go(1))];
}

/** Yes is among them once the whole call has been in sight. */
function answerBindings(state: TuiState): readonly Binding[] {
  const one = selectedCall(state);
  if (!one) return [];
  const answer = (keys: string, says: string, said: Answer): Binding =>
    on(keys, says, () => ({ kind: "approve", token: one.token, answer: said }));
  const reading = readPreview(one, state);
  const to = (line: number) => () => ({ kind: "scroll", view: scrollName(one), to: line }) as const;
  const page = Math.max(1, reading.lines.length - 1);
  return [
    ...(reading.below === 0 ? [answer("y", "yes, once", "once")] : []),
    answer("n", "no", "no"),
    ...(reading.below === 0
      ? [answer("a", "always", "always"), answer("h", "while this hall runs", "hall")]
      : []),
    ...(reading.isWhole
      ? []
      : [
          on("pagedown", "read on", to(reading.from + page)),
          on("pageup", "read back", to(reading.from - page)),
        ]),
  ];
}

function selectedCall({ approvals: { pending, selected } }: TuiState): PendingApproval | undefined {
  return pending.find(({ token }) => token === selected);
}

function scrollName({ token }: PendingApproval): string {
  return `approval ${token}`;
}

function tableRowsOf(state: TuiState): number {
  return Math.max(2, Math.min(state.approvals.pending.length + 1, Math.floor(bodyRows(state) / 3)));
}

/** Why it is asked, and the call itself. */
function readPreview(one: PendingApproval, state: TuiState): Reading {
  const rows = bodyRows(state) - tableRowsOf(state) - 1;
  return readFrom(`${tellWhy(one)}\n\n${one.preview}`, {
    columns: state.size.columns,
    rows,
    from: state.scrolls[scrollName(one)] ?? 0,
  });
}

/** What the client says of itself stands last on its line: it cannot pass for our words. */
function tellWhy({ why, caller, client }: PendingApproval): string {
  return `Asked because ${why}.\nCalled by ${caller}, which says of itself: ${client}`;
}

function body({ state, now, columns }: BodyProps): readonly Line[] {
  const { pending, selected, load } = state.approvals;
  const tableRows = tableRowsOf(state);
  const table = tableLines({
    columns: columnsOf(now),
    items: pending,
    isSelected: ({ token }) => token === selected,
    width: columns,
    rows: tableRows,
    empty: load.kind === "loaded" ? "No call waits for an answer." : "",
  });
  return [...table, [], ...previewLines(state), ...loadLines(load, columns)];
}

function columnsOf(now: number): readonly Column<PendingApproval>[] {
  return [
    { title: "tool", width: 30, text: ({ tool }) => tool, role: () => "accent" },
    { title: "called by", text: ({ caller, client }) => `${caller}, says ${client}` },
    { title: "waits", width: 11, side: "left", text: ({ askedAt }) => elapsed(now - askedAt) },
    {
      title: "ends in",
      width: 11,
      side: "left",
      text: ({ expiresAt }) => elapsed(expiresAt - now),
    },
  ];
}

function previewLines(state: TuiState): readonly Line[] {
  const one = selectedCall(state);
  if (!one)
    return state.approvals.pending.length > 0
      ? [
          [
            {
              text: "Choose a call with Up and Down: the one that was shown is answered, or gone.",
              role: "quiet",
            },
          ],
        ]
      : [];
  const reading = readPreview(one, state);
  const whyRows = wrap(tellWhy(one), state.size.columns).length;
  const lines = reading.lines.map(
    (text, index): Line => [{ text, role: reading.from + index < whyRows ? "warning" : "plain" }],
  );
  return reading.isWhole
    ? lines
    : [
        ...lines,
        [
          {
            text: `${tellRest(reading)}${reading.below > 0 ? " (yes is possible at its end)" : ""}`,
            role: "warning",
          },
        ],
      ];
}
