/** Block directives: case `~(~)`, choice `~[~]`, iteration `~{~}`, justification `~<~>`, and `~^`. */

import { printText, withLabels } from "../printer.ts";
import type { BlockText } from "../printer-layout.ts";
import { inBlock } from "../printer-pretty.ts";
import { lowerCode, upperCode } from "../string.ts";
import { NIL } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import type { Action, Formatting } from "./format.ts";
import {
  Buffer,
  type Clause,
  type Directive,
  type DirectiveEnding,
  FormatRun,
  type Piece,
  streamTarget,
} from "./run.ts";

export const blockDirectives: readonly (readonly [string, Action])[] = [
  ["(", changeCase],
  ["[", choose],
  ["{", iterate],
  [
    "<",
    (run, directive, format) =>
      directive.closing?.colon
        ? logicalBlock(run, directive, format)
        : justify(run, directive, format),
  ],
  ["^", leave],
  [";", (run) => run.fail("~; outside ~[ and ~<")],
];

function changeCase(
  run: FormatRun,
  directive: Directive,
  format: Formatting,
): DirectiveEnding | undefined {
  const inner = run.into(new Buffer(run.m, run.target.stream.column));
  const ending = format.pieces(inner, directive.clauses[0]?.pieces ?? []);
  run.at = inner.at;
  run.target.write(inCase((inner.target as Buffer).text, directive));
  return ending === "end" ? undefined : ending;
}

function inCase(text: string, { colon, at }: Directive): string {
  if (colon && at) return mapCodes(text, upperCode);
  const lower = mapCodes(text, lowerCode);
  if (colon) return lower.replace(/[\p{L}\p{N}]+/gu, capital);
  return at ? lower.replace(/[\p{L}\p{N}]+/u, capital) : lower;
}

function capital(word: string): string {
  const first = String.fromCodePoint(word.codePointAt(0) ?? 32);
  return mapCodes(first, upperCode) + word.slice(first.length);
}

function mapCodes(text: string, change: (code: number) => number): string {
  return Array.from(text, (character) =>
    String.fromCodePoint(change(character.codePointAt(0) ?? 0)),
  ).join("");
}

function choose(
  run: FormatRun,
  directive: Directive,
  format: Formatting,
): DirectiveEnding | undefined {
  const { clauses, colon, at } = directive;
  if (at) {
    if (clauses.length > 1) run.fail("~@[ takes one section");
    if (run.next() === NIL) return undefined;
    run.at -= 1;
    return passOn(format.pieces(run, clauses[0]?.pieces ?? []));
  }
  if (colon) {
    if (clauses.length !== 2) run.fail("~:[ takes two sections");
    return passOn(format.pieces(run, clauses[run.next() === NIL ? 0 : 1]?.pieces ?? []));
  }
  const index: Value = run.parameters(directive).number() ?? run.next();
  if (typeof index !== "number" && typeof index !== "bigint")
    return run.fail(`~[ takes an integer, not ${run.m.show(index)}`);
  const isDefault = clauses.at(-2)?.separator?.colon === true;
  const chosen =
    clauses[index < 0 ? -1 : Number(index)] ?? (isDefault ? clauses.at(-1) : undefined);
  return chosen && passOn(format.pieces(run, chosen.pieces));
}

function passOn(ending: DirectiveEnding): DirectiveEnding | undefined {
  return ending === "end" ? undefined : ending;
}

function iterate(run: FormatRun, directive: Directive, format: Formatting): undefined {
  const limit = run.parameters(directive).number() ?? Number.POSITIVE_INFINITY;
  const pieces = directive.clauses[0]?.pieces ?? [];
  const control = pieces.length === 0 ? run.next() : undefined;
  const inner = directive.at ? run : new FormatRun(run.m, run.target, run.nextList());
  const once = (one: FormatRun): DirectiveEnding =>
    control === undefined ? format.pieces(one, pieces) : format.control(one, control);
  const isAtLeastOnce = directive.closing?.colon === true;
  for (let count = 0; count < limit; count += 1) {
    run.m.tick(1);
    if (inner.left === 0 && !(isAtLeastOnce && count === 0)) return;
    const ending = directive.colon ? sublist(inner, once) : once(inner);
    if (directive.colon ? ending === "up-up" : ending !== "end") return;
  }
}

/** One iteration of `~:{`: the next argument is the list of arguments. */
function sublist(inner: FormatRun, once: (run: FormatRun) => DirectiveEnding): DirectiveEnding {
  const list = inner.next();
  if (!(list instanceof Cons) && list !== NIL) return inner.m.typeError(list, "LIST");
  return once(new FormatRun(inner.m, inner.target, itemsOf(list), 0, inner.left === 0));
}

function leave(run: FormatRun, directive: Directive): DirectiveEnding | undefined {
  const parameters = run.parameters(directive);
  const [first, second, third] = [parameters.any(), parameters.any(), parameters.any()];
  if (directive.colon && run.isLastSublist === undefined) run.fail("~:^ outside ~:{");
  const isOver = directive.colon ? run.isLastSublist === true : run.left === 0;
  if (!isLeaving(isOver, first, second, third)) return undefined;
  return directive.colon ? "up-up" : "up";
}

type Compared = number | bigint | string | undefined;

function isLeaving(isOver: boolean, first: Compared, second: Compared, third: Compared): boolean {
  if (first === undefined) return isOver;
  if (second === undefined) return first === 0;
  if (third === undefined) return first === second;
  return first <= second && second <= third;
}

// `~<…~>` justifies its segments in a field; `~<…~:>` is a logical block.

function justify(
  run: FormatRun,
  directive: Directive,
  format: Formatting,
): DirectiveEnding | undefined {
  const parameters = run.parameters(directive);
  const width = parameters.number() ?? 0;
  const step = parameters.number() ?? 1;
  const padding = parameters.number() ?? 0;
  const pad = parameters.character() ?? " ";
  const { texts, overflow } = segments(run, directive, format);
  const gaps = texts.length - 1 + (directive.colon ? 1 : 0) + (directive.at ? 1 : 0);
  const least = texts.reduce((sum, text) => sum + text.length, 0) + gaps * padding;
  const length = least > width ? width + Math.ceil((least - width) / step) * step : width;
  if (
    overflow !== undefined &&
    run.target.stream.column + length + overflow.extra > overflow.lineLength
  )
    run.target.write(overflow.text);
  run.target.write(
    spread(run, texts, directive, { gaps, pad, room: length - least + gaps * padding }),
  );
  return undefined;
}

interface Overflow {
  /** Written first if the field does not fit on the line. */
  readonly text: string;
  readonly extra: number;
  readonly lineLength: number;
}

/** The text of each segment; `~^` drops its segment and those after it. */
function segments(
  run: FormatRun,
  { clauses }: Directive,
  format: Formatting,
): { texts: string[]; overflow: Overflow | undefined } {
  const texts: string[] = [];
  let overflow: Overflow | undefined;
  for (const [index, { pieces, separator }] of clauses.entries()) {
    const inner = run.into(new Buffer(run.m));
    const ending = format.pieces(inner, pieces);
    run.at = inner.at;
    if (ending !== "end") break;
    const { text } = inner.target as Buffer;
    if (index === 0 && separator?.colon) {
      const parameters = run.parameters(separator);
      overflow = { text, extra: parameters.number() ?? 0, lineLength: parameters.number() ?? 72 };
    } else texts.push(text);
  }
  return { texts, overflow };
}

function spread(
  run: FormatRun,
  texts: readonly string[],
  { colon, at }: Directive,
  { gaps, pad, room }: { gaps: number; pad: string; room: number },
): string {
  let [left, gapsLeft] = [room, gaps];
  const gap = (): string => {
    const count = gapsLeft === 0 ? left : Math.trunc(left / gapsLeft);
    left -= count;
    gapsLeft -= 1;
    return run.repeat(pad, count);
  };
  let text = colon || (!at && texts.length <= 1) ? gap() : "";
  texts.forEach((segment, index) => {
    text += index === 0 ? segment : gap() + segment;
  });
  return at ? text + gap() : text;
}

function logicalBlock(run: FormatRun, directive: Directive, format: Formatting): undefined {
  const { clauses, colon, at, closing } = directive;
  const [first, second, third] = clauses;
  if (clauses.length > 3) run.fail("~<…~:> takes at most three sections");
  const hasPrefix = second !== undefined;
  const [open, close] = colon ? ["(", ")"] : ["", ""];
  const block: BlockText = {
    prefix: hasPrefix ? literal(run, first) : open,
    isPerLine: first?.separator?.at === true,
    suffix: third === undefined ? close : literal(run, third),
  };
  const body = (hasPrefix ? second : first)?.pieces ?? [];
  const value = at ? undefined : run.next();
  if (value !== undefined && !(value instanceof Cons) && value !== NIL) {
    run.target.write(printText(run.m, value));
    return;
  }
  const args = value === undefined ? run.args.slice(run.at) : itemsOf(value);
  withLabels(run.m, value ?? NIL, () =>
    inBlock(run.m, run.target.stream, block, (stream) => {
      const inner = new FormatRun(run.m, streamTarget(run.m, stream), args);
      format.pieces(inner, closing?.at ? filled(body) : body);
      if (at) run.at += inner.at;
    }),
  );
}

const filledClause = (clause: Clause): Clause => ({ ...clause, pieces: filled(clause.pieces) });

/** A fill newline after each group of blanks, also in the directives inside. */
function filled(pieces: readonly Piece[]): Piece[] {
  const newline = { ...plainDirective, character: "_", colon: true };
  return pieces.flatMap((piece) =>
    typeof piece === "string"
      ? piece
          .split(/(\s+)/)
          .flatMap((part) => (/^\s/.test(part) ? [part, newline] : [part]))
          .filter((part) => part !== "")
      : [{ ...piece, clauses: piece.clauses.map(filledClause) }],
  );
}

const plainDirective: Directive = {
  character: "",
  parameters: [],
  colon: false,
  at: false,
  clauses: [],
  closing: undefined,
  name: "",
};

function literal(run: FormatRun, clause: Directive["clauses"][number] | undefined): string {
  const pieces = clause?.pieces ?? [];
  if (pieces.some((piece) => typeof piece !== "string"))
    run.fail("the prefix and the suffix of ~<…~:> contain no directives");
  return pieces.join("");
}

// Directives for lines, columns and arguments: `~% ~& ~| ~~ ~t ~* ~? ~_ ~i`.

export const layoutDirectives: readonly (readonly [string, Action])[] = [
  ["%", (run, directive) => repeated(run, directive, "\n")],
  ["|", (run, directive) => repeated(run, directive, "\f")],
  ["~", (run, directive) => repeated(run, directive, "~")],
  ["&", freshLines],
  ["T", tabulate],
  ["*", goTo],
  ["?", recurse],
  ["_", newline],
  [
    "I",
    (run, directive) =>
      void run.target.stream.pretty?.indent(
        directive.colon,
        run.parameters(directive).number() ?? 0,
      ),
  ],
];

function newline(run: FormatRun, { colon, at }: Directive): undefined {
  if (colon) run.target.stream.pretty?.newline(at ? "MANDATORY" : "FILL");
  else run.target.stream.pretty?.newline(at ? "MISER" : "LINEAR");
}

function repeated(run: FormatRun, directive: Directive, character: string): undefined {
  run.target.write(run.repeat(character, run.parameters(directive).number() ?? 1));
}

function freshLines(run: FormatRun, directive: Directive): undefined {
  const count = run.parameters(directive).number() ?? 1;
  if (count > 0)
    run.target.write(run.repeat("\n", run.target.stream.column > 0 ? count : count - 1));
}

function tabulate(run: FormatRun, directive: Directive): undefined {
  const parameters = run.parameters(directive);
  const wanted = parameters.number() ?? 1;
  const step = parameters.number() ?? 1;
  const { column, pretty } = run.target.stream;
  if (pretty !== null) {
    const [isSection, isRelative] = [directive.colon, directive.at];
    pretty.tab({ isSection, isRelative, column: wanted, step });
  }
  if (directive.colon || pretty !== null) return;
  const spaces = directive.at
    ? relativeSpaces(column, wanted, step)
    : absoluteSpaces(column, wanted, step);
  run.target.write(run.repeat(" ", spaces));
}

function relativeSpaces(column: number, count: number, step: number): number {
  return step > 0 ? Math.ceil((column + count) / step) * step - column : count;
}

function absoluteSpaces(column: number, wanted: number, step: number): number {
  if (column < wanted) return wanted - column;
  return step === 0 ? 0 : step - ((column - wanted) % step);
}

function goTo(run: FormatRun, directive: Directive): undefined {
  const count = run.parameters(directive).number() ?? (directive.at ? 0 : 1);
  if (!directive.at && !directive.colon) {
    for (let skipped = 0; skipped < count; skipped += 1) run.next();
    return;
  }
  const at = directive.at ? count : run.at - count;
  if (at < 0 || at > run.args.length)
    run.fail(`no argument ${at}; the call has ${run.args.length}`);
  run.at = at;
}

function recurse(run: FormatRun, directive: Directive, format: Formatting): undefined {
  const control = run.next();
  if (directive.at) format.control(run, control);
  else format.control(new FormatRun(run.m, run.target, run.nextList()), control);
}
