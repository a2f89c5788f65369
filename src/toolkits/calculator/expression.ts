/**
 * Evaluates expressions while reading them: precedence climbing without a tree, so a chain of ten
 * thousand sums needs no stack, and the depth of brackets, signs and powers is counted. Only the
 * names in the two tables of functions.ts exist here.
 */
import type { HallError } from "../../base/errors.ts";
import { findNear } from "../../base/text.ts";
import { invalidField } from "../toolkit.ts";
import { parseDecimal } from "./fraction.ts";
import { constants, factorial, functions, remainder } from "./functions.ts";
import {
  add,
  divide,
  exact,
  type MathValue,
  multiply,
  negate,
  overBudget,
  power,
  subtract,
  WorkBudget,
} from "./value.ts";

const lengthMax = 10_000;
const depthMax = 100;
/** The limit for the exponent of a literal. */
const exponentMax = 39_000;

/** Throws VALIDATION with the position, EXECUTION if there is no value, BUDGET past a limit. */
export function evaluate(expression: string): MathValue {
  if (expression.length > lengthMax)
    throw overBudget("the expression exceeds the limit of 10,000 characters");
  const reader = new Reader(expression);
  const value = readOperand(reader, 0);
  const rest = reader.peek();
  if (rest.kind !== "end") throw unexpected(rest, reader);
  return value;
}

interface Token {
  readonly kind: "number" | "name" | "mark" | "end" | "unknown";
  /** "" at the end. */
  readonly text: string;
  /** Position in the expression, from 1. */
  readonly at: number;
}

const tokenPattern =
  /(?<number>0x[\da-f_]+|0b[01_]+|0o[0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d+)?)|(?<name>\p{L}[\p{L}\p{N}_]*|√)|(?<mark>\*\*|[-+*/^%!(),;°×÷·⋅−–])|\S/giu;
const spellings = new Map(
  ["**^", "×*", "·*", "⋅*", "÷/", "−-", "–-"].map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
);

class Reader {
  readonly expression: string;
  readonly meter = new WorkBudget();
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #next = 0;
  #depth = 0;

  constructor(expression: string) {
    this.expression = expression;
    // A trailing "=" is a common habit.
    const text = expression.replace(/\s*=?\s*$/, "");
    this.#tokens = Array.from(text.matchAll(tokenPattern), toToken);
    this.#end = { kind: "end", text: "", at: expression.length + 1 };
  }

  peek(): Token {
    return this.#tokens[this.#next] ?? this.#end;
  }

  next(): Token {
    const token = this.peek();
    this.#next++;
    return token;
  }

  /** Counts a level of nesting while `read` runs. */
  nest<T>(read: () => T): T {
    if (++this.#depth > depthMax)
      throw overBudget("the expression exceeds the limit of 100 levels");
    const value = read();
    this.#depth--;
    return value;
  }
}

function toToken({ 0: text, index, groups = {} }: RegExpMatchArray): Token {
  const at = (index ?? 0) + 1;
  if (groups.number !== undefined) return { kind: "number", text, at };
  if (groups.name !== undefined) return { kind: "name", text, at };
  const kind = groups.mark === undefined ? "unknown" : "mark";
  return { kind, text: spellings.get(text) ?? text, at };
}

/** A higher number binds tighter. */
const strengths = { sum: 10, product: 20, sign: 25, power: 30, root: 35, suffix: 40 };

type Operation = (meter: WorkBudget, a: MathValue, b: MathValue) => MathValue;
const infixes: ReadonlyMap<string, { strength: number; isRightBound?: boolean; apply: Operation }> =
  new Map([
    ["+", { strength: strengths.sum, apply: add }],
    ["-", { strength: strengths.sum, apply: subtract }],
    ["*", { strength: strengths.product, apply: multiply }],
    ["/", { strength: strengths.product, apply: divide }],
    ["%", { strength: strengths.product, apply: remainder }],
    ["mod", { strength: strengths.product, apply: remainder }],
    ["^", { strength: strengths.power, isRightBound: true, apply: power }],
  ]);

const hundred = exact(100n);
const degree = constants.get("deg") ?? exact(1n);

function readOperand(reader: Reader, strengthMin: number): MathValue {
  let left = readStart(reader);
  for (;;) {
    const token = reader.peek();
    if (isSuffix(token, reader)) {
      if (strengths.suffix < strengthMin) return left;
      reader.next();
      left = applySuffix(reader.meter, token.text, left);
      continue;
    }
    const infix = infixes.get(token.text.toLowerCase());
    // A name or a bracket after a value multiplies: 2 pi, 3(4 + 5).
    const isImplied = !infix && (token.kind === "name" || token.text === "(");
    const operation = isImplied ? infixes.get("*") : infix;
    if (!operation || operation.strength < strengthMin) return left;
    if (!isImplied) reader.next();
    const right = reader.nest(() =>
      readOperand(reader, operation.isRightBound ? operation.strength : operation.strength + 1),
    );
    left = operation.apply(reader.meter, left, right);
  }
}

function readStart(reader: Reader): MathValue {
  const token = reader.next();
  switch (token.kind) {
    case "number":
      return parseNumber(token, reader);
    case "name":
      return readName(token, reader);
    case "mark":
      if (token.text === "-") return negate(reader.nest(() => readOperand(reader, strengths.sign)));
      if (token.text === "+") return reader.nest(() => readOperand(reader, strengths.sign));
      if (token.text === "(") return reader.nest(() => readBracket(reader));
      throw unexpected(token, reader);
    case "unknown":
    case "end":
      throw unexpected(token, reader);
  }
}

function readBracket(reader: Reader): MathValue {
  const value = readOperand(reader, 0);
  const close = reader.next();
  if (close.text !== ")") throw unexpected(close, reader, 'a ")" is missing');
  return value;
}

function readName(token: Token, reader: Reader): MathValue {
  const name = token.text.toLowerCase();
  const constant = constants.get(name);
  if (constant) return constant;
  const named = functions.get(name);
  if (!named) throw unknownName(token, reader);
  if (name === "√" && reader.peek().text !== "(")
    return named.apply(
      reader.meter,
      reader.nest(() => readOperand(reader, strengths.root)),
    );
  const open = reader.next();
  if (open.text !== "(")
    throw unexpected(open, reader, `${token.text} is a function: write ${named.form}`);
  const args = reader.nest(() => readArguments(reader));
  if (args.length < named.countMin || args.length > named.countMax) {
    const problem = `wrong number of arguments (${args.length}): write ${named.form}`;
    throw invalid(problem, token.at, reader);
  }
  return named.apply(reader.meter, ...args);
}

function readArguments(reader: Reader): MathValue[] {
  const args: MathValue[] = [];
  if (reader.peek().text === ")") {
    reader.next();
    return args;
  }
  for (;;) {
    args.push(readOperand(reader, 0));
    const mark = reader.next();
    if (mark.text === ")") return args;
    if (mark.text !== "," && mark.text !== ";") throw unexpected(mark, reader, 'a ")" is missing');
  }
}

/** "%" before a value is a remainder, else a percentage. */
function isSuffix(token: Token, reader: Reader): boolean {
  if (token.text === "!" || token.text === "°") return true;
  if (token.text !== "%") return false;
  const after = reader.expression.slice(token.at).trimStart();
  return !/^[\p{L}\p{N}.(√]/u.test(after) || /^mod\b/i.test(after);
}

function applySuffix(meter: WorkBudget, mark: string, value: MathValue): MathValue {
  if (mark === "!") return factorial(meter, value);
  return mark === "%" ? divide(meter, value, hundred) : multiply(meter, value, degree);
}

function parseNumber({ text, at }: Token, { meter }: Reader): MathValue {
  const plain = text.replaceAll("_", "");
  if (/^0[xbo]/i.test(plain)) return exact(BigInt(plain));
  const exponent = Math.abs(Number(plain.toLowerCase().split("e")[1] ?? 0));
  if (exponent > exponentMax)
    throw overBudget(`the exponent of the number at position ${at} exceeds ${exponentMax}`);
  meter.spend(1 + plain.length ** 2 / 10_000 + exponent / 10);
  // Adding zero applies the size limits of results.
  return add(meter, exact(parseDecimal(plain)), exact(0n));
}

function unexpected({ kind, text, at }: Token, reader: Reader, reason?: string): HallError {
  const isEnd = kind === "end";
  const what = isEnd ? "unexpected end" : `unexpected ${JSON.stringify(text.slice(0, 40))}`;
  const commaReason = "commas separate arguments; write 1000 or 1_000";
  const detail = reason ?? (text === "," ? commaReason : undefined);
  return invalid(`${what} at position ${at}${detail ? `: ${detail}` : ""}`, at, reader);
}

function unknownName({ text, at }: Token, reader: Reader): HallError {
  const near = findNear(text, [...functions.keys(), ...constants.keys()]);
  const problem = `unknown name ${JSON.stringify(text.slice(0, 40))} at position ${at}`;
  return invalid(`${problem} (${adviseName(text, near)})`, at, reader, near);
}

function adviseName(text: string, near: readonly string[]): string {
  if (text.toLowerCase() === "x") return "multiply with *";
  if (near.length > 0) return `near: ${near.join(", ")}`;
  return `functions: ${[...functions.keys()].join(", ")}`;
}

function invalid(
  problem: string,
  position: number,
  { expression }: Reader,
  near: readonly string[] = [],
): HallError {
  const around = expression.slice(Math.max(0, position - 21), position + 19);
  const message = expression.length > 60 ? `${problem}, near ${JSON.stringify(around)}` : problem;
  return invalidField("expression", message, [], { position, near });
}
