import {
  fitRows,
  type Role,
  renderLines,
  type ScreenLine,
  type TextSpan,
  textLine,
  wrapLines,
} from "./parts/line.ts";
import { questionLines } from "./parts/question.ts";
import { formatDuration } from "./parts/run.ts";
import { cut, pad, widthOf } from "./parts/text.ts";
import { bindingsOf, editingOf, layerOf, ownBindings, tabsOf } from "./press.ts";
import { screens } from "./screens/screens.ts";
import { type HallConnectionState, isAtWork, type TargetView, type TuiState } from "./state.ts";
import {
  type BodyOptions,
  bodyRows,
  type KeyBinding,
  noticeTexts,
  type Snapshot,
  showKey,
} from "./view.ts";

const columnsMin = 40;
const rowsMin = 12;

/** The whole terminal as text: exactly as many lines as it has rows. */
export function drawFrame(snapshot: Snapshot, hasColours: boolean): string {
  return renderLines(frameLines(snapshot), snapshot.state.size.columns, hasColours);
}

function frameLines(snapshot: Snapshot): readonly ScreenLine[] {
  const { columns, rows } = snapshot.state.size;
  if (columns < columnsMin || rows < rowsMin) {
    const text = `The terminal is smaller than ${columnsMin}x${rowsMin}.`;
    return fitRows(wrapLines(text, Math.max(1, columns)), rows);
  }
  const body = { ...snapshot, columns, rows: bodyRows(snapshot.state) };
  return [
    ...headerLines(snapshot.state, snapshot.now),
    ...fitRows(bodyLines(body), body.rows),
    ...noticeLines(snapshot),
    hintsLine(snapshot),
  ];
}

function bodyLines(props: BodyOptions): readonly ScreenLine[] {
  const { state, columns } = props;
  switch (layerOf(props)) {
    case "confirmation":
      return wrapLines(state.confirmation?.message ?? "", columns, "warning");
    case "question":
      return questionLines(props);
    case "help":
      return helpLines(props);
    case "screen":
      return screens[state.screen].body(props);
  }
}

/** Above every screen: the target, the tabs and a rule. */
function headerLines(state: TuiState, now: number): readonly ScreenLine[] {
  const { columns } = state.size;
  return [targetLine(state, now), tabsLine(state), textLine("─".repeat(columns), "quiet")];
}

function targetLine({ target, connection, size: { columns } }: TuiState, now: number): ScreenLine {
  const { text, role } = describeConnection(target, connection, now);
  const name = cut(`guildhall · ${target.name}`, Math.max(12, columns - widthOf(text) - 2));
  return [
    { text: pad(name, Math.max(0, columns - widthOf(text) - 1)), role: "strong" },
    { text: ` ${text}`, role },
  ];
}

function describeConnection(
  target: TargetView,
  connection: HallConnectionState,
  now: number,
): { readonly text: string; readonly role: Role } {
  switch (connection.kind) {
    case "connecting":
      return {
        text: connection.attempt > 1 ? `connecting, attempt ${connection.attempt}` : "connecting",
        role: "warning",
      };
    case "ready":
      return {
        text: `${describeServer(target, connection.server)} · ${connection.version}`,
        role: "good",
      };
    case "lost":
      return {
        text: `connection lost · retrying in ${formatDuration(connection.retryAt - now)} · ^R now`,
        role: "bad",
      };
    case "closed":
      return { text: "closed", role: "quiet" };
  }
}

const serverColumnsMax = 30;

/** A hall ends with the process that runs it, so the header says whether that is this one. */
function describeServer({ kind, transport }: TargetView, server: string): string {
  if (kind === "server") return cut(server, serverColumnsMax);
  return transport === "in process" ? "hall in this process" : "attached to the hall";
}

function tabsLine(state: TuiState): ScreenLine {
  const { columns } = state.size;
  const tabs = tabsOf(state).map((name, index) => ({
    text: `${index + 1} ${screens[name].title}${badgeOf(state, name)}`,
    short: `${index + 1}${badgeOf(state, name)}`,
    isCurrent: name === state.screen || (name === "features" && state.screen === "feature"),
  }));
  const width = tabs.reduce((sum, { text }) => sum + text.length, 0);
  const gap = width + 2 * (tabs.length - 1) <= columns ? "  " : " ";
  const isNarrow = width + tabs.length - 1 > columns;
  return tabs.flatMap(({ text, short, isCurrent }, index): readonly TextSpan[] => [
    { text: index === 0 ? "" : gap },
    { text: isNarrow && !isCurrent ? short : text, role: isCurrent ? "selected" : "plain" },
  ]);
}

function badgeOf(state: TuiState, name: string): string {
  const counts: Readonly<Record<string, number>> = {
    run: state.runs.filter(isAtWork).length,
    approvals: state.approvals.pending.length,
  };
  const count = counts[name] ?? 0;
  return count === 0 ? "" : `•${count}`;
}

const noticeRoles: Readonly<Record<TuiState["notices"][number]["level"], Role>> = {
  info: "accent",
  warning: "warning",
  error: "bad",
};

/** Takes as many rows as the notice needs even when something else is shown there. */
function noticeLines(snapshot: Snapshot): readonly ScreenLine[] {
  const { state, view } = snapshot;
  const texts = noticeTexts(state);
  const first = view.note ?? waitingQuestion(snapshot);
  if (first !== undefined) return fitRows([textLine(first, "warning")], texts.length);

  const usual = "failure" in state.connection ? "error" : "info";
  const role = noticeRoles[state.notices.at(-1)?.level ?? usual];
  return texts.map((text) => textLine(text, role));
}

function waitingQuestion(snapshot: Snapshot): string | undefined {
  const [question] = snapshot.state.questions;
  return question && layerOf(snapshot) !== "question"
    ? `? ${question.message} (^G to answer)`
    : undefined;
}

/** As many key hints as fit, and always the one that leads to the rest and the one that quits. */
function hintsLine(snapshot: Snapshot): ScreenLine {
  const isTyping = editingOf(snapshot) !== undefined;
  const layer = layerOf(snapshot);
  const quit = isTyping || layer === "confirmation" || layer === "question" ? "^C quit" : "q quit";
  const help = isTyping ? "F1 keys" : "? keys";
  const last = layer === "screen" ? `${help}  ${quit}` : quit;
  const hints: string[] = [];
  let left = snapshot.state.size.columns - last.length;
  for (const binding of bindingsOf(snapshot)) {
    const hint = hintOf(binding, isTyping);
    if (hint === undefined || hint.length + 2 > left) continue;
    left -= hint.length + 2;
    hints.push(hint);
  }
  return textLine([...hints, last].join("  "), "quiet");
}

/** Keys everybody knows, and keys the notice line shows itself. */
const unhinted = new Set(
  "up down left pageup pagedown home end shift+tab ctrl+g ctrl+x ctrl+y ? ctrl+c q".split(" "),
);

function hintOf({ keys, label }: KeyBinding, isTyping: boolean): string | undefined {
  const key = keys.find((name) => !isTyping || name.length > 1);
  const [first = ""] = keys;
  if (key === undefined || unhinted.has(first) || /^\d$/.test(first)) return undefined;
  return `${showKey(key)} ${label}`;
}

const keyColumns = 16;
const helpColumnsMin = 38;
const helpGap = 2;

/** All keys of the current screen, in as many columns as are needed and fit. */
function helpLines({ columns, rows, ...snapshot }: BodyOptions): readonly ScreenLine[] {
  const screen = { ...snapshot, state: { ...snapshot.state, isHelpShown: false } };
  const own = ownBindings(screen);
  const blocks = [
    [`Keys: ${screens[snapshot.state.screen].title}`, ...own],
    ["Everywhere", ...bindingsOf(screen).slice(own.length)],
  ];
  const all = [...(blocks[0] ?? []), "", ...(blocks[1] ?? [])];
  const fitting = Math.floor(columns / helpColumnsMin);
  const count = Math.max(1, Math.min(fitting, Math.ceil(all.length / rows)));
  const width = Math.floor((columns + helpGap) / count) - helpGap;

  // One block per column where each fits, so that no heading ends up at the foot of a column.
  const isSplit = count === blocks.length && blocks.every((block) => block.length <= rows);
  const shown = isSplit
    ? blocks
    : Array.from({ length: count }, (_value, index) => all.slice(index * rows, (index + 1) * rows));
  return Array.from(
    { length: rows },
    (_value, row): ScreenLine =>
      shown.flatMap((column) => [
        ...helpEntry(column[row] ?? "", width),
        { text: " ".repeat(helpGap) },
      ]),
  );
}

function helpEntry(entry: string | KeyBinding, width: number): ScreenLine {
  if (typeof entry === "string") return textLine(pad(entry, width), "title");
  return [
    { text: pad(entry.keys.map(showKey).join(" "), keyColumns), role: "accent" },
    { text: pad(` ${entry.label}`, width - keyColumns) },
  ];
}
