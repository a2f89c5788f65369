import type { Editing } from "./editing.ts";
import type { Intention } from "./events.ts";
import type { ScreenLine } from "./parts/line.ts";
import { type TextWindow, wrapUpTo } from "./parts/text.ts";
import type { TuiState } from "./state.ts";

/** State of this terminal only: cursors and focus. Everything worth keeping is in `TuiState`. */
export interface View {
  /** Cursor positions by text id; the end of the text when absent. */
  readonly cursors: Readonly<Record<string, number>>;
  /** The focused part of a screen or form, by its name. */
  readonly focus: Readonly<Record<string, string>>;
  /** A message of this terminal, until the next key. */
  readonly note: string | undefined;
}

export const initialView: View = { cursors: {}, focus: {}, note: undefined };

/** Everything a screen is drawn from and keys are interpreted with. */
export interface Snapshot {
  readonly state: TuiState;
  readonly view: View;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export type KeyAction =
  | Intention
  | { readonly kind: "focus"; readonly on: string; readonly part: string }
  | { readonly kind: "view"; readonly view: View }
  | { readonly kind: "edit file"; readonly path: string };

export interface KeyBinding {
  /** Key names of `keyboard.ts`. */
  readonly keys: readonly string[];
  /** The effect in a word or two, for hints and help. */
  readonly label: string;
  run(): KeyActions;
}

type KeyActions = KeyAction | readonly KeyAction[] | undefined;

export function on(
  keys: string,
  label: string,
  action: KeyActions | (() => KeyActions),
): KeyBinding {
  const run = typeof action === "function" ? action : () => action;
  return { keys: keys.split(" "), label, run };
}

/** Flattens lists and leaves out the bindings whose condition is false. */
export function bindingsFrom(
  ...items: readonly (KeyBinding | readonly KeyBinding[] | false | undefined)[]
): readonly KeyBinding[] {
  return items.flatMap((item) => item || []);
}

/** Up and down in a list; `letters` adds the vi keys. */
export function selectBindings<T>(
  items: readonly T[],
  isSelected: (item: T) => boolean,
  { select, letters = true }: { select(item: T): Intention; readonly letters?: boolean },
): readonly KeyBinding[] {
  const go = (step: number) => () => {
    const next = neighbour(items, isSelected, step);
    return next && select(next);
  };
  return [
    on(letters ? "up k" : "up", "up", go(-1)),
    on(letters ? "down j" : "down", "down", go(1)),
  ];
}

/** The item that many steps from the selected one, within the list. */
export function neighbour<T>(
  items: readonly T[],
  isSelected: (item: T) => boolean,
  step: number,
): T | undefined {
  const at = items.findIndex(isSelected);
  if (at < 0) return items[0];
  return items[Math.min(items.length - 1, Math.max(0, at + step))];
}

/** Scrolls a view by lines and pages; `last` is the largest useful position. */
export function scrollBindings(
  view: string,
  { scrolls }: TuiState,
  { page, last }: { readonly page: number; readonly last: number },
): readonly KeyBinding[] {
  const end = Math.max(0, last);
  const at = Math.min(scrolls[view] ?? 0, end);
  const to = (line: number) => ({ kind: "scroll", view, to: Math.min(end, line) }) as const;
  return [
    on("down j", "line forward", to(at + 1)),
    on("up k", "line back", to(at - 1)),
    on("pagedown space", "page forward", to(at + page)),
    on("pageup b", "page back", to(at - page)),
    on("home g", "to the start", to(0)),
    on("end G", "to the end", to(end)),
  ];
}

/** Pages through a text that does not fit into its window. */
export function readBindings(
  view: string,
  { isWhole, from, lines }: TextWindow,
): readonly KeyBinding[] {
  if (isWhole) return [];
  const page = Math.max(1, lines.length - 1);
  return [
    on("pagedown", "read on", { kind: "scroll", view, to: from + page }),
    on("pageup", "read back", { kind: "scroll", view, to: from - page }),
  ];
}

/** Help and the hint line are built from the same bindings as the keys. */
export interface Screen {
  readonly title: string;
  /** Most important first. Printable keys are text while something is being typed. */
  bindings(snapshot: Snapshot): readonly KeyBinding[];
  /** The text field that has the keys. */
  editing?(snapshot: Snapshot): Editing | undefined;
  body(options: BodyOptions): readonly ScreenLine[];
}

export interface BodyOptions extends Snapshot {
  readonly columns: number;
  readonly rows: number;
}

/** Header, tabs and rule above the body, hints below it. */
const frameRows = 4;
const noticeRowsMax = 3;

export function bodyRows(state: Pick<TuiState, "size" | "notices" | "connection">): number {
  return Math.max(1, state.size.rows - frameRows - noticeTexts(state).length);
}

/** The last notice, or the reason for a lost connection. At least one row. */
export function noticeTexts({
  notices,
  size,
  connection,
}: Pick<TuiState, "size" | "notices" | "connection">): readonly string[] {
  const notice = notices.at(-1);
  const failure = "failure" in connection ? connection.failure : undefined;
  if (!notice) return [failure ? `! ${failure.message}` : ""];
  const keys = `(${notice.retry ? "^Y retry, " : ""}^X dismiss)`;
  const mark = notice.level === "info" ? "" : "! ";
  return wrapUpTo(`${keys} ${mark}${notice.text}`, size.columns, noticeRowsMax);
}

export function withFocus(view: View, on: string, part: string): View {
  return { ...view, focus: { ...view.focus, [on]: part } };
}

export function cursorOf({ cursors }: View, { id, text }: Pick<Editing, "id" | "text">): number {
  return Math.min(cursors[id] ?? text.length, text.length);
}

const keyLabels: Readonly<Record<string, string>> = {
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
  enter: "Enter",
  esc: "Esc",
  tab: "Tab",
  space: "Space",
  pageup: "PgUp",
  pagedown: "PgDn",
  home: "Home",
  end: "End",
  f1: "F1",
};

/** The key as it is labelled on a keyboard. */
export function showKey(name: string): string {
  if (name.startsWith("ctrl+")) return `^${name.slice(5).toUpperCase()}`;
  if (name.startsWith("alt+")) return `Alt-${name.slice(4)}`;
  if (name.startsWith("shift+")) return `Shift-${showKey(name.slice(6))}`;
  return keyLabels[name] ?? name;
}
