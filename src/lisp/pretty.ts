/**
 * Logical blocks. A block's text, newlines, tabs and indentations are collected as tokens; at the end of the outermost
 * block `%layout` of the prelude breaks the lines.
 */
import { write } from "./budgets.ts";
import { form, named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";
import { bool, cl, keyword, NIL } from "./symbol.ts";
import { Cons, Stream, type Value, Vec } from "./values.ts";

export type NewlineKind = "LINEAR" | "FILL" | "MISER" | "MANDATORY" | "LITERAL";

export interface Tab {
  readonly isSection: boolean;
  readonly isRelative: boolean;
  readonly column: number;
  readonly step: number;
}

export interface BlockText {
  readonly prefix: string;
  /** True if each line begins with the prefix. */
  readonly isPerLine: boolean;
  readonly suffix: string;
}

export class Pretty {
  readonly #tokens: Value[] = [];
  /** The blocks that are not closed yet: where their index of the end belongs, and their suffix. */
  readonly #open: { readonly close: Cons; readonly suffix: string }[] = [];

  text(text: string): void {
    text.split("\n").forEach((line, index) => {
      if (index > 0) this.newline("LITERAL");
      if (line !== "") this.#tokens.push(new Str(line));
    });
  }

  newline(how: NewlineKind): void {
    this.#tokens.push(form([":NEWLINE", keyword(how), this.#open.length]));
  }

  indent(isCurrent: boolean, by: number): void {
    this.#tokens.push(form([":INDENT", bool(isCurrent), by]));
  }

  tab({ isSection, isRelative, column, step }: Tab): void {
    this.#tokens.push(form([":TAB", bool(isSection), bool(isRelative), column, step]));
  }

  start({ prefix, isPerLine, suffix }: BlockText): void {
    this.text(prefix);
    const texts = [new Str(prefix), bool(isPerLine), new Str(suffix)];
    const close = form([0, this.#open.length, ...texts]) as Cons;
    this.#tokens.push(new Cons(keyword("START"), close));
    this.#open.push({ close, suffix });
  }

  end(): void {
    const { close, suffix } = this.#open.pop() as { close: Cons; suffix: string };
    close.car = this.#tokens.length;
    this.#tokens.push(form([":END"]));
    this.text(suffix);
  }

  /** The text with its line breaks; the first line begins at `column`. */
  layout(m: Machine, column: number): string {
    return String(m.call2(m.fn(named("%LAYOUT")), new Vec(this.#tokens), column));
  }
}

/** Runs `body` with a stream that collects a logical block; without `*print-pretty*` there is no layout. */
export function inBlock(
  m: Machine,
  stream: Stream,
  block: BlockText,
  body: (stream: Stream) => void,
): void {
  if (cl("*PRINT-PRETTY*").value === NIL) {
    write(m, stream, block.prefix);
    body(stream);
    write(m, stream, block.suffix);
    return;
  }
  const pretty = stream.pretty ?? new Pretty();
  const inner = stream.pretty === null ? prettyStream(pretty, stream.column) : stream;
  pretty.start(block);
  body(inner);
  pretty.end();
  if (inner !== stream) write(m, stream, pretty.layout(m, stream.column));
}

function prettyStream(pretty: Pretty, column: number): Stream {
  const made = new Stream((text) => pretty.text(text));
  made.pretty = pretty;
  made.column = column;
  return made;
}
