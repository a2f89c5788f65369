// Characters and strings.
import type { Displacement } from "./values.ts";

/** Made by `char`, which interns the common ones. */
export class Char {
  readonly code: number;
  constructor(code: number) {
    this.code = code;
  }
}

const chars = new Map<number, Char>();

export function char(code: number): Char {
  let found = chars.get(code);
  if (found === undefined) {
    found = new Char(code);
    // Only characters below the surrogates are interned; eql compares the others by code.
    if (code < 0x3000) chars.set(code, found);
  }
  return found;
}

const surrogate = /[\ud800-\udfff]/;

/**
 * A mutable string. Until the first write it is the JS string it was made of. A write, a fill pointer, or
 * a character outside the basic plane turns it into an array of code points, so that indexes count characters.
 */
export class Str {
  #text: string | null;
  #codes: number[] | null = null;
  #checked = false;
  /** -1 without a fill pointer. */
  fill = -1;
  adjustable = false;
  displacement: Displacement | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  static ofCodes(codes: number[]): Str {
    const made = new Str("");
    made.#text = null;
    made.#codes = codes;
    return made;
  }

  /** The text up to the fill pointer. */
  toString(): string {
    if (this.#text !== null) return this.#text;
    const codes = this.#codes ?? [];
    const length = this.length;
    let text = "";
    for (let at = 0; at < length; at += 4096)
      text += String.fromCodePoint(...codes.slice(at, Math.min(at + 4096, length)));
    // A string with a fill pointer stays an array, because it will be pushed to; a displaced one, because it is a view.
    if (this.fill < 0 && this.displacement === null && text.length === codes.length) {
      this.#text = text;
      this.#codes = null;
      this.#checked = true;
    }
    return text;
  }

  /** Up to the fill pointer. */
  get length(): number {
    if (this.fill >= 0) return this.fill;
    return this.capacity;
  }

  /** `array-dimension`, regardless of the fill pointer. */
  get capacity(): number {
    if (this.#text !== null && this.#isPlain(this.#text)) return this.#text.length;
    return this.codes().length;
  }

  codeAt(index: number): number {
    if (this.#text !== null && this.#isPlain(this.#text)) return this.#text.charCodeAt(index);
    return this.codes()[index] ?? 0;
  }

  setCode(index: number, code: number): void {
    this.codes()[index] = code;
  }

  /** The code points for writing; the string stays an array until it is read as text. */
  codes(): number[] {
    if (this.#codes === null) {
      const text = this.#text ?? "";
      const codes: number[] = [];
      for (const character of text) codes.push(character.codePointAt(0) ?? 0);
      this.#codes = codes;
    }
    this.#text = null;
    return this.#codes;
  }

  /** Takes the place of its contents. */
  become(other: Str): void {
    this.#text = null;
    this.#codes = other.codes();
  }

  #isPlain(text: string): boolean {
    if (this.#checked) return true;
    if (surrogate.test(text)) {
      this.codes();
      return false;
    }
    this.#checked = true;
    return true;
  }
}

/** Names and case of characters. */

const controls =
  "Nul Soh Stx Etx Eot Enq Ack Bel Backspace Tab Newline Vt Page Return So Si Dle Dc1 Dc2 Dc3 Dc4 Nak Syn Etb Can Em Sub Esc Fs Gs Rs Us Space".split(
    " ",
  );
const others = `NULL 0 BELL 7 BS 8 HT 9 LINEFEED 10 LF 10 NL 10 FF 12 CR 13 ESCAPE 27 ALTMODE 27
  SP 32 DEL 127 DELETE 127 RUBOUT 127 NBSP 160 NO-BREAK_SPACE 160`.matchAll(/(\S+) (\d+)/g);

const byName = new Map<string, number>([
  ...controls.map((name, code) => [name.toUpperCase(), code] as const),
  ...Array.from(others, ([, name = "", code]) => [name, Number(code)] as const),
]);

/** Undefined for graphic characters. */
export function characterName(code: number): string | undefined {
  if (code <= 32) return controls[code];
  if (code === 127) return "Rubout";
  if (code === 160) return "No-break_space";
  // Line and paragraph separators would break the line that shows them.
  const isShown = isGraphic(code) && code !== 0x2028 && code !== 0x2029;
  return isShown ? undefined : `U${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Accepts names in any case, and `U+00E9` or `UE9` for any code. */
export function characterNamed(name: string): number | undefined {
  const found = byName.get(name.toUpperCase());
  if (found !== undefined) return found;
  const hex = /^U\+?([0-9A-F]{1,6})$/i.exec(name)?.[1];
  const code = hex === undefined ? Number.NaN : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? code : undefined;
}

export function isGraphic(code: number): boolean {
  return code >= 32 && code !== 127 && !(code >= 128 && code < 160);
}

export function isAlphabetic(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return /\p{L}/u.test(String.fromCodePoint(code));
}

export function isUpper(code: number): boolean {
  if (code < 128) return code >= 65 && code <= 90;
  return lowerCode(code) !== code;
}

export function isLower(code: number): boolean {
  if (code < 128) return code >= 97 && code <= 122;
  return upperCode(code) !== code;
}

export function isAlphanumeric(code: number): boolean {
  if (code < 128) return isAlphabetic(code) || (code >= 48 && code <= 57);
  return /[\p{L}\p{N}]/u.test(String.fromCodePoint(code));
}

/** Only characters that convert both ways have a case; ß has none. */
export function upperCode(code: number): number {
  if (code < 128) return code >= 97 && code <= 122 ? code - 32 : code;
  return counterpart(
    code,
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
  );
}

export function lowerCode(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  return counterpart(
    code,
    (text) => text.toLowerCase(),
    (text) => text.toUpperCase(),
  );
}

function counterpart(
  code: number,
  there: (text: string) => string,
  back: (text: string) => string,
): number {
  const text = String.fromCodePoint(code);
  const other = there(text);
  const found = other.codePointAt(0) ?? code;
  return String.fromCodePoint(found) === other && back(other) === text ? found : code;
}

/** The weight of a digit in a radix up to 36. */
export function digitWeight(code: number, radix: number): number | undefined {
  let weight = 99;
  if (code >= 48 && code <= 57) weight = code - 48;
  else if (code >= 97 && code <= 122) weight = code - 87;
  else if (code >= 65 && code <= 90) weight = code - 55;
  return weight < radix ? weight : undefined;
}
