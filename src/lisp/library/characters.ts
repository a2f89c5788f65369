/** Characters: kinds, case, codes, names and comparison. */

import { defineConstant, defineFunction } from "../define.ts";
import type { Machine } from "../machine.ts";
import {
  Char,
  char,
  characterName,
  characterNamed,
  digitWeight,
  isAlphabetic,
  isAlphanumeric,
  isGraphic,
  isLower,
  isUpper,
  lowerCode,
  Str,
  upperCode,
} from "../string.ts";
import { bool, NIL, Sym } from "../symbol.ts";
import type { Value } from "../values.ts";
import { textOf } from "./designators.ts";

export function defineCharacters(): void {
  defineConstant("CHAR-CODE-LIMIT", 0x110000);
  const predicates: readonly [string, (code: number) => boolean][] = [
    ["ALPHA-CHAR-P", isAlphabetic],
    ["ALPHANUMERICP", isAlphanumeric],
    ["GRAPHIC-CHAR-P", isGraphic],
    ["STANDARD-CHAR-P", (code) => code === 10 || (code >= 32 && code < 127)],
    ["UPPER-CASE-P", isUpper],
    ["LOWER-CASE-P", isLower],
    ["BOTH-CASE-P", (code) => isUpper(code) || isLower(code)],
  ];
  for (const [name, holds] of predicates)
    defineFunction(`${name} char`, (m, value) => bool(holds(codeOf(m, value))));
  defineFunction("CHAR-UPCASE char", (m, value) => char(upperCode(codeOf(m, value))));
  defineFunction("CHAR-DOWNCASE char", (m, value) => char(lowerCode(codeOf(m, value))));
  defineFunction("CHAR-CODE char", (m, value) => codeOf(m, value));
  defineFunction("CHAR-INT char", (m, value) => codeOf(m, value));
  defineFunction("CODE-CHAR code", (m, code) =>
    typeof code === "number" && code >= 0 && code < 0x110000
      ? char(code)
      : m.typeError(code, "(MOD 1114112)"),
  );
  defineFunction("CHAR-NAME char", (m, value) => {
    const name = characterName(codeOf(m, value));
    return name === undefined ? NIL : new Str(name);
  });
  defineFunction("NAME-CHAR name", (m, name) => {
    const code = characterNamed(textOf(m, name));
    return code === undefined ? NIL : char(code);
  });
  defineFunction("CHARACTER character", (m, value) => character(m, value));
  defineFunction(
    "DIGIT-CHAR-P char &optional radix",
    (m, value, radix = 10) => digitWeight(codeOf(m, value), radixOf(m, radix)) ?? NIL,
  );
  defineFunction("DIGIT-CHAR weight &optional radix", (m, weight, radix = 10) => {
    const limit = radixOf(m, radix);
    if (typeof weight === "bigint") return NIL;
    if (typeof weight !== "number" || weight < 0) return m.typeError(weight, "UNSIGNED-BYTE");
    return weight < limit ? char(weight.toString(36).toUpperCase().charCodeAt(0)) : NIL;
  });
  compareAs("CHAR", ["=", "/=", "<", ">", "<=", ">="], (code) => code);
  compareAs(
    "CHAR-",
    ["EQUAL", "NOT-EQUAL", "LESSP", "GREATERP", "NOT-GREATERP", "NOT-LESSP"],
    lowerCode,
  );
}

const orders: readonly ((a: number, b: number) => boolean)[] = [
  (a, b) => a === b,
  (a, b) => a !== b,
  (a, b) => a < b,
  (a, b) => a > b,
  (a, b) => a <= b,
  (a, b) => a >= b,
];

function compareAs(prefix: string, names: readonly string[], fold: (code: number) => number): void {
  names.forEach((name, index) => {
    const holds = orders[index] as (a: number, b: number) => boolean;
    defineFunction(`${prefix}${name} char &rest more`, (m, first, more) => {
      const [second] = more;
      if (more.length === 1 && second !== undefined)
        return bool(holds(fold(codeOf(m, first)), fold(codeOf(m, second))));
      const codes = [first, ...more].map((value) => fold(codeOf(m, value)));
      if (index === 1) return bool(new Set(codes).size === codes.length);
      return bool(codes.every((code, at) => at === 0 || holds(codes[at - 1] as number, code)));
    });
  });
}

export function codeOf(m: Machine, value: Value): number {
  return value instanceof Char ? value.code : m.typeError(value, "CHARACTER");
}

/** A character designator: a character, or a string or symbol of one character. */
function character(m: Machine, value: Value): Char {
  return findCharacter(value) ?? m.typeError(value, "CHARACTER");
}

export function findCharacter(value: Value): Char | undefined {
  if (value instanceof Char) return value;
  const text = value instanceof Sym ? new Str(value.name) : value;
  return text instanceof Str && text.length === 1 ? char(text.codeAt(0)) : undefined;
}

export function radixOf(m: Machine, radix: Value): number {
  return typeof radix === "number" && radix >= 2 && radix <= 36
    ? radix
    : m.typeError(radix, "(INTEGER 2 36)");
}
