import type { Intention } from "./events.ts";
import type { KeyPress } from "./keyboard.ts";
import { clustersOf } from "./parts/text.ts";
import { cursorOf, type KeyAction, type View } from "./view.ts";

/** The text field that has the keys. Its text is in the state, its cursor in the view. */
export interface Editing {
  readonly id: string;
  readonly text: string;
  change(text: string): Intention;
}

/** The effect of a key on the text; undefined when it has none. */
export function typeKey(
  editing: Editing,
  view: View,
  key: KeyPress,
): readonly KeyAction[] | undefined {
  const edited = editText({ text: editing.text, cursor: cursorOf(view, editing) }, key);
  if (!edited) return undefined;
  const cursors = { ...view.cursors, [editing.id]: edited.cursor };
  const moved: KeyAction = { kind: "view", view: { ...view, cursors } };
  return edited.text === editing.text ? [moved] : [editing.change(edited.text), moved];
}

export interface EditedText {
  readonly text: string;
  readonly cursor: number;
}

/** The text after a key; undefined when the key does not edit. */
export function editText({ text, cursor }: EditedText, key: KeyPress): EditedText | undefined {
  if (key.text === undefined) return edits[key.name]?.(text, cursor);
  return insert(text, cursor, key.text);
}

function insert(text: string, cursor: number, added: string): EditedText {
  return {
    text: text.slice(0, cursor) + added + text.slice(cursor),
    cursor: cursor + added.length,
  };
}

type Position = (text: string, cursor: number) => number;
type Edit = (text: string, cursor: number) => EditedText;

function remove(from: Position, to: Position): Edit {
  return (text, cursor) => {
    const start = from(text, cursor);
    return { text: text.slice(0, start) + text.slice(to(text, cursor)), cursor: start };
  };
}

function move(to: Position): Edit {
  return (text, cursor) => ({ text, cursor: to(text, cursor) });
}

const here: Position = (_text, cursor) => cursor;
const before: Position = (text, cursor) => {
  const head = text.slice(Math.max(0, cursor - clusterCharactersMax), cursor);
  return cursor - (clustersOf(head).at(-1)?.length ?? 0);
};
const after: Position = (text, cursor) => {
  const tail = text.slice(cursor, cursor + clusterCharactersMax);
  return cursor + (clustersOf(tail)[0]?.length ?? 0);
};
const lineStart: Position = (text, cursor) => text.lastIndexOf("\n", cursor - 1) + 1;
const lineEnd: Position = (text, cursor) => {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
};
const wordStart: Position = (text, cursor) => text.slice(0, cursor).replace(/\S+\s*$/, "").length;
const wordEnd: Position = (text, cursor) =>
  text.length - text.slice(cursor).replace(/^\s*\S+/, "").length;

const edits: Readonly<Record<string, Edit>> = {
  backspace: remove(before, here),
  delete: remove(here, after),
  "alt+enter": (text, cursor) => insert(text, cursor, "\n"),
  left: move(before),
  right: move(after),
  home: move(lineStart),
  end: move(lineEnd),
  "ctrl+a": move(lineStart),
  "ctrl+e": move(lineEnd),
  "ctrl+left": move(wordStart),
  "alt+b": move(wordStart),
  "ctrl+right": move(wordEnd),
  "alt+f": move(wordEnd),
  "ctrl+w": remove(wordStart, here),
  "alt+backspace": remove(wordStart, here),
  "ctrl+u": remove(lineStart, here),
  "ctrl+k": remove(here, lineEnd),
};

/** Longer than any cluster a user types; more of a long text need not be segmented. */
const clusterCharactersMax = 32;
