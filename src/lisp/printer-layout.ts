// Layout of logical blocks. A block's text, newlines, tabs and indentations are collected; at the end of the
// outermost block the lines are broken: a block that fits stays on its line, otherwise its linear newlines break.
import type { Machine } from "./machine.ts";
import { cl, NIL } from "./symbol.ts";

export type NewlineKind = "LINEAR" | "FILL" | "MISER" | "MANDATORY" | "LITERAL";

type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "newline"; readonly how: NewlineKind; readonly depth: number }
  | { readonly kind: "indent"; readonly isCurrent: boolean; readonly by: number }
  | ({ readonly kind: "tab" } & Tab)
  | ({ readonly kind: "start"; readonly depth: number; close: number } & BlockText)
  | { readonly kind: "end" };

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

interface Block {
  readonly start: number;
  section: number;
  sectionLine: number;
  /** Begins each new line of the block; its first `fixed` characters also begin a literal line. */
  indentation: string;
  readonly fixed: number;
  readonly suffix: string;
}

export class Pretty {
  readonly #tokens: Token[] = [];
  readonly #open: number[] = [];

  text(text: string): void {
    text.split("\n").forEach((line, index) => {
      if (index > 0) this.newline("LITERAL");
      if (line !== "") this.#tokens.push({ kind: "text", text: line });
    });
  }

  newline(how: NewlineKind): void {
    this.#tokens.push({ kind: "newline", how, depth: this.#open.length });
  }

  indent(isCurrent: boolean, by: number): void {
    this.#tokens.push({ kind: "indent", isCurrent, by });
  }

  tab(tab: Tab): void {
    this.#tokens.push({ kind: "tab", ...tab });
  }

  start(block: BlockText): void {
    this.text(block.prefix);
    this.#open.push(this.#tokens.length);
    this.#tokens.push({ kind: "start", depth: this.#open.length - 1, close: 0, ...block });
  }

  end(): void {
    const start = this.#tokens[this.#open.pop() as number] as Token & { kind: "start" };
    start.close = this.#tokens.length;
    this.#tokens.push({ kind: "end" });
    this.text(start.suffix);
  }

  /** The text with its line breaks; the first line begins at `column`. */
  layout(m: Machine, column: number): string {
    return new Lines(m, this.#tokens, column).text();
  }
}

class Lines {
  readonly #m: Machine;
  readonly #tokens: readonly Token[];
  /** Of a newline or block: the index of the newline that ends its section. */
  readonly #sectionEnds: readonly number[];
  readonly #margin = numberOf("*PRINT-RIGHT-MARGIN*") ?? 80;
  readonly #miser = numberOf("*PRINT-MISER-WIDTH*");
  readonly #lines =
    (cl("*PRINT-READABLY*").value === NIL ? numberOf("*PRINT-LINES*") : undefined) ??
    Number.POSITIVE_INFINITY;
  readonly #blocks: Block[];
  #done = "";
  #current = "";
  /** The column of the current line's text. */
  #base: number;
  #line = 0;

  constructor(m: Machine, tokens: readonly Token[], column: number) {
    this.#m = m;
    this.#tokens = tokens;
    this.#base = column;
    this.#sectionEnds = sectionEnds(tokens);
    const outer = { start: 0, section: 0, sectionLine: 0, indentation: "", fixed: 0, suffix: "" };
    this.#blocks = [outer];
  }

  text(): string {
    for (let at = 0; at < this.#tokens.length; ) {
      this.#m.tick(1);
      const next = this.#step(at, this.#tokens[at] as Token);
      if (next < 0) break;
      at = next;
    }
    return this.#done + this.#current;
  }

  get #column(): number {
    return this.#base + this.#current.length;
  }

  get #block(): Block {
    return this.#blocks.at(-1) as Block;
  }

  get #isMiser(): boolean {
    return this.#miser !== undefined && this.#margin - this.#block.start <= this.#miser;
  }

  /** Returns the index of the next token, or -1 at the limit of lines. */
  #step(at: number, token: Token): number {
    switch (token.kind) {
      case "text":
        this.#current += token.text;
        break;
      case "tab":
        this.#current += " ".repeat(tabSize(token, this.#block.section, this.#column));
        break;
      case "indent":
        if (!this.#isMiser)
          this.#indentTo((token.isCurrent ? this.#column : this.#block.start) + token.by);
        break;
      case "end":
        this.#blocks.pop();
        break;
      case "newline":
        if (!this.#isBreak(at, token.how)) this.#block.section = this.#column;
        else if (!this.#break(token.how === "LITERAL")) return -1;
        break;
      case "start":
        if (this.#fits(at)) {
          this.#current += this.#flat(at + 1, token.close).text;
          return token.close + 1;
        }
        this.#begin(token);
    }
    return at + 1;
  }

  #begin({ prefix, isPerLine, suffix }: BlockText): void {
    const [outer, start] = [this.#block, this.#column];
    const spaces = outer.indentation.padEnd(start).slice(0, start);
    this.#blocks.push({
      start,
      section: start,
      sectionLine: this.#line,
      indentation: isPerLine ? spaces.slice(0, start - prefix.length) + prefix : spaces,
      fixed: isPerLine ? start : outer.fixed,
      suffix: suffix + outer.suffix,
    });
  }

  #indentTo(column: number): void {
    const block = this.#block;
    const width = Math.max(column, block.fixed);
    block.indentation = block.indentation.padEnd(width).slice(0, width);
  }

  #isBreak(at: number, how: NewlineKind): boolean {
    if (how === "MISER") return this.#isMiser;
    if (how !== "FILL") return true;
    return this.#isMiser || this.#line > this.#block.sectionLine || !this.#fits(at);
  }

  /** False if there may be no more lines. */
  #break(isLiteral: boolean): boolean {
    this.#done += isLiteral ? this.#current : this.#current.trimEnd();
    this.#current = "";
    this.#line++;
    const block = this.#block;
    if (this.#line >= this.#lines) {
      this.#done += ` ..${block.suffix}`;
      return false;
    }
    this.#done += "\n";
    this.#base = 0;
    this.#current = isLiteral ? block.indentation.slice(0, block.fixed) : block.indentation;
    if (!isLiteral) {
      block.section = this.#current.length;
      block.sectionLine = this.#line;
    }
    return true;
  }

  /** True if the section after a token fits on the line. */
  #fits(at: number): boolean {
    return this.#flat(at + 1, this.#sectionEnds[at] as number).fits;
  }

  /** The text of tokens on one line; gives up at the margin. */
  #flat(from: number, to: number): { readonly text: string; readonly fits: boolean } {
    let [text, section, fits] = ["", this.#column, true];
    for (let at = from; at < to && fits; at++) {
      const token = this.#tokens[at] as Token;
      const column = this.#column + text.length;
      if (token.kind === "text") text += token.text;
      else if (token.kind === "tab") text += " ".repeat(tabSize(token, section, column));
      else if (token.kind === "start") section = column;
      else if (token.kind === "newline") {
        section = column;
        if (token.how === "MANDATORY" || token.how === "LITERAL") fits = false;
      }
      fits &&= this.#column + text.length <= this.#margin;
    }
    return { text, fits };
  }
}

function sectionEnds(tokens: readonly Token[]): number[] {
  const ends: number[] = new Array(tokens.length).fill(tokens.length);
  /** The next newline at each depth. */
  const next: number[] = [];
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at] as Token;
    if (token.kind !== "newline" && token.kind !== "start") continue;
    for (let depth = 0; depth <= token.depth; depth++)
      ends[at] = Math.min(ends[at] as number, next[depth] ?? tokens.length);
    if (token.kind === "newline") next[token.depth] = at;
  }
  return ends;
}

function tabSize(
  { isSection, isRelative, column, step }: Tab,
  section: number,
  at: number,
): number {
  const origin = isSection ? section : 0;
  if (isRelative) {
    const over = step > 1 ? (at - origin + column) % step : 0;
    return over === 0 ? column : column + step - over;
  }
  const goal = column + origin;
  if (at < goal || step === 0) return Math.max(0, goal - at);
  return step - ((at - goal) % step);
}

function numberOf(name: string): number | undefined {
  const { value } = cl(name);
  return typeof value === "number" ? value : undefined;
}
