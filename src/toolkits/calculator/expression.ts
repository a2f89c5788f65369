/**
 * Expressions, evaluated while they are read: precedence climbing without a tree, so a chain of ten thousand sums needs no stack,
 * and what does (brackets, signs, towers of powers) is counted. Nothing here can name anything but the two tables of functions.
 */
import { HallError } from "../../base/errors.ts";
import { findNear } from "../../base/near.ts";
import { fraction, parseDecimal } from "./fraction.ts";
import { constants, factorial, functions, remainder } from "./functions.ts";
import {
  add,
  divide,
  exact,
  Meter,
  multiply,
  negate,
  power,
  subtract,
  tooMuch,
  type Value,
} from "./value.ts";

const lengthMax = 10_000;
const depthMax = 100;
/** Of a literal such as 1e30000. */
const exponentMax = 39_000;

/** Throws VALIDATION with the position of what cannot be read, EXECUTION for what has no value, BUDGET for what would be too much. */
export function evaluate(expression: string): Value {
  if (expression.length > lengthMax)
    throw tooMuch(
      `an expression has at most ${lengthMax} characters, this one has ${expression.length}`,
    );
  const reader = createReader(expression);
  const value = readOperand(reader, 0);
  const rest = reader.peek();
  if (rest.kind !== "end") throw unexpected(rest, reader);
  return value;
}

type Token =
  | { readonly kind: "number"; readonly text: string; readonly at: number }
  | { readonly kind: "name"; readonly text: string; readonly at: number }
  | { readonly kind: "mark"; readonly text: string; readonly at: number }
  | { readonly kind: "end"; readonly text: ""; readonly at: number };

interface Reader {
  readonly expression: string;
  readonly meter: Meter;
  peek(): Token;
  next(): Token;
  /** Runs what goes one level deeper. */
  nest<T>(read: () => T): T;
}

/** What binds tighter has the higher number. */
const strengths = { sum: 10, product: 20, sign: 25, power: 30, root: 35, suffix: 40 };

type Operation = (a: Value, b: Value, meter: Meter) => Value;
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

function readOperand(reader: Reader, strengthMin: number): Value {
  let left = readStart(reader);
  for (;;) {
    const token = reader.peek();
    if (isSuffix(token, reader)) {
      if (strengths.suffix < strengthMin) return left;
      reader.next();
      left = applySuffix(token.text, left, reader.meter);
      continue;
    }
    const infix = infixes.get(token.text.toLowerCase());
    // A name or a bracket right after a value multiplies: 2 pi, 3(4 + 5).
    const isImplied = !infix && (token.kind === "name" || token.text === "(");
    const operation = isImplied ? infixes.get("*") : infix;
    if (!operation || operation.strength < strengthMin) return left;
    if (!isImplied) reader.next();
    const right = reader.nest(() =>
      readOperand(reader, operation.isRightBound ? operation.strength : operation.strength + 1),
    );
    left = operation.apply(left, right, reader.meter);
  }
}

function readStart(reader: Reader): Value {
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
    case "end":
      throw unexpected(token, reader);
  }
}

function readBracket(reader: Reader): Value {
  const value = readOperand(reader, 0);
  const close = reader.next();
  if (close.text !== ")") throw unexpected(close, reader, 'a ")" is missing');
  return value;
}

function readName(token: Token, reader: Reader): Value {
  const name = token.text.toLowerCase();
  const constant = constants.get(name);
  if (constant) return constant;
  const named = functions.get(name);
  if (!named) throw unknownName(token, reader);
  if (name === "√" && reader.peek().text !== "(")
    return named.apply([reader.nest(() => readOperand(reader, strengths.root))], reader.meter);
  const open = reader.next();
  if (open.text !== "(")
    throw unexpected(open, reader, `${token.text} is a function: write ${named.form}`);
  const args = reader.nest(() => readArguments(reader));
  if (args.length < named.countMin || args.length > named.countMax) {
    throw badExpression(
      `${token.text} takes other arguments than the ${args.length} given: write ${named.form}`,
      token.at,
      reader,
    );
  }
  return named.apply(args, reader.meter);
}

function readArguments(reader: Reader): Value[] {
  const args: Value[] = [];
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

/** "%" is a remainder before a value and a percentage before anything else. */
function isSuffix(token: Token, reader: Reader): boolean {
  if (token.text === "!" || token.text === "°") return true;
  if (token.text !== "%") return false;
  const after = reader.expression.slice(token.at).trimStart();
  return !/^[\p{L}\p{N}.(√]/u.test(after) || /^mod\b/i.test(after);
}

function applySuffix(mark: string, value: Value, meter: Meter): Value {
  if (mark === "!") return factorial(value, meter);
  return mark === "%" ? divide(value, hundred, meter) : multiply(value, degree, meter);
}

function parseNumber({ text, at }: Token, reader: Reader): Value {
  const plain = text.replaceAll("_", "");
  if (/^0[xbo]/i.test(plain)) return exact(BigInt(plain));
  const exponent = Math.abs(Number(plain.toLowerCase().split("e")[1] ?? 0));
  if (exponent > exponentMax)
    throw tooMuch(`${text.slice(0, 40)} at position ${at} has an exponent beyond ${exponentMax}`);
  reader.meter.spend(1 + plain.length ** 2 / 10_000 + exponent / 10);
  // The sum takes it through the limits every result has to keep.
  return add(exact(parseDecimal(plain)), exact(fraction(0n)), reader.meter);
}

const tokenPattern =
  /\s*(?:(?<number>0x[\da-f_]+|0b[01_]+|0o[0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d+)?)|(?<name>\p{L}[\p{L}\p{N}_]*|√)|(?<mark>\*\*|[-+*/^%!(),;°×÷·⋅−–]))/iuy;
const spellings: Readonly<Record<string, string>> = {
  "**": "^",
  "×": "*",
  "·": "*",
  "⋅": "*",
  "÷": "/",
  "−": "-",
  "–": "-",
};

function createReader(expression: string): Reader {
  let offset = 0;
  let depth = 0;
  let ahead: Token | undefined;
  const scan = (): Token => {
    tokenPattern.lastIndex = offset;
    const groups = tokenPattern.exec(expression)?.groups;
    if (!groups) return scanRest(expression.slice(offset).trimStart());
    offset = tokenPattern.lastIndex;
    const { number, name, mark = "" } = groups;
    const at = offset - (number ?? name ?? mark).length + 1;
    if (number !== undefined) return { kind: "number", text: number, at };
    return name !== undefined
      ? { kind: "name", text: name, at }
      : { kind: "mark", text: spellings[mark] ?? mark, at };
  };
  const reader: Reader = {
    expression,
    meter: new Meter(),
    peek() {
      ahead ??= scan();
      return ahead;
    },
    next() {
      const token = ahead ?? scan();
      ahead = undefined;
      return token;
    },
    nest(read) {
      if (++depth > depthMax) throw tooMuch(`an expression is nested at most ${depthMax} deep`);
      const value = read();
      depth--;
      return value;
    },
  };
  const scanRest = (rest: string): Token => {
    const at = expression.length - rest.length + 1;
    // People end a sum with "=".
    if (rest === "" || rest.trim() === "=") return { kind: "end", text: "", at };
    throw badExpression(`unexpected ${JSON.stringify([...rest][0])} at position ${at}`, at, reader);
  };
  return reader;
}

function unexpected(token: Token, reader: Reader, reason?: string): HallError {
  const what =
    token.kind === "end"
      ? "the expression ends too early"
      : `unexpected ${JSON.stringify(token.text.slice(0, 40))}`;
  const hint =
    token.text === "," && reason === undefined
      ? "commas separate the arguments of a function; write 1000 or 1_000"
      : reason;
  return badExpression(
    `${what} at position ${token.at}${hint ? `: ${hint}` : ""}`,
    token.at,
    reader,
  );
}

function unknownName({ text, at }: Token, reader: Reader): HallError {
  const near = findNear(text, [...functions.keys(), ...constants.keys()]);
  const move =
    text.toLowerCase() === "x"
      ? "multiply with *"
      : near.length > 0
        ? `near: ${near.join(", ")}`
        : `functions: ${[...functions.keys()].join(", ")}`;
  return badExpression(
    `unknown name ${JSON.stringify(text.slice(0, 40))} at position ${at}; ${move}`,
    at,
    reader,
    near,
  );
}

function badExpression(
  problem: string,
  position: number,
  { expression }: Reader,
  near: readonly string[] = [],
): HallError {
  const start = Math.max(0, position - 21);
  const around = expression.slice(start, position + 19);
  const message = expression.length > 60 ? `${problem}, near ${JSON.stringify(around)}` : problem;
  return new HallError("VALIDATION", message, {
    details: { errors: [{ path: "/expression", message }], position, near },
  });
}
