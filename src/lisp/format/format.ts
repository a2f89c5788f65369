/** `format`, and the directives that print one argument: `~a ~s ~w ~c ~/name/`, and those for numbers. */
import { exceed } from "../budgets.ts";
import { named } from "../define.ts";
import type { Machine } from "../machine.ts";
import { isInteger, isNumber, toDouble } from "../numbers.ts";
import { findPackage, findSymbol } from "../packages.ts";
import { currentStyle, printText, styledText } from "../printer.ts";
import { Char, characterName, Str } from "../string.ts";
import { bool, NIL } from "../symbol.ts";
import { gatheringStream, itemsOf, type Stream, type Value } from "../values.ts";
import { blockDirectives, layoutDirectives } from "./blocks.ts";
import { exponentText, fixedText, generalText, moneyText } from "./numerals.ts";
import { type Action, type Directive, FormatRun, type Parameters } from "./run.ts";

/** `(apply #'format nil control arguments)`. */
export function formatText(m: Machine, control: Value, args: Value): string {
  const stream = gatheringStream();
  formatTo(m, stream, control, itemsOf(args));
  return stream.gathered;
}

/** Returns the unused arguments. */
export function formatTo(
  m: Machine,
  stream: Stream,
  control: Value,
  args: readonly Value[],
): readonly Value[] {
  const run = new FormatRun(m, stream, args, actions);
  run.control(control);
  return args.slice(run.at);
}

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["A", (run, directive) => printed(run, directive, false)],
  ["S", (run, directive) => printed(run, directive, true)],
  ["W", (run) => run.write(printText(run.m, run.next()))],
  ["C", (run, directive) => run.write(characterDirective(run, directive))],
  ["/", callNamed],
  ...Object.entries({ D: 10, B: 2, O: 8, X: 16 }).map(([name, base]): [string, Action] => [
    name,
    (run, directive) => writeInteger(run, directive, run.parameters(directive, "nccn"), base),
  ]),
  ["R", radixDirective],
  ["F", fixedDirective],
  ["E", (run, directive) => exponentDirective(run, directive, exponentText)],
  ["G", (run, directive) => exponentDirective(run, directive, generalText)],
  ["$", moneyDirective],
  ["P", pluralDirective],
  ...layoutDirectives,
  ...blockDirectives,
]);

function printed(run: FormatRun, directive: Directive, escapes: boolean): undefined {
  const [width = 0, step = 1, padding = 0, pad = " "] = run.parameters(directive, "nnnc");
  const value = run.next();
  const text = directive.colon && value === NIL ? "()" : printText(run.m, value, escapes);
  if (directive.parameters.length === 0) return run.write(text);
  return writeField(run, text, { width, step, padding, pad, isRight: directive.at });
}

interface PaddedField {
  readonly width: number | undefined;
  readonly step?: number;
  readonly padding?: number;
  readonly pad: string;
  /** Padding comes before the text. */
  readonly isRight: boolean;
}

function writeField(
  run: FormatRun,
  text: string,
  { width = 0, step = 1, padding = 0, pad, isRight }: PaddedField,
): undefined {
  if (step <= 0) run.fail(`the third parameter must be positive, and is ${step}`);
  const shown = Math.max(0, padding);
  const missing = width - codePoints(text) - shown;
  const fill = run.repeat(pad, shown + (missing > 0 ? Math.ceil(missing / step) * step : 0));
  run.write(isRight ? fill + text : text + fill);
}

function codePoints(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

function characterDirective(run: FormatRun, { colon, at }: Directive): string {
  const value = run.next();
  if (!(value instanceof Char)) return run.m.typeError(value, "CHARACTER");
  if (colon) return characterName(value.code) ?? String.fromCodePoint(value.code);
  return at ? printText(run.m, value, true) : String.fromCodePoint(value.code);
}

/** Calls the function with the stream, the argument, both modifiers and the parameters. */
function callNamed(run: FormatRun, directive: Directive): undefined {
  const given = run.parameters(directive, "a".repeat(directive.parameters.length));
  const extra = given.map((value: number | bigint | string = ""): Value => {
    if (typeof value !== "string") return value;
    return value === "" ? NIL : new Char(value.codePointAt(0) ?? 0);
  });
  const fn = run.m.fn(symbolNamed(run, directive.name));
  const { colon, at } = directive;
  run.m.apply(fn, [run.stream, run.next(), bool(colon), bool(at), ...extra]);
}

function symbolNamed(run: FormatRun, text: string): Value {
  const name = text.toUpperCase();
  const mark = name.search(/::?/);
  const packageName = mark < 0 ? "COMMON-LISP-USER" : name.slice(0, mark);
  const pkg = findPackage(run.m, new Str(packageName));
  const found = pkg && findSymbol(pkg, (mark < 0 ? name : name.slice(mark)).replace(/^::?/, ""));
  return found?.sym ?? run.fail(`undefined function ${text}`);
}

// Directives for numbers: `~d ~b ~o ~x ~r ~f ~e ~g ~$ ~p`.

function writeInteger(
  run: FormatRun,
  directive: Directive,
  [width, pad = " ", comma = ",", interval = 3]: Parameters<"nccn">,
  base: number,
): undefined {
  const value = run.next();
  if (!isInteger(value))
    return run.write(styledText(run.m, value, { ...currentStyle(false), base, radix: false }));
  const digits = (value < 0 ? -value : value).toString(base).toUpperCase();
  const grouped = directive.colon ? group(run, digits, comma, interval) : digits;
  const plus = directive.at ? "+" : "";
  return writeField(run, (value < 0 ? "-" : plus) + grouped, { width, pad, isRight: true });
}

function group(run: FormatRun, digits: string, comma: string, interval: number): string {
  if (interval <= 0) return run.fail(`digits cannot be grouped by ${interval}`);
  const first = digits.length % interval || interval;
  const groups = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += interval)
    groups.push(digits.slice(at, at + interval));
  return groups.join(comma);
}

function radixDirective(run: FormatRun, directive: Directive): undefined {
  const [base, ...others] = run.parameters(directive, "nnccn");
  const { m } = run;
  if (base !== undefined) {
    if (base < 2 || base > 36) m.typeError(base, "(INTEGER 2 36)");
    return writeInteger(run, directive, others, base);
  }
  const value = run.next();
  if (!isInteger(value)) return run.fail(`~r takes an integer, not ${m.show(value)}`);
  const written = directive.at
    ? m.call2(m.fn(named("%ROMAN")), value, bool(directive.colon))
    : m.call1(m.fn(named(directive.colon ? "%ORDINAL" : "%CARDINAL")), value);
  return run.write(String(written));
}

function fixedDirective(run: FormatRun, directive: Directive): undefined {
  const [width, digits, scale, overflow, pad = " "] = run.parameters(directive, "nnncc");
  writeNumber(run, { width, digits, scale, overflow, pad, plus: directive.at }, fixedText);
}

function exponentDirective(
  run: FormatRun,
  directive: Directive,
  text: typeof exponentText,
): undefined {
  const given = run.parameters(directive, "nnnnccc");
  const [width, digits, exponentDigits, scale, overflow, pad = " ", mark] = given;
  const shape = { width, digits, exponentDigits, scale, overflow, pad, mark, plus: directive.at };
  writeNumber(run, shape, text);
}

function moneyDirective(run: FormatRun, directive: Directive): undefined {
  const [digits = 2, whole = 1, width = 0, pad = " "] = run.parameters(directive, "nnnc");
  const { colon: signFirst, at: plus } = directive;
  writeNumber(run, { digits, whole, width, pad, signFirst, plus }, moneyText);
}

/** Other values are printed like by `~a`, in base ten. */
function writeNumber<Shape extends { readonly width: number | undefined; readonly pad: string }>(
  run: FormatRun,
  shape: Shape,
  text: (value: number, shape: Shape) => string,
): undefined {
  const value = run.next();
  if (isNumber(value)) {
    for (const count of Object.values(shape))
      if (typeof count === "number" && Math.abs(count) > 10_000) exceed(run.m, "OUTPUT");
    return run.write(text(toDouble(run.m, value), shape));
  }
  const plain = styledText(run.m, value, { ...currentStyle(false), base: 10 });
  return writeField(run, plain, { width: shape.width, pad: shape.pad, isRight: false });
}

function pluralDirective(run: FormatRun, directive: Directive): undefined {
  if (directive.colon) {
    if (run.at === 0) run.fail("~:p has no previous argument");
    run.at -= 1;
  }
  const isOne = run.next() === 1;
  if (directive.at) run.write(isOne ? "y" : "ies");
  else if (!isOne) run.write("s");
}
