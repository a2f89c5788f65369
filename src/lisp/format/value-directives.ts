/** Directives that print one argument as it is: `~a ~s ~w ~c ~/name/`. */
import { characterName } from "../characters.ts";
import { findPackage, findSymbol } from "../packages.ts";
import { printText } from "../printer.ts";
import { Char, Str } from "../string.ts";
import { bool, NIL } from "../symbol.ts";
import type { Value } from "../values.ts";
import type { Action } from "./format.ts";
import type { Directive } from "./parse.ts";
import type { Run } from "./run.ts";

export const valueDirectives: readonly (readonly [string, Action])[] = [
  ["A", (run, directive) => printed(run, directive, false)],
  ["S", (run, directive) => printed(run, directive, true)],
  ["W", (run) => void run.target.write(printText(run.m, run.next()))],
  ["C", (run, directive) => void run.target.write(characterDirective(run, directive))],
  ["/", callNamed],
];

function printed(run: Run, directive: Directive, escapes: boolean): undefined {
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

function valueText(run: Run, value: Value, directive: Directive, escapes: boolean): string {
  return directive.colon && value === NIL ? "()" : printText(run.m, value, escapes);
}

export interface Field {
  readonly width: number;
  readonly step: number;
  readonly padding: number;
  readonly pad: string;
  /** Padding comes before the text. */
  readonly isRight: boolean;
}

export function writeField(
  run: Run,
  text: string,
  { width, step, padding, pad, isRight }: Field,
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

function characterDirective(run: Run, { colon, at }: Directive): string {
  const value = run.next();
  if (!(value instanceof Char)) return run.m.typeError(value, "CHARACTER");
  if (colon) return characterName(value.code) ?? String.fromCodePoint(value.code);
  return at ? printText(run.m, value, true) : String.fromCodePoint(value.code);
}

/** Calls the function with the stream, the argument, both modifiers and the parameters. */
function callNamed(run: Run, directive: Directive): undefined {
  const parameters = run.parameters(directive);
  const extra: Value[] = directive.parameters.map(() => {
    const value = parameters.any();
    return value === undefined
      ? NIL
      : typeof value === "string"
        ? new Char(value.codePointAt(0) ?? 0)
        : value;
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

function symbolNamed(run: Run, text: string): Value {
  const name = text.toUpperCase();
  const mark = name.search(/::?/);
  const packageName = mark < 0 ? "COMMON-LISP-USER" : name.slice(0, mark);
  const pkg = findPackage(run.m, new Str(packageName));
  const found = pkg && findSymbol(pkg, (mark < 0 ? name : name.slice(mark)).replace(/^::?/, ""));
  return found?.sym ?? run.fail(`there is no function ${text}`);
}
