/** Arithmetic and units, exact where possible. The evaluator is bounded and cannot name anything of the host. */
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Outcome, Tool, Toolkit } from "../../tool.ts";
import {
  answer,
  booleanSchema,
  createToolkit,
  invalidField,
  numberSchema,
  objectSchema,
  readText,
  textSchema,
} from "../toolkit.ts";
import { equals, fromNumber, toExactDecimal, toNumber, toRoundedDecimal } from "./fraction.ts";

/** The evaluator and the units are loaded on first use. */
export function createCalculatorToolkit(): Toolkit {
  return createToolkit(
    {
      id: "calculator",
      category: "CALCULATION",
      description: "Mathematical calculations and computations",
    },
    [
      [calculate, evaluateExpression, loadEvaluator],
      [convertUnits, convertValue, loadUnits],
    ],
  );
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
  inputSchema: objectSchema({
    expression: textSchema("Such as 2*(3+4)^2, 15% * 80, sqrt(2)/2 or 100!"),
  }),
  outputSchema: objectSchema(
    {
      result: textSchema("Decimal: all digits if exact, else rounded."),
      exact: booleanSchema("True if result is the exact value."),
      number: numberSchema("The nearest floating-point number, if there is one."),
      fraction: textSchema("The exact value if its decimals do not end, such as 1/3."),
    },
    ["number", "fraction"],
  ),
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
  inputSchema: objectSchema({
    value: numberSchema(),
    from_unit: textSchema("The unit of value."),
    to_unit: textSchema("The unit to convert to."),
  }),
  outputSchema: objectSchema({
    result: numberSchema("The value in to_unit."),
    exact: booleanSchema("True if result is exact, not rounded."),
    dimension: textSchema("Such as length or speed."),
    value: numberSchema(),
    from_unit: textSchema(),
    to_unit: textSchema(),
  }),
  annotations,
  facts,
};

/** For exact values whose decimals do not end. */
const roundedDigits = 20;
/** More digits of a double are noise of the last operation. */
const approximateDigits = 15;
const fractionLengthMax = 200;

const loadEvaluator = () => Promise.all([import("./expression.ts"), import("./value.ts")]);
const loadUnits = () => import("./convert.ts");

async function evaluateExpression(args: JsonObject): Promise<Outcome> {
  const [{ evaluate }, values] = await loadEvaluator();
  const value = evaluate(readText(args, "expression"));
  const exactly = values.toFraction(value);
  if (!exactly) {
    const number = values.toNumber(value);
    const result = `${Number(number.toPrecision(approximateDigits))}`;
    return answer(result, { result, exact: false, number });
  }

  const decimal = toExactDecimal(exactly);
  const result = decimal ?? toRoundedDecimal(exactly, roundedDigits);
  const number = toNumber(exactly);
  const fraction = `${exactly.top}/${exactly.bottom}`;
  return answer(result, {
    result,
    exact: decimal !== undefined,
    ...(Number.isFinite(number) && { number }),
    ...(decimal === undefined && fraction.length <= fractionLengthMax && { fraction }),
  });
}

async function convertValue(args: JsonObject): Promise<Outcome> {
  const { value } = args;
  if (typeof value !== "number" || !Number.isFinite(value))
    throw invalidField("value", "value must be a number");
  const [from_unit, to_unit] = [readText(args, "from_unit"), readText(args, "to_unit")];

  const { convert } = await loadUnits();
  const { result: exactly, dimension } = convert(fromNumber(value), from_unit, to_unit);
  const result = toNumber(exactly);
  if (!Number.isFinite(result))
    throw new HallError(
      "BUDGET",
      `${value} ${from_unit} exceeds the largest number in ${to_unit}; choose a larger unit`,
    );
  return answer(`${value} ${from_unit} = ${result} ${to_unit}`, {
    result,
    exact: equals(fromNumber(result), exactly),
    dimension,
    value,
    from_unit,
    to_unit,
  });
}
