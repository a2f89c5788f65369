import { type Editing, editText } from "./editing.ts";
import type { Intention } from "./intentions.ts";
import type { Key } from "./keyboard.ts";
import type { TuiState } from "./state.ts";

/** What only this terminal knows: where the cursor is. Everything that would be missed is in the state. */
export interface View {
  /** Where the cursor stands in a text, by the text's id; at its end when absent. */
  readonly cursors: Readonly<Record<string, number>>;
  /** Which part of a screen or a form has the keys, by its name. */
  readonly focus: Readonly<Record<string, string>>;
  /** Which earlier text was brought back, counted from the newest. */
  readonly recalled:
    | { readonly id: string; readonly back: number; readonly draft: string }
    | undefined;
  /** Something this terminal has to say, until the next key. */
  readonly note: string | undefined;
}

/** What a screen is drawn from, and what keys are judged by. */
export interface Moment {
  readonly state: TuiState;
  readonly view: View;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What a key leads to: something wanted of the session, a change of the view, a document in the person's editor. */
export type Act =
  | Intention
  | { readonly kind: "focus"; readonly on: string; readonly part: string }
  | { readonly kind: "look"; readonly view: View }
  | { readonly kind: "edit file"; readonly path: string };

export interface Binding {
  /** As the keyboard names them. */
  readonly keys: readonly string[];
  /** What it does, in a word or two. */
  readonly says: string;
  act(): Act | readonly Act[] | undefined;
}

export function on(keys: string, says: string, act: Binding["act"]): Binding {
  return { keys: keys.split(" "), says, act };
}

export const initialView: View = { cursors: {}, focus: {}, recalled: undefined, note: undefined };

export function focusOf({ focus }: View, on: string, usual: string): string {
  return focus[on] ?? usual;
}

export function withFocus(view: View, on: string, part: string): View {
  return { ...view, focus: { ...view.focus, [on]: part } };
}

export function cursorOf({ cursors }: View, { id, text }: Pick<Editing, "id" | "text">): number {
  return Math.min(cursors[id] ?? text.length, text.length);
}

/** What a key does to the text that is being typed; undefined when nothing. */
export function type(editing: Editing, view: View, key: Key): readonly Act[] | undefined {
  const recalled = recall(editing, view, key);
  if (recalled) return recalled;
  const cursor = cursorOf(view, editing);
  const edited = editText({ text: editing.text, cursor }, key);
  if (!edited) return undefined;
  const look: Act = {
    kind: "look",
    view: {
      ...view,
      cursors: { ...view.cursors, [editing.id]: edited.cursor },
      recalled: undefined,
    },
  };
  return edited.text === editing.text ? [look] : [editing.change(edited.text), look];
}

/** Up and down go through what was typed before; what was being typed is at the end of it. */
function recall(
  { id, text, history = [], change }: Editing,
  view: View,
  { name }: Key,
): readonly Act[] | undefined {
  if (history.length === 0 || (name !== "up" && name !== "down")) return undefined;
  const { back, draft } = view.recalled?.id === id ? view.recalled : { back: 0, draft: text };
  const next = Math.min(history.length, Math.max(0, back + (name === "up" ? 1 : -1)));
  const shown = next === 0 ? draft : (history.at(-next) ?? "");
  const { [id]: _old, ...cursors } = view.cursors;
  return [
    change(shown),
    {
      kind: "look",
      view: { ...view, cursors, recalled: next === 0 ? undefined : { id, back: next, draft } },
    },
  ];
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
