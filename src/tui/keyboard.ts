/** One key, or what was pasted. Printable keys are named by what they print; the rest as `enter`, `ctrl+c`, `alt+1`, `shift+tab`, `f1`. */
export interface Key {
  readonly name: string;
  /** What it adds to a text; undefined for keys that add nothing. */
  readonly text: string | undefined;
}

export interface Keyboard {
  /** What the terminal sent, cut into keys. */
  read(chunk: string): readonly Key[];
  /** An escape that nothing followed: the key itself. To be asked a moment after a chunk that left one waiting. */
  flush(): readonly Key[];
  readonly isWaiting: boolean;
}

/**
 * Ink's own reading of keys knows no function keys and gives a paste as so many key presses; a line of a paste would then send a form.
 * Terminals say where a paste begins and ends when asked to.
 */
export function createKeyboard(): Keyboard {
  let rest = "";

  function read(chunk: string): readonly Key[] {
    rest = shortenPaste(rest + chunk);
    const keys: Key[] = [];
    for (;;) {
      const found = nextKey(rest);
      if (!found) return keys;
      rest = rest.slice(found.length);
      if (found.key) keys.push(found.key);
    }
  }

  return {
    read,
    flush() {
      // A paste may take long to arrive; anything else comes in one piece.
      if (rest === "" || rest.startsWith(pasteStart)) return [];
      const escaped = rest.slice(1);
      rest = "";
      return [escapeKey, ...(escaped === "" ? [] : read(escaped))];
    },
    get isWaiting() {
      return rest !== "";
    },
  };
}

const escapeKey: Key = { name: "esc", text: undefined };
const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";
const pasteCharactersMax = 200_000;

interface Found {
  readonly key: Key | undefined;
  readonly length: number;
}

/** The key at the start of the text; undefined when more is needed to know. */
function nextKey(text: string): Found | undefined {
  if (text === "") return undefined;
  if (text.startsWith(pasteStart)) return readPaste(text);
  if (text.startsWith("\u001b")) return readEscape(text);
  const character = String.fromCodePoint(text.codePointAt(0) ?? 0);
  const control = controls[character];
  if (control) return { key: control, length: 1 };
  if (character < " ")
    return { key: named(`ctrl+${String.fromCharCode(character.charCodeAt(0) + 96)}`), length: 1 };
  return {
    key: { name: character === " " ? "space" : character, text: character },
    length: character.length,
  };
}

/** A paste that is too long stays one: its end must be seen, or the rest of it would be taken for keys. */
function shortenPaste(text: string): string {
  if (
    text.length <= 2 * pasteCharactersMax ||
    !text.startsWith(pasteStart) ||
    text.includes(pasteEnd)
  )
    return text;
  return text.slice(0, pasteCharactersMax) + text.slice(-pasteEnd.length);
}

function readPaste(text: string): Found | undefined {
  const end = text.indexOf(pasteEnd);
  if (end < 0) return undefined;
  const pasted = text
    .slice(pasteStart.length, Math.min(end, pasteCharactersMax))
    .replace(/\r\n?/g, "\n");
  return { key: { name: "paste", text: pasted }, length: end + pasteEnd.length };
}

// What may follow an escape: CSI with its parameters, or SS3.
const sequence = /^(?:\[([0-9;<?]*)([A-Za-z~])|O([A-Za-z]))/;
const beginning = /^(?:\[[0-9;<?]*|O)?$/;

function readEscape(text: string): Found | undefined {
  const match = sequence.exec(text.slice(1));
  if (match)
    return {
      key: nameSequence(match[1] ?? "", match[2] ?? match[3] ?? ""),
      length: 1 + match[0].length,
    };
  // Something of the kind that is not complete: its end is waited for, but not for ever.
  if (beginning.test(text.slice(1))) return undefined;
  const next = String.fromCodePoint(text.codePointAt(1) ?? 0);
  if (next === "\u001b") return { key: escapeKey, length: 1 };
  if (next === "[" || next === "O") return { key: undefined, length: 2 };
  if (next === "\r" || next === "\n") return { key: named("alt+enter"), length: 2 };
  if (next === "\u007f") return { key: named("alt+backspace"), length: 2 };
  return { key: next < " " ? undefined : named(`alt+${next}`), length: 1 + next.length };
}

function nameSequence(parameters: string, final: string): Key | undefined {
  const [first = "", modifier = ""] = parameters.split(";");
  const name = final === "~" ? byNumber[first] : byLetter[final];
  if (name === undefined) return undefined;
  return named(`${modifiers[modifier] ?? ""}${name}`);
}

function named(name: string): Key {
  return { name, text: undefined };
}

const controls: Readonly<Record<string, Key>> = {
  "\r": named("enter"),
  // Ctrl-J, and what some terminals send for Shift-Enter.
  "\n": named("alt+enter"),
  "\t": named("tab"),
  "\u007f": named("backspace"),
  "\b": named("backspace"),
};

const byLetter: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  P: "f1",
  Z: "shift+tab",
};

const byNumber: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
};

const modifiers: Readonly<Record<string, string>> = { 2: "shift+", 3: "alt+", 5: "ctrl+" };
