// Characters and strings.
/** Made by `char`, which interns: two characters with the same code are the same object. */
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
    // Only the characters below the surrogates are kept for good; eql compares the rest by code.
    if (code < 0x3000) chars.set(code, found);
  }
  return found;
}

const surrogate = /[\ud800-\udfff]/;

/**
 * A mutable string. Cheap while nobody writes to it: then it is the JS string it was made of. The first write, a fill pointer, or
 * a character beyond the basic plane turns it into an array of code points, so that indexes always count characters.
 */
export class Str {
  #text: string | null;
  #codes: number[] | null = null;
  #checked = false;
  /** -1 without a fill pointer. */
  fill = -1;
  adjustable = false;

  constructor(text: string) {
    this.#text = text;
  }

  static ofCodes(codes: number[]): Str {
    const made = new Str("");
    made.#text = null;
    made.#codes = codes;
    return made;
  }

  /** The text as far as the fill pointer. */
  toString(): string {
    if (this.#text !== null) return this.#text;
    const codes = this.#codes ?? [];
    const length = this.length;
    let text = "";
    for (let at = 0; at < length; at += 4096)
      text += String.fromCodePoint(...codes.slice(at, Math.min(at + 4096, length)));
    // A string with a fill pointer stays an array: it is there to be pushed to.
    if (this.fill < 0 && text.length === codes.length) {
      this.#text = text;
      this.#codes = null;
      this.#checked = true;
    }
    return text;
  }

  /** As far as the fill pointer. */
  get length(): number {
    if (this.fill >= 0) return this.fill;
    return this.capacity;
  }

  /** What `array-dimension` says, whatever the fill pointer. */
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

  /** The code points to write to; from here on the string is an array until it is read as text. */
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
