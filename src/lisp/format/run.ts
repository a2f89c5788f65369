/** Parses a control string into text and directives with matched brackets. */
import { exceed, write } from "../budgets.ts";
import { named } from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { listItems } from "../sequences.ts";
import { Char, Str } from "../string.ts";
import { NIL } from "../symbol.ts";
import { gatheringStream, itemsOf, type Stream, type Value } from "../values.ts";

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
  readonly closing: Pick<Directive, "colon" | "at"> | undefined;
  /** Of `~/name/`. */
  readonly name: string;
}

export interface Clause {
  readonly pieces: readonly Piece[];
  /** The `~;` that ends it, if any. */
  readonly separator: Directive | undefined;
}

/** An error in a control string with its position. */
class ControlFault {
  readonly text: string;
  readonly position: number;
  constructor(text: string, position: number) {
    this.text = text;
    this.position = position;
  }
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };

/** Throws a ControlFault. */
function parseControl(control: string): readonly Piece[] {
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
      this.#at = tilde < 0 ? this.#control.length + 1 : tilde + 1;
      const end = tilde < 0 ? undefined : this.#directive();
      if (end === undefined || ";)]}>".includes(end.character)) {
        if (closer !== "" && end?.character !== closer && end?.character !== ";")
          throw new ControlFault(`~${closer} is missing`, this.#at - 1);
        return { pieces, end };
      }
      pieces.push(end.character === "\n" ? this.#newline(end) : end);
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
    const closer = closers[character];
    const { clauses, closing } =
      closer === undefined ? { clauses: [], closing: undefined } : this.#clauses(closer);
    return { character, parameters, colon, at, clauses, closing, name };
  }

  #clauses(closer: string): { clauses: Clause[]; closing: Directive } {
    const clauses: Clause[] = [];
    for (;;) {
      const { pieces, end } = this.#until(closer) as { pieces: Piece[]; end: Directive };
      const isLast = end.character !== ";";
      clauses.push({ pieces, separator: isLast ? undefined : end });
      if (isLast) return { clauses, closing: end };
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

/** How a list of directives ended: at its end, by `~^`, or by `~:^`. */
export type DirectiveEnding = "end" | "up" | "up-up";

/** Runs a directive; returns how its list of directives ends, if it ends there. */
export type Action = (run: FormatRun, directive: Directive) => DirectiveEnding | undefined;

type Given = number | bigint | string | undefined;

/** `n` is a number, `c` a character, `a` any of both. */
export type Parameters<Kinds extends string> = Kinds extends `${infer Kind}${infer Rest}`
  ? [
      Kind extends "n" ? number | undefined : Kind extends "c" ? string | undefined : Given,
      ...Parameters<Rest>,
    ]
  : [];

// The parse depends only on the text, so all sessions can share it.
const parsed = new Map<string, readonly Piece[]>();
const parsedMax = 500;

export class FormatRun {
  readonly m: Machine;
  readonly stream: Stream;
  /** All arguments; `at` is the next one. */
  readonly args: readonly Value[];
  at = 0;
  /** Inside `~:{`: whether it is the last sublist. */
  isLastSublist: boolean | undefined;
  readonly #actions: ReadonlyMap<string, Action>;

  constructor(
    m: Machine,
    stream: Stream,
    args: readonly Value[],
    actions: ReadonlyMap<string, Action>,
  ) {
    this.m = m;
    this.stream = stream;
    this.args = args;
    this.#actions = actions;
  }

  /** The same output with other arguments. */
  over(args: readonly Value[], stream = this.stream): FormatRun {
    return new FormatRun(this.m, stream, args, this.#actions);
  }

  /** The text that pieces write; they go on with the arguments. */
  gather(pieces: readonly Piece[], column = 0): { text: string; ending: DirectiveEnding } {
    const stream = gatheringStream();
    stream.column = column;
    const inner = this.over(this.args, stream);
    inner.at = this.at;
    inner.isLastSublist = this.isLastSublist;
    const ending = inner.pieces(pieces);
    this.at = inner.at;
    return { text: stream.gathered, ending };
  }

  /** Runs until the end or a `~^`. */
  pieces(pieces: readonly Piece[]): DirectiveEnding {
    for (const piece of pieces) {
      this.m.tick(1);
      if (typeof piece === "string") {
        this.write(piece);
        continue;
      }
      const action = this.#actions.get(piece.character);
      if (action === undefined) return this.fail(`unknown directive ~${piece.character}`);
      const ending = action(this, piece);
      if (ending !== undefined) return ending;
    }
    return "end";
  }

  /** Runs a control string or a function with the arguments. */
  control(control: Value): DirectiveEnding {
    if (control instanceof Fn) {
      const rest = this.m.apply(control, [this.stream, ...this.args.slice(this.at)]);
      // A function of `formatter` returns the arguments that it did not use.
      if (control.code.name === named("FORMATTER"))
        this.at = this.args.length - itemsOf(rest).length;
      return "end";
    }
    if (!(control instanceof Str)) return this.m.typeError(control, "(OR STRING FUNCTION)");
    return this.pieces(this.#parse(control.toString()));
  }

  #parse(control: string): readonly Piece[] {
    const known = parsed.get(control);
    if (known !== undefined) return known;
    this.m.tick(control.length);
    try {
      const pieces = parseControl(control);
      if (parsed.size >= parsedMax) parsed.clear();
      if (control.length <= 1000) parsed.set(control, pieces);
      return pieces;
    } catch (fault) {
      if (!(fault instanceof ControlFault)) throw fault;
      const { text, position } = fault;
      return this.fail(`${text}, at character ${position} of ${this.m.show(new Str(control))}`);
    }
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

  write(text: string): undefined {
    write(this.m, this.stream, text);
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

  /** The first parameters of a directive, by their kinds. */
  parameters<const Kinds extends string>(directive: Directive, kinds: Kinds): Parameters<Kinds> {
    const given: Given[] = [];
    const length = Math.min(kinds.length, directive.parameters.length);
    for (let at = 0; at < length; at++) {
      const value = this.#parameter(directive.parameters[at]);
      const isText = typeof value === "string";
      if (value !== undefined && kinds[at] === (isText ? "n" : "c")) {
        const expected = isText ? "an integer" : "a character";
        this.fail(`a parameter of ~${directive.character} is not ${expected}`);
      }
      const isHuge = typeof value === "bigint" && kinds[at] === "n";
      given.push(isHuge ? Number.MAX_SAFE_INTEGER * (value > 0n ? 1 : -1) : value);
    }
    return given as Parameters<Kinds>;
  }

  #parameter(parameter: DirectiveParameter): Given {
    if (parameter === "#") return this.left;
    if (typeof parameter === "object") return parameter.character;
    if (parameter !== "v") return parameter;
    const value = this.next();
    if (value === NIL) return undefined;
    if (typeof value === "number" || typeof value === "bigint") return value;
    return value instanceof Char
      ? String.fromCodePoint(value.code)
      : this.fail("V takes an integer, a character or NIL");
  }
}
