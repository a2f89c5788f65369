import type { Intention } from "./intentions.ts";
import type { Key } from "./keyboard.ts";

/** A text that keys go into. Text itself is in the state; where the cursor stands is the view's. */
export interface Editing {
  /** Which text it is. */
  readonly id: string;
  readonly text: string;
  /** Earlier texts, oldest first: up and down bring them back. */
  readonly history?: readonly string[];
  /** One looks about rather than writes: while it is empty, digits lead to other screens. */
  readonly isSearch?: boolean;
  change(text: string): Intention;
}

export interface Edited {
  readonly text: string;
  readonly cursor: number;
}

/** The text after a key; undefined when the key means nothing to a text. */
export function editText({ text, cursor }: Edited, key: Key): Edited | undefined {
  if (key.text !== undefined)
    return {
      text: text.slice(0, cursor) + key.text + text.slice(cursor),
      cursor: cursor + key.text.length,
    };
  const change = edits[key.name];
  return change?.(text, cursor);
}

type Change = (text: string, cursor: number) => Edited;

const cut: (
  from: (text: string, cursor: number) => number,
  to: (text: string, cursor: number) => number,
) => Change = (from, to) => (text, cursor) => {
  const start = from(text, cursor);
  return { text: text.slice(0, start) + text.slice(to(text, cursor)), cursor: start };
};

const move: (to: (text: string, cursor: number) => number) => Change = (to) => (text, cursor) => ({
  text,
  cursor: to(text, cursor),
});

const here = (_text: string, cursor: number): number => cursor;
const before = (text: string, cursor: number): number =>
  cursor - (previousCluster(text, cursor)?.length ?? 0);
const after = (text: string, cursor: number): number =>
  cursor + (nextCluster(text, cursor)?.length ?? 0);
const lineStart = (text: string, cursor: number): number => text.lastIndexOf("\n", cursor - 1) + 1;
const lineEnd = (text: string, cursor: number): number =>
  text.indexOf("\n", cursor) < 0 ? text.length : text.indexOf("\n", cursor);
const wordStart = (text: string, cursor: number): number =>
  text.slice(0, cursor).replace(/\S+\s*$/, "").length;
const wordEnd = (text: string, cursor: number): number =>
  text.length - text.slice(cursor).replace(/^\s*\S+/, "").length;

const edits: Readonly<Record<string, Change>> = {
  backspace: cut(before, here),
  delete: cut(here, after),
  "alt+enter": (text, cursor) => ({
    text: `${text.slice(0, cursor)}\n${text.slice(cursor)}`,
    cursor: cursor + 1,
  }),
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
  "ctrl+w": cut(wordStart, here),
  "alt+backspace": cut(wordStart, here),
  "ctrl+u": cut(lineStart, here),
  "ctrl+k": cut(here, lineEnd),
};

const clusters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** No cluster that a person types is longer; looking at more of a long text would be wasted. */
const clusterCharactersMax = 32;

/** What one press of a key goes over: a letter with its accents, an emoji with all its parts. */
function nextCluster(text: string, cursor: number): string | undefined {
  const [first] = clusters.segment(text.slice(cursor, cursor + clusterCharactersMax));
  return first?.segment;
}

function previousCluster(text: string, cursor: number): string | undefined {
  return [...clusters.segment(text.slice(Math.max(0, cursor - clusterCharactersMax), cursor))].at(
    -1,
  )?.segment;
}
