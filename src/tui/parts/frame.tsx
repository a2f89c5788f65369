import type { ReactElement } from "react";
import { bindingsOf, editingOf, layerOf, tabsOf } from "../press.ts";
import { noticeTexts } from "../screens/screen.ts";
import { screens } from "../screens/screens.ts";
import type { ConnectionState, TargetView, TuiState } from "../state.ts";
import type { Binding, Moment } from "../view.ts";
import { showKey } from "./help.tsx";
import { type Line, Lines, type Role, type Span } from "./line.tsx";
import { elapsed, isAtWork } from "./run-state.ts";
import { cut, pad, widthOf } from "./width.ts";

/** Above every screen: what we speak to, and the screens there are. */
export function Header({
  state,
  now,
  columns,
}: Moment & { readonly columns: number }): ReactElement {
  return (
    <Lines
      lines={[
        targetLine(state, now, columns),
        tabsLine(state, columns),
        [{ text: "─".repeat(columns), role: "quiet" }],
      ]}
      columns={columns}
    />
  );
}

function targetLine({ target, connection }: TuiState, now: number, columns: number): Line {
  const { text, role } = describeConnection(target, connection, now);
  const name = cut(`guildhall · ${target.name}`, Math.max(12, columns - widthOf(text) - 2));
  return [
    { text: pad(name, Math.max(0, columns - widthOf(text) - 1)), role: "strong" },
    { text: ` ${text}`, role },
  ];
}

function describeConnection(
  target: TargetView,
  connection: ConnectionState,
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
        text: `${whoAnswers(target, connection.server)} · ${connection.version} (${connection.era})`,
        role: "good",
      };
    case "lost":
      return {
        text: `connection lost · again in ${elapsed(connection.retryAt - now)} · ^R now`,
        role: "bad",
      };
    case "closed":
      return { text: "closed", role: "quiet" };
  }
}

/** The version and what was connected to are told as well. */
const serverColumnsMax = 30;

/** A hall ends with the process it is in: the others then go on with the next. */
function whoAnswers({ kind, transport }: TargetView, server: string): string {
  return kind === "server"
    ? cut(server, serverColumnsMax)
    : transport === "in process"
      ? "this is the hall"
      : "attached to the hall";
}

function tabsLine(state: TuiState, columns: number): Line {
  const tabs = tabsOf(state).map((name, index) => ({
    text: `${index + 1} ${screens[name].title}${badgeOf(state, name)}`,
    short: `${index + 1}${badgeOf(state, name)}`,
    isCurrent: name === state.screen || (name === "features" && state.screen === "feature"),
  }));
  const width = tabs.reduce((sum, { text }) => sum + text.length, 0);
  const gap = width + 2 * (tabs.length - 1) <= columns ? "  " : " ";
  const isNarrow = width + tabs.length - 1 > columns;
  return tabs.flatMap(({ text, short, isCurrent }, index): readonly Span[] => [
    { text: index === 0 ? "" : gap },
    { text: isNarrow && !isCurrent ? short : text, role: isCurrent ? "selected" : "plain" },
  ]);
}

function badgeOf(state: TuiState, name: string): string {
  const count =
    name === "run"
      ? state.runs.filter(isAtWork).length
      : name === "approvals"
        ? state.approvals.pending.length
        : 0;
  return count === 0 ? "" : `•${count}`;
}

/** Below every screen: what should be known, and the keys most wanted. */
export function Footer({
  columns,
  ...moment
}: Moment & { readonly columns: number }): ReactElement {
  return <Lines lines={[...noticeLines(moment), hintsLine(moment, columns)]} columns={columns} />;
}

const noticeRoles: Readonly<Record<TuiState["notices"][number]["level"], Role>> = {
  info: "accent",
  warning: "warning",
  error: "bad",
};

/** As many rows as the notice has, whatever stands there instead of it. */
function noticeLines(moment: Moment): readonly Line[] {
  const { state, view } = moment;
  const texts = noticeTexts(state);
  const first = view.note ?? waitingQuestion(moment);
  if (first !== undefined)
    return texts.map(
      (_text, index): Line => (index === 0 ? [{ text: first, role: "warning" }] : []),
    );
  const role =
    noticeRoles[state.notices.at(-1)?.level ?? ("failure" in state.connection ? "error" : "info")];
  return texts.map((text): Line => [{ text, role }]);
}

function waitingQuestion(moment: Moment): string | undefined {
  const [question] = moment.state.questions;
  return question && layerOf(moment) !== "question"
    ? `? ${question.message} (^G answers)`
    : undefined;
}

/** As many as fit, and always the way to the rest. */
function hintsLine(moment: Moment, columns: number): Line {
  const isTyping = editingOf(moment) !== undefined;
  const bindings = bindingsOf(moment);
  const last = layerOf(moment) === "screen" ? (isTyping ? "F1 keys" : "? keys") : "^C quit";
  const hints: string[] = [];
  let left = columns - last.length;
  for (const hint of bindings
    .map((binding) => hintOf(binding, isTyping))
    .filter((text) => text !== undefined)) {
    if (hint.length + 2 > left) continue;
    left -= hint.length + 2;
    hints.push(hint);
  }
  return [{ text: [...hints, last].join("  "), role: "quiet" }];
}

/** Known to everybody, told in the line above, or always there. */
const unhinted = new Set([
  "up",
  "down",
  "left",
  "pageup",
  "pagedown",
  "home",
  "end",
  "shift+tab",
  "ctrl+g",
  "ctrl+x",
  "ctrl+y",
  "?",
  "ctrl+c",
  "q",
]);

function hintOf({ keys, says }: Binding, isTyping: boolean): string | undefined {
  const key = keys.find((name) => !isTyping || name.length > 1);
  if (key === undefined || unhinted.has(keys[0] ?? "") || /^\d$/.test(keys[0] ?? ""))
    return undefined;
  return `${showKey(key)} ${says}`;
}
