/** Strings: case, trimming, comparison, parsing of integers. */
import { defineConstant, defineFunction, defineSetter, defineValues } from "../define.ts";
import type { Machine } from "../machine.ts";
import { bigDigits } from "../rationals.ts";
import { elements, indexBeyond, sizeOf, sliceText, spanOf, textOf } from "../sequences.ts";
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
import { bool, NIL, Sym, T } from "../symbol.ts";
import { integer, type Value } from "../values.ts";

export function defineStrings(): void {
  defineFunction("STRING x", (m, value) =>
    value instanceof Str ? value : m.string(textOf(m, value)),
  );
  defineFunction("MAKE-STRING size &key initial-element element-type", (m, size, initial) => {
    const length = sizeOf(m, size);
    m.alloc((length >> 3) + 1);
    const code = initial === undefined ? 0 : codeOf(m, initial);
    return new Str(String.fromCodePoint(code).repeat(length));
  });
  for (const name of ["CHAR", "SCHAR"]) {
    defineFunction(`${name} string index`, (m, string, index) =>
      char(stringOf(m, string).codeAt(indexIn(m, string, index))),
    );
    defineSetter(`${name} value string index`, (m, value, string, index) => {
      stringOf(m, string).setCode(indexIn(m, string, index), codeOf(m, value));
      return value;
    });
  }
  defineCase();
  defineTrimming();
  defineComparison();
  defineParsing();
}

function stringOf(m: Machine, value: Value): Str {
  return value instanceof Str ? value : m.typeError(value, "STRING");
}

function indexIn(m: Machine, string: Value, index: Value): number {
  const { capacity } = stringOf(m, string);
  const at = sizeOf(m, index);
  return at < capacity ? at : indexBeyond(m, string, at, capacity);
}

/** A string designator as a string. */
function designated(m: Machine, value: Value): Str {
  return value instanceof Str ? value : new Str(textOf(m, value));
}

type CaseChange = (code: number, isInWord: boolean) => number;

const cases: readonly [string, CaseChange][] = [
  ["UPCASE", upperCode],
  ["DOWNCASE", lowerCode],
  ["CAPITALIZE", (code, isInWord) => (isInWord ? lowerCode(code) : upperCode(code))],
];

function defineCase(): void {
  for (const [name, change] of cases) {
    defineFunction(`STRING-${name} string &key start end`, (m, value, start, end) => {
      m.alloc((designated(m, value).length >> 3) + 1);
      return Str.ofCodes(changed(m, designated(m, value), change, start, end));
    });
    defineFunction(`NSTRING-${name} string &key start end`, (m, value, start, end) => {
      const string = stringOf(m, value);
      for (const [at, code] of changed(m, string, change, start, end).entries())
        string.setCode(at, code);
      return string;
    });
  }
}

function changed(
  m: Machine,
  string: Str,
  change: CaseChange,
  start?: Value,
  end?: Value,
): number[] {
  const { length } = string;
  const span = spanOf(m, start, end, length, string);
  m.tick(length >> 2);
  const codes: number[] = [];
  let isInWord = false;
  for (let at = 0; at < length; at += 1) {
    const code = string.codeAt(at);
    const isInside = at >= span.start && at < span.end;
    codes.push(isInside ? change(code, isInWord) : code);
    isInWord = isInside && isAlphanumeric(code);
  }
  return codes;
}

function defineTrimming(): void {
  for (const side of ["", "-LEFT", "-RIGHT"])
    defineFunction(`STRING${side}-TRIM character-bag string`, (m, bag, value) => {
      const codes = new Set(elements(m, bag).map((item) => codeOf(m, item)));
      const string = designated(m, value);
      let [start, end] = [0, string.length];
      if (side !== "-RIGHT") while (start < end && codes.has(string.codeAt(start))) start += 1;
      if (side !== "-LEFT") while (end > start && codes.has(string.codeAt(end - 1))) end -= 1;
      m.tick(string.length >> 2);
      return m.string(sliceText(string, start, end));
    });
}

/** The accepted orders: of characters by sign or by word, which ignores their case. */
const comparisons: readonly [string, string, (order: number) => boolean][] = [
  ["=", "EQUAL", (order) => order === 0],
  ["/=", "NOT-EQUAL", (order) => order !== 0],
  ["<", "LESSP", (order) => order < 0],
  [">", "GREATERP", (order) => order > 0],
  ["<=", "NOT-GREATERP", (order) => order <= 0],
  [">=", "NOT-LESSP", (order) => order >= 0],
];

type Fold = (code: number) => number;

function defineComparison(): void {
  for (const [sign, word, holds] of comparisons) {
    const same: Fold = (code) => code;
    for (const [ending, fold] of [[sign, same] as const, [`-${word}`, lowerCode] as const]) {
      compareStrings(`STRING${ending}`, fold, holds, sign === "=");
      compareCharacters(`CHAR${ending}`, fold, holds, sign === "/=");
    }
  }
}

function compareStrings(
  name: string,
  fold: Fold,
  holds: (order: number) => boolean,
  isEquality: boolean,
): void {
  defineFunction(
    `${name} string1 string2 &key start1 end1 start2 end2`,
    (m, a, b, start1, end1, start2, end2) => {
      const [left, right] = [designated(m, a), designated(m, b)];
      const span1 = spanOf(m, start1, end1, left.length, left);
      const span2 = spanOf(m, start2, end2, right.length, right);
      const [length1, length2] = [span1.end - span1.start, span2.end - span2.start];
      if (isEquality && length1 !== length2) return NIL;
      const common = Math.min(length1, length2);
      m.tick(common >> 2);
      let [same, order] = [0, 0];
      for (; same < common && order === 0; same += 1)
        order = fold(left.codeAt(span1.start + same)) - fold(right.codeAt(span2.start + same));
      if (order !== 0) same -= 1;
      else order = length1 - length2;
      if (!holds(order)) return NIL;
      return isEquality ? T : span1.start + same;
    },
  );
}

/** No two characters may be equal if the order is that they differ. */
function compareCharacters(
  name: string,
  fold: Fold,
  holds: (order: number) => boolean,
  areDistinct: boolean,
): void {
  defineFunction(`${name} char &rest more`, (m, first, more) => {
    const [second] = more;
    if (more.length === 1 && second !== undefined)
      return bool(holds(fold(codeOf(m, first)) - fold(codeOf(m, second))));
    const codes = [first, ...more].map((value) => fold(codeOf(m, value)));
    if (areDistinct) return bool(new Set(codes).size === codes.length);
    return bool(codes.every((code, at) => at === 0 || holds((codes[at - 1] as number) - code)));
  });
}

const blank = new Set([9, 10, 12, 13, 32, 160]);

function defineParsing(): void {
  defineValues(
    "PARSE-INTEGER string &key start end radix junk-allowed",
    (m, value, start, end, radix = 10, junkAllowed = NIL) => {
      const string = stringOf(m, value);
      const span = spanOf(m, start, end, string.length, string);
      const base = radixOf(m, radix);
      m.tick(span.end - span.start);
      const skipBlank = (from: number): number => {
        let at = from;
        while (at < span.end && blank.has(string.codeAt(at))) at += 1;
        return at;
      };
      let at = skipBlank(span.start);
      const sign = at < span.end ? string.codeAt(at) : 0;
      if (sign === 45 || sign === 43) at += 1;
      const first = at;
      while (at < span.end && digitWeight(string.codeAt(at), base) !== undefined) at += 1;
      m.checkBits((at - first) * Math.log2(base));
      const digits = sliceText(string, first, at).toUpperCase();
      const rest = skipBlank(at);
      if ((digits === "" || rest < span.end) && junkAllowed === NIL) {
        const what = digits === "" ? "no integer" : "junk after the integer";
        return m.error("PARSE-ERROR", { TEXT: `there is ${what} in ${m.show(string)}` });
      }
      if (digits === "") return m.values(NIL, at);
      const size = bigDigits(digits, base);
      return m.values(integer(sign === 45 ? -size : size), junkAllowed === NIL ? rest : at);
    },
  );
}

// Characters: kinds, case, codes, names and comparison.

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
  for (const name of ["CHAR-CODE", "CHAR-INT"]) defineFunction(`${name} char`, codeOf);
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
  defineFunction(
    "CHARACTER character",
    (m, value) => findCharacter(value) ?? m.typeError(value, "CHARACTER"),
  );
  defineFunction(
    "DIGIT-CHAR-P char &optional radix",
    (m, value, radix = 10) => digitWeight(codeOf(m, value), radixOf(m, radix)) ?? NIL,
  );
  defineFunction("DIGIT-CHAR weight &optional radix", (m, weight, radix = 10) => {
    const limit = radixOf(m, radix);
    if (typeof weight === "bigint") return NIL;
    const digit = sizeOf(m, weight);
    return digit < limit ? char(digit.toString(36).toUpperCase().charCodeAt(0)) : NIL;
  });
}

export function codeOf(m: Machine, value: Value): number {
  return value instanceof Char ? value.code : m.typeError(value, "CHARACTER");
}

/** By a character designator: a character, or a string or symbol of one character. */
export function findCharacter(value: Value): Char | undefined {
  if (value instanceof Char) return value;
  const text = value instanceof Sym ? new Str(value.name) : value;
  return text instanceof Str && text.length === 1 ? char(text.codeAt(0)) : undefined;
}

function radixOf(m: Machine, radix: Value): number {
  return typeof radix === "number" && radix >= 2 && radix <= 36
    ? radix
    : m.typeError(radix, "(INTEGER 2 36)");
}
