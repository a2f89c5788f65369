/** Parses a control string into text and directives with matched brackets. */
export type Piece = string | Directive;

/** A number, a character, `V` (the next argument), `#` (the number of remaining ones), or absent. */
export type Parameter = number | { readonly character: string } | "v" | "#" | undefined;

export interface Directive {
  /** In upper case, or a newline. */
  readonly character: string;
  readonly parameters: readonly Parameter[];
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
  return new Parser(control).pieces();
}

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
      else pieces.push(...this.#newline(directive));
    }
  }

  /** `~newline` skips the indentation of the next line; `@` keeps the newline, `:` the indentation. */
  #newline({ colon, at }: Directive): string[] {
    if (!colon) while (/[^\S\n]/.test(this.#control.charAt(this.#at))) this.#at += 1;
    return at ? ["\n"] : [];
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

  #parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    for (;;) {
      const { found, parameter } = this.#parameter();
      const isComma = this.#control.charAt(this.#at) === ",";
      if (found || isComma) parameters.push(parameter);
      if (!isComma) return parameters;
      this.#at += 1;
    }
  }

  #parameter(): { found: boolean; parameter: Parameter } {
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
    const number = /^[+-]?\d+/.exec(this.#control.slice(this.#at, this.#at + 20))?.[0];
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
