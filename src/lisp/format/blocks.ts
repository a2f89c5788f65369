/** Block directives: case `~(~)`, choice `~[~]`, iteration `~{~}`, justification `~<~>`, and `~^`. */

import { printText, withLabels } from "../printer.ts";
import type { BlockText } from "../printer-layout.ts";
import { inBlock } from "../printer-pretty.ts";
import { lowerCode, upperCode } from "../string.ts";
import { NIL } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import type { Action, Clause, Directive, DirectiveEnding, FormatRun, Piece } from "./run.ts";

export const blockDirectives: readonly (readonly [string, Action])[] = [
  ["(", changeCase],
  ["[", choose],
  ["{", iterate],
  ["<", (run, directive) => (directive.closing?.colon ? logicalBlock : justify)(run, directive)],
  ["^", leave],
  [";", (run) => run.fail("~; outside ~[ and ~<")],
];

function changeCase(run: FormatRun, directive: Directive): DirectiveEnding | undefined {
  const { text, ending } = run.gather(directive.clauses[0]?.pieces ?? [], run.stream.column);
  run.write(inCase(text, directive));
  return passOn(ending);
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

function choose(run: FormatRun, directive: Directive): DirectiveEnding | undefined {
  const chosen = chosenClause(run, directive);
  return chosen && passOn(run.pieces(chosen.pieces));
}

function chosenClause(run: FormatRun, directive: Directive): Clause | undefined {
  const { clauses, colon, at } = directive;
  if (at) {
    if (clauses.length > 1) run.fail("~@[ takes one section");
    if (run.next() === NIL) return undefined;
    run.at -= 1;
    return clauses[0];
  }
  if (colon) {
    if (clauses.length !== 2) run.fail("~:[ takes two sections");
    return clauses[run.next() === NIL ? 0 : 1];
  }
  const index: Value = run.parameters(directive, "n")[0] ?? run.next();
  if (typeof index !== "number" && typeof index !== "bigint")
    return run.fail(`~[ takes an integer, not ${run.m.show(index)}`);
  const isDefault = clauses.at(-2)?.separator?.colon === true;
  return clauses[index < 0 ? -1 : Number(index)] ?? (isDefault ? clauses.at(-1) : undefined);
}

const passOn = (ending: DirectiveEnding): DirectiveEnding | undefined =>
  ending === "end" ? undefined : ending;

function iterate(run: FormatRun, directive: Directive): undefined {
  const [limit = Number.POSITIVE_INFINITY] = run.parameters(directive, "n");
  const pieces = directive.clauses[0]?.pieces ?? [];
  const control = pieces.length === 0 ? run.next() : undefined;
  const inner = directive.at ? run : run.over(run.nextList());
  const once = (one: FormatRun): DirectiveEnding =>
    control === undefined ? one.pieces(pieces) : one.control(control);
  const isAtLeastOnce = directive.closing?.colon === true;
  for (let count = 0; count < limit; count += 1) {
    run.m.tick(1);
    if (inner.left === 0 && !(isAtLeastOnce && count === 0)) return;
    const ending = directive.colon ? once(sublist(inner)) : once(inner);
    if (directive.colon ? ending === "up-up" : ending !== "end") return;
  }
}

/** For one iteration of `~:{`: the next argument is the list of arguments. */
function sublist(inner: FormatRun): FormatRun {
  const list = inner.next();
  if (!(list instanceof Cons) && list !== NIL) return inner.m.typeError(list, "LIST");
  const made = inner.over(itemsOf(list));
  made.isLastSublist = inner.left === 0;
  return made;
}

function leave(run: FormatRun, directive: Directive): DirectiveEnding | undefined {
  const [first, second, third] = run.parameters(directive, "aaa");
  if (directive.colon && run.isLastSublist === undefined) run.fail("~:^ outside ~:{");
  let isLeaving = directive.colon ? run.isLastSublist === true : run.left === 0;
  if (third !== undefined && second !== undefined && first !== undefined)
    isLeaving = first <= second && second <= third;
  else if (first !== undefined) isLeaving = first === (second ?? 0);
  if (!isLeaving) return undefined;
  return directive.colon ? "up-up" : "up";
}

// `~<…~>` justifies its segments in a field; `~<…~:>` is a logical block.

function justify(run: FormatRun, directive: Directive): undefined {
  const [width = 0, step = 1, padding = 0, pad = " "] = run.parameters(directive, "nnnc");
  const { texts, overflow } = segments(run, directive);
  const gaps = texts.length - 1 + (directive.colon ? 1 : 0) + (directive.at ? 1 : 0);
  const least = texts.reduce((sum, text) => sum + text.length, 0) + gaps * padding;
  const length = least > width ? width + Math.ceil((least - width) / step) * step : width;
  if (overflow && run.stream.column + length + overflow.extra > overflow.lineLength)
    run.write(overflow.text);
  run.write(spread(run, texts, directive, { gaps, pad, room: length - least + gaps * padding }));
}

interface Overflow {
  /** Written first if the field does not fit on the line. */
  readonly text: string;
  readonly extra: number;
  readonly lineLength: number;
}

/** The text of each segment; `~^` drops its segment and those after it. */
function segments(run: FormatRun, { clauses }: Directive) {
  const texts: string[] = [];
  let overflow: Overflow | undefined;
  for (const [index, { pieces, separator }] of clauses.entries()) {
    const { text, ending } = run.gather(pieces);
    if (ending !== "end") break;
    if (index === 0 && separator?.colon) {
      const [extra = 0, lineLength = 72] = run.parameters(separator, "nn");
      overflow = { text, extra, lineLength };
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

function logicalBlock(run: FormatRun, { clauses, colon, at, closing }: Directive): undefined {
  const [first, second, third] = clauses;
  if (clauses.length > 3) run.fail("~<…~:> takes at most three sections");
  const [open, close] = colon ? ["(", ")"] : ["", ""];
  const block: BlockText = {
    prefix: second === undefined ? open : literal(run, first),
    isPerLine: first?.separator?.at === true,
    suffix: third === undefined ? close : literal(run, third),
  };
  const body = (second ?? first)?.pieces ?? [];
  const value = at ? undefined : run.next();
  if (value !== undefined && !(value instanceof Cons) && value !== NIL)
    return run.write(printText(run.m, value));
  const args = value === undefined ? run.args.slice(run.at) : itemsOf(value);
  withLabels(run.m, value ?? NIL, () =>
    inBlock(run.m, run.stream, block, (stream) => {
      const inner = run.over(args, stream);
      inner.pieces(closing?.at ? filled(body) : body);
      if (at) run.at += inner.at;
    }),
  );
}

/** A fill newline after each group of blanks, also in the directives inside. */
function filled(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((piece) =>
    typeof piece === "string"
      ? piece
          .split(/(\s+)/)
          .flatMap((part) => (/^\s/.test(part) ? [part, fillNewline] : [part]))
          .filter((part) => part !== "")
      : { ...piece, clauses: piece.clauses.map((one) => ({ ...one, pieces: filled(one.pieces) })) },
  );
}

const fillNewline: Directive = {
  character: "_",
  parameters: [],
  colon: true,
  at: false,
  clauses: [],
  closing: undefined,
  name: "",
};

function literal(run: FormatRun, clause: Clause | undefined): string {
  const pieces = clause?.pieces ?? [];
  if (pieces.some((piece) => typeof piece !== "string"))
    run.fail("the prefix and the suffix of ~<…~:> contain no directives");
  return pieces.join("");
}

// Directives for lines, columns and arguments: `~% ~& ~| ~~ ~t ~* ~? ~_ ~i`.

export const layoutDirectives: readonly (readonly [string, Action])[] = [
  ...Object.entries({ "%": "\n", "|": "\f", "~": "~" }).map(
    ([name, character]): [string, Action] => [
      name,
      (run, directive) => run.write(run.repeat(character, run.parameters(directive, "n")[0] ?? 1)),
    ],
  ),
  ["&", freshLines],
  ["T", tabulate],
  ["*", goTo],
  ["?", recurse],
  ["_", newline],
  ["I", indent],
];

function newline(run: FormatRun, { colon, at }: Directive): undefined {
  if (colon) run.stream.pretty?.newline(at ? "MANDATORY" : "FILL");
  else run.stream.pretty?.newline(at ? "MISER" : "LINEAR");
}

function indent(run: FormatRun, directive: Directive): undefined {
  const [by = 0] = run.parameters(directive, "n");
  run.stream.pretty?.indent(directive.colon, by);
}

function freshLines(run: FormatRun, directive: Directive): undefined {
  const [count = 1] = run.parameters(directive, "n");
  if (count > 0) run.write(run.repeat("\n", run.stream.column > 0 ? count : count - 1));
}

function tabulate(run: FormatRun, directive: Directive): undefined {
  const [wanted = 1, step = 1] = run.parameters(directive, "nn");
  const { colon: isSection, at: isRelative } = directive;
  const { column, pretty } = run.stream;
  if (pretty !== null) pretty.tab({ isSection, isRelative, column: wanted, step });
  else if (!isSection) {
    const spaces = isRelative ? relativeSpaces : absoluteSpaces;
    run.write(run.repeat(" ", spaces(column, wanted, step)));
  }
}

const relativeSpaces = (column: number, count: number, step: number): number =>
  step > 0 ? Math.ceil((column + count) / step) * step - column : count;

function absoluteSpaces(column: number, wanted: number, step: number): number {
  if (column < wanted) return wanted - column;
  return step === 0 ? 0 : step - ((column - wanted) % step);
}

function goTo(run: FormatRun, directive: Directive): undefined {
  const [count = directive.at ? 0 : 1] = run.parameters(directive, "n");
  if (!directive.at && !directive.colon) {
    for (let skipped = 0; skipped < count; skipped += 1) run.next();
    return;
  }
  const at = directive.at ? count : run.at - count;
  if (at < 0 || at > run.args.length)
    run.fail(`no argument ${at}; the call has ${run.args.length}`);
  run.at = at;
}

function recurse(run: FormatRun, directive: Directive): undefined {
  const control = run.next();
  (directive.at ? run : run.over(run.nextList())).control(control);
}
