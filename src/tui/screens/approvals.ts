import type { ListedApproval } from "../../hall/admin-contract.ts";
import type { ApprovalAnswer } from "../../trust/approvals.ts";
import { set } from "../events.ts";
import { type ScreenLine, textLine } from "../parts/line.ts";
import { formatDuration, loadLines } from "../parts/run.ts";
import { tableLines } from "../parts/table.ts";
import { describeRest, type TextWindow, windowOf, wrap } from "../parts/text.ts";
import type { TuiState } from "../state.ts";
import {
  bindingsFrom,
  bodyRows,
  type KeyBinding,
  on,
  readBindings,
  type Screen,
  selectBindings,
} from "../view.ts";

/** Calls that wait for the user's approval. */
export const approvalsScreen: Screen = {
  title: "Approvals",

  bindings({ state }) {
    const { pending, selected } = state.approvals;
    return [
      ...answerBindings(state),
      ...selectBindings(pending, ({ token }) => token === selected, {
        select: ({ token }) => set("approvals", { selected: token }),
      }),
    ];
  },

  body({ state, now, columns }) {
    const { pending, selected, load } = state.approvals;
    const table = tableLines({
      columns: [
        { title: "tool", width: 30, text: "tool", role: "accent" },
        { title: "called by", text: ({ caller, client }) => `${caller}, as ${client}` },
        {
          title: "waiting",
          width: 11,
          side: "left",
          text: ({ askedAt }) => formatDuration(now - askedAt),
        },
        {
          title: "expires in",
          width: 11,
          side: "left",
          text: ({ expiresAt }) => formatDuration(expiresAt - now),
        },
      ],
      items: pending,
      isSelected: ({ token }) => token === selected,
      width: columns,
      rows: tableRowsOf(state),
      empty: load.kind === "loaded" ? "No call is waiting for approval." : "",
    });
    return [...table, [], ...previewLines(state), ...loadLines(load, columns)];
  },
};

/** Approving is only possible once the end of the call has been visible. */
function answerBindings(state: TuiState): readonly KeyBinding[] {
  const call = selectedCall(state);
  if (!call) return [];
  const answer = (keys: string, label: string, given: ApprovalAnswer): KeyBinding =>
    on(keys, label, { kind: "approve", token: call.token, answer: given });
  const preview = previewOf(call, state);
  const isRead = preview.below === 0;
  return bindingsFrom(
    isRead && answer("y", "yes, once", "once"),
    answer("n", "no", "no"),
    isRead && [answer("a", "always", "always"), answer("h", "while this hall runs", "hall")],
    readBindings(scrollName(call), preview),
  );
}

function selectedCall({ approvals: { pending, selected } }: TuiState): ListedApproval | undefined {
  return pending.find(({ token }) => token === selected);
}

function scrollName({ token }: ListedApproval): string {
  return `approval ${token}`;
}

function tableRowsOf(state: TuiState): number {
  return Math.max(2, Math.min(state.approvals.pending.length + 1, Math.floor(bodyRows(state) / 3)));
}

/** The reason for the question, and the call. */
function previewOf(call: ListedApproval, state: TuiState): TextWindow {
  return windowOf(`${describeReason(call)}\n\n${call.preview}`, {
    columns: state.size.columns,
    rows: bodyRows(state) - tableRowsOf(state) - 1,
    from: state.scrolls[scrollName(call)] ?? 0,
  });
}

/** The client's own words come last on their line, so they cannot pass for ours. */
function describeReason({ why, caller, client }: ListedApproval): string {
  return `Approval needed: ${why}.\nCalled by ${caller}, which identifies itself as: ${client}`;
}

function previewLines(state: TuiState): readonly ScreenLine[] {
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
