/** Directives with something inside: case `~(~)`, choice `~[~]`, iteration `~{~}`, justification `~<~>`; and `~^`, which leaves them. */
import { lowerCode, upperCode } from "../characters.ts";
import { NIL } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import type { Action, Formatting } from "./format.ts";
import { justify, logicalBlock } from "./justify.ts";
import type { Directive } from "./parse.ts";
import { Buffer, type Ending, Run } from "./run.ts";

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
  [";", (run) => run.fail("~; stands outside ~[ and ~<")],
];

function changeCase(run: Run, directive: Directive, format: Formatting): Ending | undefined {
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

function choose(run: Run, directive: Directive, format: Formatting): Ending | undefined {
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

function passOn(ending: Ending): Ending | undefined {
  return ending === "end" ? undefined : ending;
}

function iterate(run: Run, directive: Directive, format: Formatting): undefined {
  const limit = run.parameters(directive).number() ?? Number.POSITIVE_INFINITY;
  const pieces = directive.clauses[0]?.pieces ?? [];
  const control = pieces.length === 0 ? run.next() : undefined;
  const inner = directive.at ? run : new Run(run.m, run.target, run.nextList());
  const once = (one: Run): Ending =>
    control === undefined ? format.pieces(one, pieces) : format.control(one, control);
  const isAtLeastOnce = directive.closing?.colon === true;
  for (let count = 0; count < limit; count += 1) {
    run.m.tick(1);
    if (inner.left === 0 && !(isAtLeastOnce && count === 0)) return;
    const ending = directive.colon ? sublist(inner, once) : once(inner);
    if (directive.colon ? ending === "up-up" : ending !== "end") return;
  }
}

/** One turn of `~:{`: the arguments are the elements of the next argument. */
function sublist(inner: Run, once: (run: Run) => Ending): Ending {
  const list = inner.next();
  if (!(list instanceof Cons) && list !== NIL) return inner.m.typeError(list, "LIST");
  return once(new Run(inner.m, inner.target, itemsOf(list), 0, inner.left === 0));
}

function leave(run: Run, directive: Directive): Ending | undefined {
  const parameters = run.parameters(directive);
  const [first, second, third] = [parameters.any(), parameters.any(), parameters.any()];
  if (directive.colon && run.isLastSublist === undefined) run.fail("~:^ stands outside ~:{");
  const isOver = directive.colon ? run.isLastSublist === true : run.left === 0;
  return isLeaving(isOver, first, second, third) ? (directive.colon ? "up-up" : "up") : undefined;
}

type Compared = number | bigint | string | undefined;

function isLeaving(isOver: boolean, first: Compared, second: Compared, third: Compared): boolean {
  if (first === undefined) return isOver;
  if (second === undefined) return first === 0;
  if (third === undefined) return first === second;
  return first <= second && second <= third;
}
