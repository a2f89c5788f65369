// Text to forms, one at a time, because a form may change the package in which the next is read. The position
// of every list is recorded for "missing )" and for backtraces.

import { form, named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { currentPackage, findSymbol, intern, keywordOf } from "./packages.ts";
import { readNumber } from "./rationals.ts";
import { dispatchMacros, expandBackquote, splice, unquote } from "./reader-macros.ts";
import { NIL, type Sym, T } from "./symbol.ts";
import { Cons, Opaque, Stream, type Value } from "./values.ts";

export interface Position {
  readonly line: number;
  readonly column: number;
}

const readSuppress = named("*READ-SUPPRESS*");
export type ReadCase = "UPCASE" | "DOWNCASE" | "PRESERVE" | "INVERT";

/** A readtable has nothing but a case: the syntax cannot be changed. */
export interface Readtable {
  letterCase: ReadCase;
}

export function readtableCase(): ReadCase {
  const { value } = named("*READTABLE*");
  return value instanceof Opaque ? (value.content as Readtable).letterCase : "UPCASE";
}

const nestedMax = 1000;
const whitespace = new Set([" ", "\t", "\n", "\r", "\f", "\v", "\u00a0", "\ufeff"]);
const terminating = new Set(["(", ")", "'", '"', ";", "`", ","]);

/** The usual token: a name or keyword without escapes that cannot be a number. */
const usualToken = /:?[a-z*%&<=>][a-z0-9*%&<=>+/!?$_~@-]*(?=[\s()])/iy;
const readBase = named("*READ-BASE*");

const upper = (text: string): string =>
  text.toUpperCase().length === text.length ? text.toUpperCase() : text;

/** The case of a token's letters that are not escaped. */
function inReadCase(text: string, escaped: readonly boolean[], how: ReadCase): string {
  const letters = [...text].filter((_, at) => !escaped[at]).join("");
  const isUpper = letters === upper(letters);
  const isLower = letters === letters.toLowerCase();
  const convert = (letter: string): string => {
    if (how === "DOWNCASE" || (how === "INVERT" && isUpper)) return letter.toLowerCase();
    return how === "INVERT" && isLower ? upper(letter) : letter;
  };
  return [...text].map((letter, at) => (escaped[at] ? letter : convert(letter))).join("");
}

export class Reader {
  readonly m: Machine;
  readonly text: string;
  at: number;
  readonly labels = new Map<number, { value: Value | null; readonly placeholder: Sym }>();
  /** True while a form is skipped by `#+` or `#-`: its symbols need not exist. */
  suppress = readSuppress.value !== NIL;
  /** For `stream-error-stream`. */
  stream: Stream | null = null;
  /** False for the prelude: nobody asks where its forms are. */
  notesPositions = true;
  #depth = 0;
  #backquotes = 0;
  readonly #lineStarts: number[];
  readonly #case = readtableCase();

  constructor(m: Machine, text: string, at = 0) {
    this.m = m;
    this.text = text;
    this.at = at;
    this.#lineStarts = [0];
    for (let found = text.indexOf("\n"); found >= 0; found = text.indexOf("\n", found + 1))
      this.#lineStarts.push(found + 1);
  }

  /** The next form, or undefined at the end of the text. */
  next(): Value | undefined {
    for (;;) {
      this.skipBlank();
      if (this.at >= this.text.length) return undefined;
      if (this.text[this.at] === ")") this.fault(`unmatched ) at ${this.where(this.at)}`);
      const read = this.#dispatch();
      if (read !== undefined) return this.suppress ? NIL : read;
    }
  }

  /** A required form; `purpose` and `from` are for the error message. */
  need(purpose: string, from: number): Value {
    for (;;) {
      this.skipBlank();
      if (this.at >= this.text.length)
        this.endOfText(
          `the text ends where a form after ${purpose} at ${this.where(from)} is expected`,
        );
      if (this.text[this.at] === ")")
        this.fault(`) at ${this.where(this.at)} where a form after ${purpose} is expected`);
      const read = this.#dispatch();
      if (read !== undefined) return read;
    }
  }

  position(at: number): Position {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] as number) <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: at - (this.#lineStarts[low] as number) + 1 };
  }

  where(at: number): string {
    const { line, column } = this.position(at);
    return `line ${line} column ${column}`;
  }

  fault(text: string): never {
    this.m.error("READER-ERROR", { TEXT: text, STREAM: this.#source() });
  }

  endOfText(text: string): never {
    this.m.error("%READER-END-OF-FILE", { TEXT: text, STREAM: this.#source() });
  }

  #source(): Stream {
    if (this.stream !== null) return this.stream;
    const made = new Stream(null, "STRING-STREAM");
    made.source = Array.from(this.text);
    return made;
  }

  skipBlank(): void {
    const from = this.at;
    this.#skipBlank();
    if (this.at - from > 64) this.m.tick((this.at - from) >> 6);
  }

  #skipBlank(): void {
    const { text } = this;
    for (;;) {
      const character = text[this.at];
      if (character === undefined) return;
      if (whitespace.has(character)) this.at++;
      else if (character === ";") {
        const end = text.indexOf("\n", this.at);
        this.at = end < 0 ? text.length : end + 1;
      } else if (character === "#" && text[this.at + 1] === "|") this.#skipComment();
      else return;
    }
  }

  #skipComment(): void {
    const { text, at: from } = this;
    let depth = 0;
    do {
      if (this.at >= text.length) this.endOfText(`missing |# for the #| at ${this.where(from)}`);
      const [opens, closes] = [text.startsWith("#|", this.at), text.startsWith("|#", this.at)];
      if (opens) depth++;
      if (closes) depth--;
      this.at += opens || closes ? 2 : 1;
    } while (depth > 0);
  }

  /** Undefined if the text produced no form, such as one skipped by `#+`. */
  #dispatch(): Value | undefined {
    const from = this.at;
    const character = this.text[this.at] as string;
    this.m.tick(1);
    if (++this.#depth > nestedMax)
      this.fault(`forms are nested more than ${nestedMax} deep at ${this.where(from)}`);
    try {
      switch (character) {
        case "(":
          this.at++;
          return this.list(")", from);
        case "'":
          this.at++;
          return form(["QUOTE", this.need("'", from)]);
        case '"':
          return this.#string(from);
        case "`":
          return this.#backquote(from);
        case ",":
          return this.#comma(from);
        case "#":
          return this.#sharp(from);
        default:
          return this.#token(from);
      }
    } finally {
      this.#depth--;
    }
  }

  list(close: string, from: number): Value {
    const { m } = this;
    let head: Value = NIL;
    let last: Cons | null = null;
    let dot = -1;
    for (;;) {
      this.skipBlank();
      if (this.at >= this.text.length)
        this.endOfText(`missing ${close} for the ( at ${this.where(from)}`);
      if (this.text[this.at] === close) {
        this.at++;
        return head;
      }
      if (dot < 0 && this.#isDot()) {
        if (last === null) this.fault(`no form before the dot at ${this.where(this.at)}`);
        dot = this.at++;
        last.cdr = this.need(".", dot);
        continue;
      }
      const item = this.#dispatch();
      if (item === undefined) continue;
      if (dot >= 0) this.fault(`more than one form after the dot at ${this.where(dot)}`);
      const cell: Cons = m.cons(item, NIL);
      if (last === null) {
        head = cell;
        if (this.notesPositions) m.positions.set(cell, this.position(from));
      } else last.cdr = cell;
      last = cell;
    }
  }

  #isDot(): boolean {
    if (this.text[this.at] !== ".") return false;
    const next = this.text[this.at + 1];
    return next === undefined || whitespace.has(next) || terminating.has(next);
  }

  #string(from: number): Value {
    let read = "";
    for (this.at++; this.at < this.text.length; this.at++) {
      const character = this.text[this.at];
      if (character === '"') {
        this.at++;
        return this.m.string(read);
      }
      if (character === "\\") this.at++;
      read += this.text[this.at] ?? "";
    }
    return this.endOfText(`missing " for the string that begins at ${this.where(from)}`);
  }

  #backquote(from: number): Value {
    this.at++;
    this.#backquotes++;
    const template = this.need("`", from);
    this.#backquotes--;
    if (template instanceof Cons && template.car === splice)
      this.fault(`,@ at ${this.where(from)} has no list to join`);
    return expandBackquote(template);
  }

  #comma(from: number): Value {
    if (this.#backquotes === 0) this.fault(`a comma outside any backquote at ${this.where(from)}`);
    this.at++;
    const splicing = this.text[this.at] === "@" || this.text[this.at] === ".";
    if (splicing) this.at++;
    this.#backquotes--;
    const read = this.need(splicing ? ",@" : ",", from);
    this.#backquotes++;
    return form([splicing ? splice : unquote, read]);
  }

  #sharp(from: number): Value | undefined {
    let at = this.at + 1;
    while (/[0-9]/.test(this.text[at] ?? "")) at++;
    const digits = this.text.slice(this.at + 1, at);
    const character = this.text[at];
    if (character === undefined) this.endOfText(`the text ends after the # at ${this.where(from)}`);
    if (this.suppress) {
      this.at = at;
      return this.#skipSharp(character, from);
    }
    const macro = dispatchMacros.get(character.toUpperCase());
    if (macro === undefined) this.fault(`#${character} at ${this.where(from)} is not supported`);
    this.at = at + 1;
    return macro(this, digits === "" ? null : Number(digits), from);
  }

  /** Reads past what follows a `#` while forms are skipped. */
  #skipSharp(character: string, from: number): Value | undefined {
    this.at++;
    if ("+-".includes(character)) return dispatchMacros.get(character)?.(this, null, from);
    if (character === "(") return this.list(")", from);
    if (character === "#") return NIL;
    if ("'=aAsScCpP.,".includes(character)) return this.need(`#${character}`, from);
    if (character === "<" || whitespace.has(character) || character === ")")
      return this.fault(`#${character} at ${this.where(from)} cannot be read`);
    if (character === "\\") this.at--;
    this.token();
    return NIL;
  }

  /** The characters of a token, and which of them were escaped. */
  token(): { readonly text: string; readonly escaped: readonly boolean[] } {
    let text = "";
    const escaped: boolean[] = [];
    const from = this.at;
    const add = (character: string, isEscaped: boolean) => {
      text += character;
      for (let unit = 0; unit < character.length; unit++) escaped.push(isEscaped);
    };
    let inBars = false;
    while (this.at < this.text.length) {
      const character = this.text[this.at] as string;
      if (character === "\\") {
        this.at++;
        if (this.at >= this.text.length)
          this.endOfText(`the text ends after the \\ at ${this.where(this.at - 1)}`);
        add(this.text[this.at] as string, true);
      } else if (character === "|") {
        inBars = !inBars;
        if (inBars) add("", true);
        if (!inBars && text === "") this.#sawBars = true;
      } else if (inBars) add(character, true);
      else if (whitespace.has(character) || terminating.has(character)) break;
      else add(this.#case === "UPCASE" ? upper(character) : character, false);
      this.at++;
    }
    if (this.#case !== "UPCASE") text = inReadCase(text, escaped, this.#case);
    if (inBars) this.endOfText(`missing | for the symbol that begins at ${this.where(from)}`);
    return { text, escaped };
  }

  #sawBars = false;

  #token(from: number): Value {
    const usual = this.#usualToken();
    if (usual !== undefined)
      return usual.startsWith(":") ? keywordOf(this.m, usual.slice(1)) : this.#interned(usual);
    this.#sawBars = false;
    const { text, escaped } = this.token();
    if (this.suppress) return NIL;
    if (escaped.length === 0 && !this.#sawBars)
      this.fault(`cannot read the text at ${this.where(from)}`);
    if (!escaped.includes(true) && text !== "") {
      const number = readNumber(this.m, this.#case === "UPCASE" ? text : text.toUpperCase());
      if (number !== undefined) return number;
      if (/^\.+$/.test(text)) this.fault(`a token of dots only at ${this.where(from)}`);
    }
    return this.#symbol(text, escaped, from);
  }

  #usualToken(): string | undefined {
    if (this.suppress || this.#case !== "UPCASE" || readBase.value !== 10) return undefined;
    usualToken.lastIndex = this.at;
    const found = usualToken.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found?.toUpperCase();
  }

  #symbol(text: string, escaped: readonly boolean[], from: number): Value {
    const colon = [...escaped.keys()].find((index) => text[index] === ":" && !escaped[index]);
    if (colon === undefined) return this.#interned(text);
    const double = text[colon + 1] === ":" && !escaped[colon + 1];
    const name = text.slice(colon + (double ? 2 : 1));
    const rest = escaped.slice(colon + (double ? 2 : 1));
    if (rest.some((isEscaped, index) => !isEscaped && name[index] === ":"))
      this.fault(`too many colons in ${text} at ${this.where(from)}`);
    if (colon === 0) return keywordOf(this.m, name);
    return this.#qualified(text.slice(0, colon), name, double, from);
  }

  #interned(name: string): Value {
    const pkg = currentPackage(this.m);
    if (name === "NIL" || name === "T")
      return findSymbol(pkg, name)?.sym ?? (name === "T" ? T : NIL);
    return intern(this.m, pkg, name);
  }

  #qualified(packageName: string, name: string, double: boolean, from: number): Value {
    const pkg = this.m.packages.get(packageName);
    if (pkg === undefined) this.fault(`unknown package ${packageName} (at ${this.where(from)})`);
    if (double) return intern(this.m, pkg, name);
    const found = findSymbol(pkg, name);
    if (found === undefined)
      this.fault(`the package ${packageName} has no symbol ${name} (at ${this.where(from)})`);
    if (found.status !== "EXTERNAL")
      this.fault(
        `the symbol ${name} is not external in ${packageName} (at ${this.where(from)}); ${packageName}::${name} reaches it`,
      );
    return found.sym;
  }
}
