/** Directives that print one argument: `~a ~s ~w ~c ~/name/`, and those for numbers. */
import { exceed } from "../budgets.ts";
import { named } from "../define.ts";
import { isInteger, isNumber, toDouble } from "../numbers.ts";
import { findPackage, findSymbol } from "../packages.ts";
import { currentStyle, printText, styledText } from "../printer.ts";
import { Char, characterName, Str } from "../string.ts";
import { bool, NIL } from "../symbol.ts";
import type { Value } from "../values.ts";
import type { Action } from "./format.ts";
import { exponentText, fixedText, generalText, moneyText } from "./numerals.ts";
import type { Directive, FormatRun } from "./run.ts";

export const valueDirectives: readonly (readonly [string, Action])[] = [
  ["A", (run, directive) => printed(run, directive, false)],
  ["S", (run, directive) => printed(run, directive, true)],
  ["W", (run) => void run.target.write(printText(run.m, run.next()))],
  ["C", (run, directive) => void run.target.write(characterDirective(run, directive))],
  ["/", callNamed],
];

function printed(run: FormatRun, directive: Directive, escapes: boolean): undefined {
  if (directive.parameters.length === 0) {
    run.target.write(valueText(run, run.next(), directive, escapes));
    return;
  }
  const parameters = run.parameters(directive);
  const width = parameters.number() ?? 0;
  const step = parameters.number() ?? 1;
  const padding = parameters.number() ?? 0;
  const pad = parameters.character() ?? " ";
  writeField(run, valueText(run, run.next(), directive, escapes), {
    width,
    step,
    padding,
    pad,
    isRight: directive.at,
  });
}

function valueText(run: FormatRun, value: Value, directive: Directive, escapes: boolean): string {
  return directive.colon && value === NIL ? "()" : printText(run.m, value, escapes);
}

export interface PaddedField {
  readonly width: number;
  readonly step: number;
  readonly padding: number;
  readonly pad: string;
  /** Padding comes before the text. */
  readonly isRight: boolean;
}

function writeField(
  run: FormatRun,
  text: string,
  { width, step, padding, pad, isRight }: PaddedField,
): void {
  if (step <= 0) run.fail(`the third parameter must be positive, and is ${step}`);
  const shown = Math.max(0, padding);
  const missing = width - codePoints(text) - shown;
  const count = shown + (missing > 0 ? Math.ceil(missing / step) * step : 0);
  const fill = run.repeat(pad, count);
  run.target.write(isRight ? fill + text : text + fill);
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
  const parameters = run.parameters(directive);
  const extra: Value[] = directive.parameters.map(() => {
    const value = parameters.any();
    if (value === undefined) return NIL;
    return typeof value === "string" ? new Char(value.codePointAt(0) ?? 0) : value;
  });
  const fn = run.m.fn(symbolNamed(run, directive.name));
  run.m.apply(fn, [
    run.target.stream,
    run.next(),
    bool(directive.colon),
    bool(directive.at),
    ...extra,
  ]);
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

export const numberDirectives: readonly (readonly [string, Action])[] = [
  ["D", (run, directive) => integerDirective(run, directive, 10)],
  ["B", (run, directive) => integerDirective(run, directive, 2)],
  ["O", (run, directive) => integerDirective(run, directive, 8)],
  ["X", (run, directive) => integerDirective(run, directive, 16)],
  ["R", radixDirective],
  ["F", fixedDirective],
  ["E", (run, directive) => exponentDirective(run, directive, exponentText)],
  ["G", (run, directive) => exponentDirective(run, directive, generalText)],
  ["$", moneyDirective],
  ["P", pluralDirective],
];

type Parameters = ReturnType<FormatRun["parameters"]>;

function integerDirective(run: FormatRun, directive: Directive, base: number): undefined {
  writeInteger(run, directive, run.parameters(directive), base);
}

function writeInteger(
  run: FormatRun,
  directive: Directive,
  parameters: Parameters,
  base: number,
): undefined {
  const width = parameters.number() ?? 0;
  const pad = parameters.character() ?? " ";
  const comma = parameters.character() ?? ",";
  const interval = parameters.number() ?? 3;
  const value = run.next();
  if (!isInteger(value)) {
    run.target.write(styledText(run.m, value, { ...currentStyle(false), base, radix: false }));
    return;
  }
  const digits = (value < 0 ? -value : value).toString(base).toUpperCase();
  const grouped = directive.colon ? group(run, digits, comma, interval) : digits;
  const plus = directive.at ? "+" : "";
  const sign = value < 0 ? "-" : plus;
  writeField(run, sign + grouped, { width, step: 1, padding: 0, pad, isRight: true });
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
  const parameters = run.parameters(directive);
  const base = parameters.number();
  if (base !== undefined) {
    if (base < 2 || base > 36) run.m.typeError(base, "(INTEGER 2 36)");
    return writeInteger(run, directive, parameters, base);
  }
  const value = run.next();
  if (!isInteger(value)) return run.fail(`~r takes an integer, not ${run.m.show(value)}`);
  const { m } = run;
  const written = directive.at
    ? m.call2(m.fn(named("%ROMAN")), value, bool(directive.colon))
    : m.call1(m.fn(named(directive.colon ? "%ORDINAL" : "%CARDINAL")), value);
  run.target.write(String(written));
}

function fixedDirective(run: FormatRun, directive: Directive): undefined {
  const parameters = run.parameters(directive);
  const shape = {
    width: parameters.number(),
    digits: parameters.number(),
    scale: parameters.number(),
    overflow: parameters.character(),
    pad: parameters.character() ?? " ",
    plus: directive.at,
  };
  writeNumber(run, shape, fixedText);
}

function exponentDirective(
  run: FormatRun,
  directive: Directive,
  text: typeof exponentText,
): undefined {
  const parameters = run.parameters(directive);
  const shape = {
    width: parameters.number(),
    digits: parameters.number(),
    exponentDigits: parameters.number(),
    scale: parameters.number(),
    overflow: parameters.character(),
    pad: parameters.character() ?? " ",
    mark: parameters.character(),
    plus: directive.at,
  };
  writeNumber(run, shape, text);
}

function moneyDirective(run: FormatRun, directive: Directive): undefined {
  const parameters = run.parameters(directive);
  const shape = {
    digits: parameters.number() ?? 2,
    whole: parameters.number() ?? 1,
    width: parameters.number() ?? 0,
    pad: parameters.character() ?? " ",
    signFirst: directive.colon,
    plus: directive.at,
  };
  writeNumber(run, shape, moneyText);
}

/** Other values are printed like by `~a`, in base ten. */
function writeNumber<Shape extends { readonly width: number | undefined; readonly pad: string }>(
  run: FormatRun,
  shape: Shape,
  text: (value: number, shape: Shape) => string,
): void {
  const value = run.next();
  if (isNumber(value)) {
    for (const count of Object.values(shape))
      if (typeof count === "number" && Math.abs(count) > 10_000) exceed(run.m, "OUTPUT");
    run.target.write(text(toDouble(run.m, value), shape));
    return;
  }
  const plain = styledText(run.m, value, { ...currentStyle(false), base: 10 });
  const { width = 0, pad } = shape;
  writeField(run, plain, { width, step: 1, padding: 0, pad, isRight: false });
}

function pluralDirective(run: FormatRun, directive: Directive): undefined {
  if (directive.colon) {
    if (run.at === 0) run.fail("~:p has no previous argument");
    run.at -= 1;
  }
  const isOne = run.next() === 1;
  if (directive.at) run.target.write(isOne ? "y" : "ies");
  else if (!isOne) run.target.write("s");
}
