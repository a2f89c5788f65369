/**
 * One key, or a paste. A printable key is named by its character, the others are `enter`, `ctrl+c`,
 * `alt+1`, `shift+tab`, `f1` and so on.
 */
export interface KeyPress {
  readonly name: string;
  /** The text it types, if any. */
  readonly text: string | undefined;
}

/** A paste arrives as one key: the terminal marks its start and end, so its lines submit no form. */
export class Keyboard {
  #rest = "";

  /** True if a key has begun: an escape sequence or a paste. */
  get isWaiting(): boolean {
    return this.#rest !== "";
  }

  /** Splits terminal input into keys. */
  read(chunk: string): readonly KeyPress[] {
    this.#rest = shortenPaste(this.#rest + chunk);
    const keys: KeyPress[] = [];
    for (;;) {
      const found = nextKey(this.#rest);
      if (!found) return keys;
      this.#rest = this.#rest.slice(found.length);
      if (found.key) keys.push(found.key);
    }
  }

  /** Takes a pending escape for the Esc key. Called a moment after `read` left one. */
  flush(): readonly KeyPress[] {
    // A paste may arrive in many chunks; anything else arrives in one.
    if (!this.isWaiting || this.#rest.startsWith(pasteStart)) return [];
    const escaped = this.#rest.slice(1);
    this.#rest = "";
    return [escapeKey, ...this.read(escaped)];
  }
}

const escapeKey: KeyPress = { name: "esc", text: undefined };
const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";
const pasteCharactersMax = 200_000;

interface Found {
  readonly key: KeyPress | undefined;
  readonly length: number;
}

/** The key at the start of the text; undefined when more input is needed. */
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

/** Cuts an overlong paste but keeps its tail, so that its end marker is still found. */
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

// CSI with its parameters, or SS3.
const sequence = /^(?:\[([0-9;<?]*)([A-Za-z~])|O([A-Za-z]))/;
const beginning = /^(?:\[[0-9;<?]*|O)?$/;

function readEscape(text: string): Found | undefined {
  const match = sequence.exec(text.slice(1));
  if (match)
    return {
      key: nameSequence(match[1] ?? "", match[2] ?? match[3] ?? ""),
      length: 1 + match[0].length,
    };
  // Incomplete so far; `flush` ends the wait.
  if (beginning.test(text.slice(1))) return undefined;
  const next = String.fromCodePoint(text.codePointAt(1) ?? 0);
  if (next === "\u001b") return { key: escapeKey, length: 1 };
  if (next === "[" || next === "O") return { key: undefined, length: 2 };
  if (next === "\r" || next === "\n") return { key: named("alt+enter"), length: 2 };
  if (next === "\u007f") return { key: named("alt+backspace"), length: 2 };
  return { key: next < " " ? undefined : named(`alt+${next}`), length: 1 + next.length };
}

function nameSequence(parameters: string, final: string): KeyPress | undefined {
  const [first = "", modifier = ""] = parameters.split(";");
  const name = final === "~" ? byNumber[first] : byLetter[final];
  if (name === undefined) return undefined;
  return named(`${modifiers[modifier] ?? ""}${name}`);
}

function named(name: string): KeyPress {
  return { name, text: undefined };
}

const controls: Readonly<Record<string, KeyPress>> = {
  "\r": named("enter"),
  // Ctrl-J; some terminals send it for Shift-Enter.
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

const calmMs = 300;
/** Ctrl-G shows that the question has been seen. */
const unguarded: ReadonlySet<string> = new Set(["ctrl+c", "ctrl+g"]);

/**
 * A question can appear while a finger is on its way to a key. Keys are ignored until the question
 * has been visible for a moment without one.
 */
export class KeyGuard {
  readonly #now: () => number;
  #shown: string | undefined;
  #calmAt = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Called with the visible question after each frame. */
  onFrame(question: string | undefined): void {
    if (question !== this.#shown) this.#calmAt = this.#now() + calmMs;
    this.#shown = question;
  }

  /** True if the key came too soon for that question. */
  isAccidental(question: string | undefined, { name }: KeyPress): boolean {
    if (question === undefined || unguarded.has(name)) return false;
    if (question === this.#shown && this.#now() >= this.#calmAt) return false;
    this.#calmAt = this.#now() + calmMs;
    return true;
  }
}
