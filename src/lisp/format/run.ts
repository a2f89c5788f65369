/** The state of one `format` call: its arguments and its output. */

import { exceed } from "../budgets.ts";
import type { Machine } from "../machine.ts";
import { write } from "../output.ts";
import { Char, Str } from "../string.ts";
import { NIL } from "../symbol.ts";
import { Cons, Stream, type Value } from "../values.ts";
import type { Directive } from "./parse.ts";

/** An output target. `column` is that of the next character. */
export interface Target {
  readonly stream: Stream;
  write(text: string): void;
}

export function streamTarget(m: Machine, stream: Stream): Target {
  return { stream, write: (text) => write(m, stream, text) };
}

/** Collects text; counted as memory, not as output. */
export class Buffer implements Target {
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
export type Ending = "end" | "up" | "up-up";

export class Run {
  readonly m: Machine;
  readonly target: Target;
  /** All arguments; `at` is the next one. */
  readonly args: readonly Value[];
  at: number;
  /** Inside `~:{`: whether it is the last sublist. */
  readonly isLastSublist: boolean | undefined;

  constructor(m: Machine, target: Target, args: readonly Value[], at = 0, isLastSublist?: boolean) {
    this.m = m;
    this.target = target;
    this.args = args;
    this.at = at;
    this.isLastSublist = isLastSublist;
  }

  /** The same arguments with another target. */
  into(target: Target): Run {
    return new Run(this.m, target, this.args, this.at, this.isLastSublist);
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
    const value = this.next();
    const items: Value[] = [];
    let at = value;
    for (; at instanceof Cons; at = at.cdr) {
      items.push(at.car);
      if (items.length % 256 === 0) this.m.alloc(256);
    }
    return at === NIL ? items : this.m.typeError(at, "LIST");
  }

  fail(text: string): never {
    this.m.error("GUILDHALL:FORMAT-ERROR", { TEXT: new Str(`error in format: ${text}`) });
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
  readonly #run: Run;
  readonly #directive: Directive;
  #index = 0;

  constructor(run: Run, directive: Directive) {
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
