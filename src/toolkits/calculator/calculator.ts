/** Arithmetic and units, exact where possible. The evaluator is bounded and cannot name anything of the host. */
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Outcome, Tool, Toolkit } from "../../tool.ts";
import { invalidField, readText } from "../arguments.ts";
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
  // Loaded on first use.
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
          return formatResult(calculateExactly(readText(args, "expression")));
        case convertUnits.name:
          convert ??= (await import("./convert.ts")).createConvert();
          return convertValue(args, convert);
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
    "Operators + - * / ^ (right to left; -2^2 is -4), ! (factorial), % (after a value: percent; between values: remainder, like mod), " +
    "° (degrees; trigonometry is in radians); 2 pi and 3(4+5) multiply. Constants pi, tau, e, phi, deg. Functions: " +
    "abs sign floor ceil trunc round(x, places) sqrt cbrt root(x, n) pow exp ln log(x, base; default e) log10 log2 sin cos tan asin acos atan atan2 " +
    "sinh cosh tanh asinh acosh atanh degrees radians hypot mod quotient gcd lcm factorial choose(n, k) permutations(n, k) powmod(b, e, m) " +
    "min max sum product mean median variance stdev (of a sample). For more exact decimals use round(1/7, 60). No thousands separators (1_000 is fine), " +
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
        description: "Decimal: all digits if exact, else rounded.",
      },
      exact: { type: "boolean", description: "True if result is the exact value." },
      number: {
        type: "number",
        description: "The nearest floating-point number, if there is one.",
      },
      fraction: {
        type: "string",
        description: "The exact value if its decimals do not end, such as 1/3.",
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
    "kg*m/s^2, km/h, meters per second, L/100km, mpg, kWh, GB (10^9 bytes), GiB (2^30 bytes), Mbit/s. Symbols are case-sensitive (mW, MW; b is bit, B is byte). " +
    "C and F alone are temperatures. gal, pt, cup, fl oz and ton are US units (otherwise imperial_gallon, long_ton, tonne); a year is 365.25 days. " +
    "For temperature differences use delta_degC, delta_degF or K. Currencies are not units.",
  inputSchema: {
    type: "object",
    properties: {
      value: { type: "number" },
      from_unit: { type: "string", description: "The unit of value." },
      to_unit: { type: "string", description: "The unit to convert to." },
    },
    required: ["value", "from_unit", "to_unit"],
  },
  outputSchema: {
    type: "object",
    properties: {
      result: { type: "number", description: "The value in to_unit." },
      exact: { type: "boolean", description: "True if result is exact, not rounded." },
      dimension: { type: "string", description: "Such as length or speed." },
      value: { type: "number" },
      from_unit: { type: "string" },
      to_unit: { type: "string" },
    },
    required: ["result", "exact", "dimension", "value", "from_unit", "to_unit"],
  },
  annotations,
  facts,
};

/** For exact values whose decimals do not end. */
const roundedDigits = 20;
/** More digits of a double are noise of the last operation. */
const approximateDigits = 15;
const fractionLengthMax = 200;

function formatResult(value: Value): Outcome {
  if (value.kind === "exact") return formatExact(value.fraction);
  const number = toDouble(value);
  const result = `${Number(number.toPrecision(approximateDigits))}`;
  return answer(result, { result, exact: false, number });
}

function formatExact(value: Fraction): Outcome {
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

function convertValue(args: JsonObject, convert: Convert): Outcome {
  const value = readNumber(args, "value");
  const [from_unit, to_unit] = [readText(args, "from_unit"), readText(args, "to_unit")];
  const converted = convert(fromNumber(value), from_unit, to_unit);
  const result = toNumber(converted.result);
  if (!Number.isFinite(result))
    throw new HallError(
      "BUDGET",
      `${value} ${from_unit} exceeds the largest number in ${to_unit}; choose a larger unit`,
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

function readNumber(args: JsonObject, field: string): number {
  const value = args[field];
  if (typeof value !== "number" || !Number.isFinite(value))
    throw invalidField(field, `${field} must be a number`);
  return value;
}
