/** Sums and units, exact wherever they can be. The evaluator is our own: bounded in every direction, and nothing of the host can be named in it. */
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Outcome, Tool, Toolkit } from "../../tool.ts";
import type { Convert } from "./convert.ts";
import type { evaluate } from "./expression.ts";
import {
  equals,
  type Fraction,
  fromNumber,
  toExactDecimal,
  toNumber,
  toRoundedDecimal,
} from "./fraction.ts";
import { toNumber as toDouble, type Value } from "./value.ts";

export function createCalculatorToolkit(): Toolkit {
  // The reader with its functions, and the units, are loaded when they are first needed.
  let calculateExactly: typeof evaluate | undefined;
  let convert: Convert | undefined;
  return {
    id: "calculator",
    category: "CALCULATION",
    description: "Mathematical calculations and computations",
    list: async () => [calculate, convertUnits],
    async call(tool, args) {
      switch (tool.name) {
        case calculate.name:
          calculateExactly ??= (await import("./expression.ts")).evaluate;
          return tellValue(calculateExactly(readText(args, "expression")));
        case convertUnits.name:
          convert ??= (await import("./convert.ts")).createConvert();
          return tellConversion(args, convert);
        default:
          throw new HallError("NOT_FOUND", `calculator has no tool named "${tool.name}"`);
      }
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
  };
}

const facts = { timeoutMs: 10_000 };
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const calculate: Tool = {
  name: "calculate",
  title: "Calculate",
  description:
    "Evaluates an arithmetic expression exactly: 0.1+0.2 is 0.3, whole numbers have up to 39,000 digits, fractions stay fractions. " +
    "Operators + - * / ^ (right to left; -2^2 is -4), ! (factorial), % (after a value: hundredths; between values: remainder, like mod), " +
    "° (degrees; trigonometry is in radians); 2 pi and 3(4+5) multiply. Constants pi, tau, e, phi, deg. Functions: " +
    "abs sign floor ceil trunc round(x, places) sqrt cbrt root(x, n) pow exp ln log(x, base; natural without one) log10 log2 sin cos tan asin acos atan atan2 " +
    "sinh cosh tanh asinh acosh atanh degrees radians hypot mod quotient gcd lcm factorial choose(n, k) permutations(n, k) powmod(b, e, m) " +
    "min max sum product mean median variance stdev (of a sample). For many exact decimals: round(1/7, 60). No thousands separators (1_000 is fine), " +
    "no variables, no units (see convert_units).",
  inputSchema: {
    type: "object",
    properties: {
      expression: { type: "string", description: "Such as 2*(3+4)^2, 15% * 80, sqrt(2)/2 or 100!" },
    },
    required: ["expression"],
  },
  outputSchema: {
    type: "object",
    properties: {
      result: {
        type: "string",
        description: "In decimal. All digits where exact; otherwise rounded.",
      },
      exact: { type: "boolean", description: "Whether result is the exact value." },
      number: {
        type: "number",
        description: "The nearest floating-point number, where there is one.",
      },
      fraction: {
        type: "string",
        description: "The exact value where its decimals have no end, such as 1/3.",
      },
    },
    required: ["result", "exact"],
  },
  annotations,
  facts,
};

const convertUnits: Tool = {
  name: "convert_units",
  title: "Convert units",
  description:
    "Converts a value between units of the same dimension, exactly: length, mass, time, temperature, area, volume, speed, pressure, energy, power, force, angle, " +
    "frequency, electricity, data and data rates, fuel consumption. Symbols or words, singular or plural, with SI prefixes: km, miles, °C or degF, square feet, " +
    "kg*m/s^2, km/h, meters per second, L/100km, mpg, kWh, GB (10^9 bytes), GiB (2^30 bytes), Mbit/s. Capitals count in symbols (mW, MW; b is bit, B is byte). " +
    "C and F alone are temperatures. gal, pt, cup, fl oz and ton are US ones (imperial_gallon, long_ton, tonne otherwise); a year is 365.25 days. " +
    "For differences of temperature use delta_degC, delta_degF or K. Currencies are not units.",
  inputSchema: {
    type: "object",
    properties: {
      value: { type: "number" },
      from_unit: { type: "string", description: "The unit the value is in." },
      to_unit: { type: "string", description: "The unit wanted." },
    },
    required: ["value", "from_unit", "to_unit"],
  },
  outputSchema: {
    type: "object",
    properties: {
      result: { type: "number", description: "The value in to_unit." },
      exact: { type: "boolean", description: "Whether result is exact, not rounded." },
      dimension: { type: "string", description: "What is measured, such as length or speed." },
      value: { type: "number" },
      from_unit: { type: "string" },
      to_unit: { type: "string" },
    },
    required: ["result", "exact", "dimension", "value", "from_unit", "to_unit"],
  },
  annotations,
  facts,
};

/** Of exact values whose decimals have no end. */
const roundedDigits = 20;
/** A double is good for fifteen; the rest is noise of the last operation. */
const approximateDigits = 15;
const fractionLengthMax = 200;

function tellValue(value: Value): Outcome {
  if (value.kind === "exact") return tellExact(value.fraction);
  const number = toDouble(value);
  const result = `${Number(number.toPrecision(approximateDigits))}`;
  return answer(result, { result, exact: false, number });
}

function tellExact(value: Fraction): Outcome {
  const decimal = toExactDecimal(value);
  const result = decimal ?? toRoundedDecimal(value, roundedDigits);
  const number = toNumber(value);
  const fraction = `${value.top}/${value.bottom}`;
  return answer(result, {
    result,
    exact: decimal !== undefined,
    ...(Number.isFinite(number) && { number }),
    ...(decimal === undefined && fraction.length <= fractionLengthMax && { fraction }),
  });
}

function tellConversion(args: JsonObject, convert: Convert): Outcome {
  const value = readNumber(args, "value");
  const [from_unit, to_unit] = [readText(args, "from_unit"), readText(args, "to_unit")];
  const converted = convert(fromNumber(value), from_unit, to_unit);
  const result = toNumber(converted.result);
  if (!Number.isFinite(result))
    throw new HallError(
      "BUDGET",
      `${value} ${from_unit} is too large for a number in ${to_unit}: choose a larger unit`,
    );
  const exact = equals(fromNumber(result), converted.result);
  return answer(`${value} ${from_unit} = ${result} ${to_unit}`, {
    result,
    exact,
    dimension: converted.dimension,
    value,
    from_unit,
    to_unit,
  });
}

function answer(text: string, structuredContent: JsonObject): Outcome {
  return { content: [{ type: "text", text }], structuredContent };
}

function readText(args: JsonObject, field: string): string {
  const value = args[field];
  if (typeof value !== "string") throw badValue(field, "must be a string");
  return value.trim();
}

function readNumber(args: JsonObject, field: string): number {
  const value = args[field];
  if (typeof value !== "number" || !Number.isFinite(value))
    throw badValue(field, "must be a number");
  return value;
}

function badValue(field: string, problem: string): HallError {
  const message = `${field} ${problem}`;
  return new HallError("VALIDATION", message, {
    details: { errors: [{ path: `/${field}`, message }] },
  });
}
