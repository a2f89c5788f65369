/** Parses a control string into text and directives with matched brackets. */
import { exceed, write } from "../budgets.ts";
import type { Machine } from "../machine.ts";
import { listItems } from "../sequences.ts";
import { Char } from "../string.ts";
import { NIL } from "../symbol.ts";
import { Stream, type Value } from "../values.ts";

export type Piece = string | Directive;

/** A number, a character, `V` (the next argument), `#` (the number of remaining ones), or absent. */
export type DirectiveParameter = number | { readonly character: string } | "v" | "#" | undefined;

export interface Directive {
  /** In upper case, or a newline. */
  readonly character: string;
  readonly parameters: readonly DirectiveParameter[];
  readonly colon: boolean;
  readonly at: boolean;
  /** Of `~( ~[ ~{ ~<`: the contents between the separators. */
  readonly clauses: readonly Clause[];
  readonly closing: { readonly colon: boolean; readonly at: boolean } | undefined;
  /** Of `~/name/`. */
  readonly name: string;
}

export interface Clause {
  readonly pieces: readonly Piece[];
  /** The `~;` that ends it, if any. */
  readonly separator: Directive | undefined;
}

/** An error in a control string with its position. */
export class ControlFault {
  readonly text: string;
  readonly position: number;
  constructor(text: string, position: number) {
    this.text = text;
    this.position = position;
  }
}

const closers = new Map([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
  ["<", ">"],
]);

/** Throws a ControlFault. */
export function parseControl(control: string): readonly Piece[] {
  const pieces = new Parser(control).pieces();
  const all = directivesIn(pieces);
  const justified = all.filter(({ character, closing }) => character === "<" && !closing?.colon);
  const isMixed = justified.some(
    ({ clauses }) =>
      (clauses[0]?.separator?.colon && all.some(isLayout)) ||
      clauses.some((clause) => directivesIn(clause.pieces).some(isLayout)),
  );
  if (isMixed) throw new ControlFault("~<…~> cannot be combined with logical blocks", 0);
  return pieces;
}

function directivesIn(pieces: readonly Piece[]): Directive[] {
  return pieces.flatMap((piece) =>
    typeof piece === "string"
      ? []
      : [piece, ...piece.clauses.flatMap((clause) => directivesIn(clause.pieces))],
  );
}

/** `~W`, `~_`, `~I`, `~:T` and `~<…~:>`. */
const isLayout = ({ character, colon, closing }: Directive): boolean =>
  "W_I".includes(character) ||
  (character === "T" && colon) ||
  (character === "<" && closing?.colon === true);

class Parser {
  readonly #control: string;
  #at = 0;

  constructor(control: string) {
    this.#control = control;
  }

  pieces(): Piece[] {
    const { pieces, end } = this.#until("");
    if (end !== undefined) throw new ControlFault(`~${end.character} closes nothing`, this.#at - 1);
    return pieces;
  }

  /** Reads up to the closing directive, or to a separator inside a block. */
  #until(closer: string): { pieces: Piece[]; end: Directive | undefined } {
    const pieces: Piece[] = [];
    for (;;) {
      const tilde = this.#control.indexOf("~", this.#at);
      const text = this.#control.slice(this.#at, tilde < 0 ? undefined : tilde);
      if (text !== "") pieces.push(text);
      if (tilde < 0) {
        if (closer !== "") throw new ControlFault(`~${closer} is missing`, this.#control.length);
        return { pieces, end: undefined };
      }
      this.#at = tilde + 1;
      const directive = this.#directive();
      if (
        directive.character === closer ||
        directive.character === ";" ||
        ")]}>".includes(directive.character)
      ) {
        if (closer !== "" && directive.character !== closer && directive.character !== ";")
          throw new ControlFault(`~${closer} is missing`, this.#at - 1);
        return { pieces, end: directive };
      }
      if (directive.character !== "\n") pieces.push(directive);
      else pieces.push(this.#newline(directive));
    }
  }

  /** `~newline` skips the indentation of the next line; `@` keeps the newline, `:` the indentation. */
  #newline({ colon, at }: Directive): string {
    if (!colon) while (/[^\S\n]/.test(this.#control.charAt(this.#at))) this.#at += 1;
    return at ? "\n" : "";
  }

  #directive(): Directive {
    const parameters = this.#parameters();
    let [colon, at] = [false, false];
    for (; ; this.#at += 1) {
      const mark = this.#control.charAt(this.#at);
      if (mark === ":") colon = true;
      else if (mark === "@") at = true;
      else break;
    }
    if (this.#at >= this.#control.length)
      throw new ControlFault("the string ends inside a directive", this.#at);
    const character = this.#control.charAt(this.#at).toUpperCase();
    this.#at += 1;
    const name = character === "/" ? this.#name() : "";
    const closer = closers.get(character);
    if (closer === undefined)
      return { character, parameters, colon, at, clauses: [], closing: undefined, name };
    const { clauses, end } = this.#clauses(closer);
    return {
      character,
      parameters,
      colon,
      at,
      clauses,
      closing: { colon: end.colon, at: end.at },
      name,
    };
  }

  #clauses(closer: string): { clauses: Clause[]; end: Directive } {
    const clauses: Clause[] = [];
    for (;;) {
      const { pieces, end } = this.#until(closer);
      if (end === undefined || end.character !== ";") {
        clauses.push({ pieces, separator: undefined });
        return { clauses, end: end as Directive };
      }
      clauses.push({ pieces, separator: end });
    }
  }

  #parameters(): DirectiveParameter[] {
    const parameters: DirectiveParameter[] = [];
    for (;;) {
      const { found, parameter } = this.#parameter();
      const isComma = this.#control.charAt(this.#at) === ",";
      if (found || isComma) parameters.push(parameter);
      if (!isComma) return parameters;
      this.#at += 1;
    }
  }

  #parameter(): { found: boolean; parameter: DirectiveParameter } {
    const character = this.#control.charAt(this.#at);
    if (character === "'") {
      const quoted = String.fromCodePoint(this.#control.codePointAt(this.#at + 1) ?? 32);
      this.#at += 1 + quoted.length;
      return { found: true, parameter: { character: quoted } };
    }
    if (/[vV#]/.test(character)) {
      this.#at += 1;
      return { found: true, parameter: character === "#" ? "#" : "v" };
    }
    const digits = /[+-]?\d+/y;
    digits.lastIndex = this.#at;
    const number = digits.exec(this.#control)?.[0];
    if (number === undefined) return { found: false, parameter: undefined };
    this.#at += number.length;
    return { found: true, parameter: Number(number) };
  }

  #name(): string {
    const end = this.#control.indexOf("/", this.#at);
    if (end < 0) throw new ControlFault("the / that ends a name is missing", this.#at);
    const name = this.#control.slice(this.#at, end);
    this.#at = end + 1;
    return name;
  }
}
// The state of one `format` call: its arguments and its output.

/** An output target. `column` is that of the next character. */
export interface FormatTarget {
  readonly stream: Stream;
  write(text: string): void;
}

export function streamTarget(m: Machine, stream: Stream): FormatTarget {
  return { stream, write: (text) => write(m, stream, text) };
}

/** Collects text; counted as memory, not as output. */
export class Buffer implements FormatTarget {
  readonly stream = new Stream();
  readonly #m: Machine;
  #text = "";

  constructor(m: Machine, column = 0) {
    this.#m = m;
    this.stream.column = column;
    this.stream.sink = (text) => {
      this.#text += text;
    };
  }

  write(text: string): void {
    this.#m.alloc((text.length >> 3) + 1);
    this.#text += text;
    const line = text.lastIndexOf("\n");
    this.stream.column = line < 0 ? this.stream.column + text.length : text.length - line - 1;
  }

  get text(): string {
    return this.#text;
  }
}

/** How a list of directives ended: at its end, by `~^`, or by `~:^`. */
export type DirectiveEnding = "end" | "up" | "up-up";

export class FormatRun {
  readonly m: Machine;
  readonly target: FormatTarget;
  /** All arguments; `at` is the next one. */
  readonly args: readonly Value[];
  at: number;
  /** Inside `~:{`: whether it is the last sublist. */
  readonly isLastSublist: boolean | undefined;

  constructor(
    m: Machine,
    target: FormatTarget,
    args: readonly Value[],
    at = 0,
    isLastSublist?: boolean,
  ) {
    this.m = m;
    this.target = target;
    this.args = args;
    this.at = at;
    this.isLastSublist = isLastSublist;
  }

  /** The same arguments with another target. */
  into(target: FormatTarget): FormatRun {
    return new FormatRun(this.m, target, this.args, this.at, this.isLastSublist);
  }

  get left(): number {
    return this.args.length - this.at;
  }

  next(): Value {
    const value = this.args[this.at];
    if (value === undefined) return this.fail("too few arguments");
    this.at += 1;
    return value;
  }

  nextList(): Value[] {
    return listItems(this.m, this.next());
  }

  fail(text: string): never {
    this.m.error("GUILDHALL:FORMAT-ERROR", { TEXT: `error in format: ${text}` });
  }

  /** Repeats a character; refuses a count that exceeds the budget before allocating. */
  repeat(character: string, count: number): string {
    if (count <= 0) return "";
    if (count > this.m.budgets.output) exceed(this.m, "OUTPUT");
    return character.repeat(count);
  }

  /** The parameters of a directive; each method reads the next. */
  parameters(directive: Directive): Parameters {
    return new Parameters(this, directive);
  }
}

class Parameters {
  readonly #run: FormatRun;
  readonly #directive: Directive;
  #index = 0;

  constructor(run: FormatRun, directive: Directive) {
    this.#run = run;
    this.#directive = directive;
  }

  number(): number | undefined {
    const value = this.#value();
    if (value === undefined || typeof value === "number") return value;
    if (typeof value === "bigint")
      return value > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
    return this.#run.fail(`a parameter of ~${this.#directive.character} is not an integer`);
  }

  character(): string | undefined {
    const value = this.#value();
    if (value === undefined || typeof value === "string") return value;
    return this.#run.fail(`a parameter of ~${this.#directive.character} is not a character`);
  }

  /** The parameters of `~^`. */
  any(): number | bigint | string | undefined {
    return this.#value();
  }

  #value(): number | bigint | string | undefined {
    const parameter = this.#directive.parameters[this.#index];
    this.#index += 1;
    if (parameter === "#") return this.#run.left;
    if (typeof parameter === "object") return parameter.character;
    if (parameter !== "v") return parameter;
    const value = this.#run.next();
    if (value === NIL) return undefined;
    if (typeof value === "number" || typeof value === "bigint") return value;
    return value instanceof Char
      ? String.fromCodePoint(value.code)
      : this.#run.fail("V takes an integer, a character or NIL");
  }
}
