import type { PendingApproval } from "../../hall/admin-contract.ts";
import type { ApprovalAnswer } from "../../trust/approvals.ts";
import { type Line, textLine } from "../parts/line.ts";
import { formatDuration, loadLines } from "../parts/run.ts";
import { type Column, tableLines } from "../parts/table.ts";
import { describeRest, type TextWindow, windowOf, wrap } from "../parts/text.ts";
import type { TuiState } from "../state.ts";
import {
  type BodyOptions,
  bindingsFrom,
  bodyRows,
  type KeyBinding,
  on,
  type Screen,
  type Snapshot,
  selectBindings,
} from "../view.ts";

/** Calls that wait for the user's approval. */
export const approvalsScreen: Screen = { name: "approvals", title: "Approvals", bindings, body };

function bindings({ state }: Snapshot): readonly KeyBinding[] {
  const { pending, selected } = state.approvals;
  return [
    ...answerBindings(state),
    ...selectBindings(pending, ({ token }) => token === selected, {
      select: ({ token }) => ({ kind: "select approval", token }),
    }),
  ];
}

/** Approving is only possible once the end of the call has been visible. */
function answerBindings(state: TuiState): readonly KeyBinding[] {
  const call = selectedCall(state);
  if (!call) return [];
  const answer = (keys: string, label: string, given: ApprovalAnswer): KeyBinding =>
    on(keys, label, () => ({ kind: "approve", token: call.token, answer: given }));
  const { below, from, lines, isWhole } = previewOf(call, state);
  const to = (line: number) => () =>
    ({ kind: "scroll", view: scrollName(call), to: line }) as const;
  const page = Math.max(1, lines.length - 1);
  return bindingsFrom(
    below === 0 && answer("y", "yes, once", "once"),
    answer("n", "no", "no"),
    below === 0 && [answer("a", "always", "always"), answer("h", "while this hall runs", "hall")],
    !isWhole && [
      on("pagedown", "read on", to(from + page)),
      on("pageup", "read back", to(from - page)),
    ],
  );
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

/** The reason for the question, and the call. */
function previewOf(call: PendingApproval, state: TuiState): TextWindow {
  return windowOf(`${describeReason(call)}\n\n${call.preview}`, {
    columns: state.size.columns,
    rows: bodyRows(state) - tableRowsOf(state) - 1,
    from: state.scrolls[scrollName(call)] ?? 0,
  });
}

/** The client's own words come last on their line, so they cannot pass for ours. */
function describeReason({ why, caller, client }: PendingApproval): string {
  return `Approval needed: ${why}.\nCalled by ${caller}, which identifies itself as: ${client}`;
}

function body({ state, now, columns }: BodyOptions): readonly Line[] {
  const { pending, selected, load } = state.approvals;
  const table = tableLines({
    columns: columnsOf(now),
    items: pending,
    isSelected: ({ token }) => token === selected,
    width: columns,
    rows: tableRowsOf(state),
    empty: load.kind === "loaded" ? "No call is waiting for approval." : "",
  });
  return [...table, [], ...previewLines(state), ...loadLines(load, columns)];
}

function columnsOf(now: number): readonly Column<PendingApproval>[] {
  const waiting = ({ askedAt }: PendingApproval): string => formatDuration(now - askedAt);
  const left = ({ expiresAt }: PendingApproval): string => formatDuration(expiresAt - now);
  return [
    { title: "tool", width: 30, text: ({ tool }) => tool, role: () => "accent" },
    { title: "called by", text: ({ caller, client }) => `${caller}, as ${client}` },
    { title: "waiting", width: 11, side: "left", text: waiting },
    { title: "expires in", width: 11, side: "left", text: left },
  ];
}

function previewLines(state: TuiState): readonly Line[] {
  const call = selectedCall(state);
  if (!call) {
    const text = "That call was answered or has expired. Select another one with Up and Down.";
    return state.approvals.pending.length > 0 ? [textLine(text, "quiet")] : [];
  }
  const preview = previewOf(call, state);
  const reasonRows = wrap(describeReason(call), state.size.columns).length;
  const lines = preview.lines.map((text, index) =>
    textLine(text, preview.from + index < reasonRows ? "warning" : "plain"),
  );
  if (preview.isWhole) return lines;
  const note = preview.below > 0 ? " (read to the end to approve)" : "";
  return [...lines, textLine(describeRest(preview) + note, "warning")];
}
