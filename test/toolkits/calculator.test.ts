import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { CallContext } from "../../src/tool.ts";
import { createCalculatorToolkit } from "../../src/toolkits/calculator/calculator.ts";

const context: CallContext = {
  scope: new Scope(),
  progress: () => {},
  log: () => {},
  ask: async () => ({}),
};
const toolkit = createCalculatorToolkit();
const ajv = new Ajv({ strict: true });

/** Checks every result against the tool's outputSchema. */
async function call(
  name: string,
  args: JsonObject,
): Promise<{ text: unknown; structured: JsonObject }> {
  const tool = (await toolkit.list()).find((candidate) => candidate.name === name);
  if (!tool?.outputSchema) throw new Error(`no tool "${name}" with an outputSchema`);
  const outcome = await toolkit.call(tool, args, context);
  if (!isObject(outcome.structuredContent)) throw new Error("no structuredContent");
  const validate = ajv.compile(tool.outputSchema);
  expect(validate(outcome.structuredContent), ajv.errorsText(validate.errors)).toBe(true);
  expect(outcome.content).toHaveLength(1);
  return { text: outcome.content[0]?.text, structured: outcome.structuredContent };
}

const calculate = async (expression: string) => (await call("calculate", { expression })).text;
const convert = async (value: number, from_unit: string, to_unit: string) =>
  (await call("convert_units", { value, from_unit, to_unit })).structured;

async function failure(name: string, args: JsonObject): Promise<HallError> {
  const error: unknown = await call(name, args).catch((thrown: unknown) => thrown);
  if (!(error instanceof HallError))
    throw new Error(
      `expected a HallError for ${JSON.stringify(args)}, got ${JSON.stringify(error)}`,
    );
  return error;
}

describe("the toolkit", () => {
  test("offers two tools with exactly the documented parameters", async () => {
    expect(toolkit.id).toBe("calculator");
    const bare = (schema: JsonObject) =>
      JSON.parse(
        JSON.stringify(schema, (key, value) => (key === "description" ? undefined : value)),
      );
    expect(
      (await toolkit.list()).map(({ name, inputSchema }) => ({
        name,
        inputSchema: bare(inputSchema),
      })),
    ).toEqual([
      {
        name: "calculate",
        inputSchema: {
          type: "object",
          properties: { expression: { type: "string" } },
          required: ["expression"],
        },
      },
      {
        name: "convert_units",
        inputSchema: {
          type: "object",
          properties: {
            value: { type: "number" },
            from_unit: { type: "string" },
            to_unit: { type: "string" },
          },
          required: ["value", "from_unit", "to_unit"],
        },
      },
    ]);
  });

  test("marks both tools as read-only and is always available", async () => {
    for (const tool of await toolkit.list())
      expect(tool.annotations).toEqual({
        readOnlyHint: true,
        idempotentHint: true,
        openWorldHint: false,
      });
    expect(await toolkit.health()).toEqual({ state: "available" });
    await toolkit.close();
  });

  test("an unknown tool is NOT_FOUND", async () => {
    await expect(
      toolkit.call({ name: "abacus", inputSchema: {} }, {}, context),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("calculate", () => {
  test.each([
    ["1+2*3", "7"],
    ["(1+2)*3", "9"],
    ["2-3-4", "-5"],
    ["24/4/2", "3"],
    ["2^3^2", "512"],
    ["2**10", "1024"],
    ["-2^2", "-4"],
    ["(-2)^2", "4"],
    ["2^-2", "0.25"],
    ["2^-3^2", "0.001953125"],
    ["--3", "3"],
    ["+5 - -5", "10"],
    ["3!^2", "36"],
    ["-3!", "-6"],
    ["2*3!", "12"],
    ["10 % 3", "1"],
    ["17 mod 5 * 2", "4"],
    ["-7 mod 3", "2"],
    ["7.5 mod 2", "1.5"],
    ["50%", "0.5"],
    ["200 * 15%", "30"],
    ["50% - 0.1", "0.4"],
    ["(20+30)%", "0.5"],
    ["2 pi / pi", "2"],
    ["3(4+5)", "27"],
    ["(1+2)(3+4)", "21"],
    ["6/2(1+2)", "9"],
    ["2 sqrt(9)", "6"],
    ["√16 + 2√9", "10"],
    ["6 × 7 − 40 ÷ 8", "37"],
    ["2 + 2 =", "4"],
    ["0xff + 0b101 + 0o17", "275"],
    ["1_000_000 * 3", "3000000"],
    ["1.5e3 + .5", "1500.5"],
    ["SQRT(PI^2/PI^2)", "1"],
    [" 1\n+\t1 ", "2"],
  ])("%s is %s", async (expression, expected) => {
    expect(await calculate(expression)).toBe(expected);
  });

  test.each([
    ["0.1 + 0.2", "0.3"],
    ["1.1 * 1.1", "1.21"],
    ["4.35 * 100", "435"],
    ["0.1^20", `0.${"0".repeat(19)}1`],
    ["1/3 + 1/6", "0.5"],
    ["(1/3)*3", "1"],
    ["2^100", "1267650600228229401496703205376"],
    ["100!/98!", "9900"],
    ["99999999999999999999 + 1", "100000000000000000000"],
    [
      "123456789012345678901234567890 * 987654321098765432109876543210",
      "121932631137021795226185032733622923332237463801111263526900",
    ],
    ["round(1/7, 60)", "0.142857142857142857142857142857142857142857142857142857142857"],
    ["round(2.5)", "3"],
    ["round(-2.5)", "-3"],
    ["round(1234.567, -2)", "1200"],
    ["floor(-1.5) + ceil(-1.5) + trunc(-1.5)", "-4"],
    ["sqrt(16/9) * 3", "4"],
    ["sqrt(10^40)", "100000000000000000000"],
    ["8^(1/3) + 4^1.5", "10"],
    ["cbrt(-27)", "-3"],
    ["root(-32, 5)", "-2"],
    ["sin(pi)", "0"],
    ["log(1000, 10) + log2(1/8) + log10(10^500)", "500"],
    ["ln(1) + exp(0)", "1"],
    ["gcd(84, 36) + lcm(4, 6, 10)", "72"],
    ["choose(52, 5)", "2598960"],
    ["ncr(5, 9)", "0"],
    ["permutations(10, 3)", "720"],
    ["powmod(2, 10^30, 1000007)", `${powerModulo(2n, 10n ** 30n, 1000007n)}`],
    ["quotient(-7, 2)", "-4"],
    ["sum(1, 2, 3) + product(2, 3) + mean(1, 2) + median(5, 1, 3, 2)", "16"],
    ["min(3, 1/3, 0.3) + max(pi/pi, 2)", "2.3"],
    ["variance(2, 4, 4, 4, 5, 5, 7, 9) * 7", "32"],
    ["hypot(3, 4)", "5"],
    ["0^0", "1"],
    ["abs(-3) * sign(-2)", "-3"],
  ])("%s is exactly %s", async (expression, expected) => {
    const { text, structured } = await call("calculate", { expression });
    expect(text).toBe(expected);
    expect(structured).toMatchObject({ result: expected, exact: true, number: Number(expected) });
  });

  test.each([
    ["pi", "3.14159265358979"],
    ["tau/2", "3.14159265358979"],
    ["sin(30°) + cos(60 deg)", "1"],
    ["tan(45°)", "1"],
    ["sin(pi/6)^2 + cos(pi/3)^2", "0.5"],
    ["degrees(pi)", "180"],
    ["e", "2.71828182845905"],
    ["sqrt(2)", "1.4142135623731"],
    ["sqrt(2)^2", "2"],
    ["phi^2 - phi", "1"],
    ["atan(1)*4", "3.14159265358979"],
    ["exp(1)", "2.71828182845905"],
    ["ln(10)", "2.30258509299405"],
    ["log(8)", "2.07944154167984"],
    ["sin(1)", "0.841470984807897"],
    ["2^0.5", "1.4142135623731"],
    ["(1 + 1/1000000)^1000000", "2.71828046931938"],
    ["stdev(1, 2, 3, 4)", "1.29099444873581"],
    ["round(pi, 4)", "3.1416"],
    ["sinh(1) + cosh(1)", "2.71828182845905"],
    ["atan2(1, -1)", "2.35619449019234"],
    ["ln(10^5000)", "11512.9254649702"],
  ])("%s is approximately %s and marked as inexact", async (expression, expected) => {
    const { text, structured } = await call("calculate", { expression });
    expect(text).toBe(expected);
    expect(structured.exact).toBe(false);
    expect(structured.number).toBeCloseTo(Number(expected), 10);
  });

  test("a repeating decimal is rounded and also given as a fraction", async () => {
    expect((await call("calculate", { expression: "2/3" })).structured).toEqual({
      result: "0.66666666666666666667",
      exact: false,
      number: 2 / 3,
      fraction: "2/3",
    });
    expect(await calculate("-1/3000000000")).toBe("-3.3333333333333333333e-10");
    expect(await calculate("10^30/7")).toBe("1.4285714285714285714e+29");
    expect(await calculate("99999999999999999999999/7*7 + 1/3 - 1/3")).toBe(
      "99999999999999999999999",
    );
  });

  test("big whole numbers keep all digits and omit `number` if no double can hold them", async () => {
    const { structured } = await call("calculate", { expression: "1000!" });
    let expected = 1n;
    for (let factor = 2n; factor <= 1000n; factor++) expected *= factor;
    expect(structured).toEqual({ result: `${expected}`, exact: true });
  });

  test.each([
    ["9^9^9^9"],
    ["10^100000"],
    ["2^(2^64)"],
    ["100000!"],
    ["1e99999"],
    ["1e-99999"],
    ["(9^9^5)^(9^5)"],
    ["choose(10^9, 10^8)"],
    ["exp(1000)"],
    ["10^400 pi"],
    ["0.5^100000"],
    ["round(1/7, 100000)"],
    [`${"(".repeat(150)}1${")".repeat(150)}`],
    ["-".repeat(5_000)],
    [`2${"^2".repeat(200)}`],
    ["1+".repeat(6_000)],
    [Array.from({ length: 900 }, () => "9999!").join("*1+")],
    [
      Array.from({ length: 300 }, (_, index) => `1/${10n ** 1000n + BigInt(index)}`)
        .join("+")
        .slice(0, 9_990),
    ],
    [Array.from({ length: 90 }, (_, index) => `gcd(3^80000+${index}, 2^130000)`).join("+")],
  ])("%#: an expression over a limit is rejected as BUDGET", async (expression) => {
    expect((await failure("calculate", { expression })).code).toBe("BUDGET");
  });

  test("a long sum does not count as deep nesting", async () => {
    expect(await calculate(`1${"+1".repeat(4_900)}`)).toBe("4901");
  });

  test.each([
    ["1/0", /division by zero/],
    ["1 mod 0", /division by zero/],
    ["1/(2-2)", /division by zero/],
    ["0^-1", /division by zero/],
    ["sqrt(-1)", /-1 has no such root/],
    ["(-8)^(1/3)", /root\(x, n\)/],
    ["ln(0)", /ln\(x\) has no real value at 0 \(expected: x above 0\)/],
    ["log(8, 1)", /a base above 0 other than 1/],
    ["asin(2)", /x from -1 to 1/],
    ["acosh(0.5)", /x from 1/],
    ["tan(pi/2)", /odd multiples of pi\/2/],
    ["2.5!", /must be a whole number, not 2.5/],
    ["factorial(-1)", /whole numbers from 0/],
    ["gcd(1/2, 3)", /must be a whole number, not 0.5/],
    ["stdev(1)", /two values or more/],
  ])("%s has no value and the message says why", async (expression, message) => {
    const error = await failure("calculate", { expression });
    expect(error.code).toBe("EXECUTION");
    expect(error.message).toMatch(message);
  });

  test.each([
    ["", 1, /unexpected end/],
    ["1 +", 4, /unexpected end/],
    ["(1+2", 5, /a "\)" is missing/],
    ["1+2)", 4, /unexpected "\)"/],
    ["1 2", 3, /unexpected "2"/],
    ["1 + * 2", 5, /unexpected "\*"/],
    ["1,000", 2, /write 1000 or 1_000/],
    ["sin 30", 5, /write sin\(x\)/],
    ["sqrt()", 1, /write sqrt\(x\)/],
    ["choose(5)", 1, /write choose\(n, k\)/],
    ["3 x 4", 3, /multiply with \*/],
    ["sqr(4)", 1, /near: sqrt/],
    ["2 + fooorial(3)", 5, /unknown name "fooorial"/],
    ["1 $ 2", 3, /unexpected "\$"/],
    ["process.exit()", 1, /unknown name "process"/],
    ["constructor", 1, /unknown name "constructor"/],
    ["__proto__", 1, /unexpected "_"/],
    ["a = 1", 1, /unknown name "a"/],
    ["1; 2", 2, /unexpected ";"/],
  ])("%s is rejected with the position of the mistake", async (expression, position, message) => {
    const error = await failure("calculate", { expression });
    expect(error.code).toBe("VALIDATION");
    expect(error.message).toMatch(message);
    expect(error.details).toMatchObject({
      position,
      errors: [{ path: "/expression", message: error.message }],
    });
  });

  test("any text gives a result or a HallError", async () => {
    const pieces = fc.constantFrom(
      "1",
      "2.5",
      "(",
      ")",
      "+",
      "-",
      "*",
      "/",
      "^",
      "!",
      "%",
      ",",
      "pi",
      "e",
      "sin(",
      "log(",
      "9e9",
      "°",
      " ",
      "√",
      "mod",
      "max(",
      "\u0000",
      "é",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ maxLength: 40 }),
          fc.array(pieces, { maxLength: 25 }).map((parts) => parts.join("")),
        ),
        async (expression) => {
          const outcome = await call("calculate", { expression }).catch((error: unknown) => error);
          if (outcome instanceof Error && !(outcome instanceof HallError)) throw outcome;
          if (outcome instanceof HallError)
            expect(["VALIDATION", "EXECUTION", "BUDGET"]).toContain(outcome.code);
        },
      ),
      { numRuns: 500 },
    );
  });
});

function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (exponent === 0n) return 1n;
  const half = powerModulo(base, exponent / 2n, modulus);
  return (half * half * (exponent % 2n === 1n ? base : 1n)) % modulus;
}

/** An expression with as few brackets as precedence allows, and its value from plain BigInt arithmetic. */
interface Tree {
  readonly text: string;
  readonly strength: number;
  readonly value: readonly [top: bigint, bottom: bigint];
}

const bracket = (tree: Tree, strength: number) =>
  tree.strength < strength ? `(${tree.text})` : tree.text;
const leaf = fc.oneof(
  fc
    .bigInt({ min: 0n, max: 10n ** 20n })
    .map((value): Tree => ({ text: `${value}`, strength: 9, value: [value, 1n] })),
  fc.tuple(fc.bigInt({ min: 0n, max: 9_999n }), fc.integer({ min: 1, max: 6 })).map(
    ([digits, places]): Tree => ({
      text: `${digits}e-${places}`,
      strength: 9,
      value: [digits, 10n ** BigInt(places)],
    }),
  ),
);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    leaf,
    fc.tuple(tie("tree"), fc.constantFrom("+", "-"), tie("tree")).map(([a, sign, b]): Tree => {
      const [left, right] = [a.value[0] * b.value[1], b.value[0] * a.value[1]];
      return {
        text: `${bracket(a, 1)}${sign}${bracket(b, 2)}`,
        strength: 1,
        value: [sign === "+" ? left + right : left - right, a.value[1] * b.value[1]],
      };
    }),
    fc.tuple(tie("tree"), tie("tree")).map(
      ([a, b]): Tree => ({
        text: `${bracket(a, 2)}*${bracket(b, 3)}`,
        strength: 2,
        value: [a.value[0] * b.value[0], a.value[1] * b.value[1]],
      }),
    ),
    fc.tuple(tie("tree"), tie("tree")).map(([a, b]): Tree => {
      if (b.value[0] === 0n) return a;
      return {
        text: `${bracket(a, 2)}/${bracket(b, 3)}`,
        strength: 2,
        value: [a.value[0] * b.value[1], a.value[1] * b.value[0]],
      };
    }),
    tie("tree").map(
      (a): Tree => ({ text: `-${bracket(a, 4)}`, strength: 3, value: [-a.value[0], a.value[1]] }),
    ),
    fc.tuple(tie("tree"), fc.integer({ min: 0, max: 3 })).map(
      ([a, n]): Tree => ({
        text: `${bracket(a, 5)}^${n}`,
        strength: 4,
        value: [a.value[0] ** BigInt(n), a.value[1] ** BigInt(n)],
      }),
    ),
  ),
}));

describe("calculate against independent evaluators", () => {
  test("agrees with BigInt fractions on random expressions", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async ({ text, value: [top, bottom] }) => {
        fc.pre(text.length < 3_000 && `${bottom}`.length < 900 && `${top}`.length < 20_000);
        const { result, exact, fraction, number } = (await call("calculate", { expression: text }))
          .structured;
        if (exact || fraction !== undefined) {
          const [resultTop = 0n, resultBottom = 1n] = exact
            ? readDecimal(`${result}`)
            : `${fraction}`.split("/").map(BigInt);
          expect(resultTop * bottom).toBe(resultBottom * top);
        } else if (number !== undefined) {
          // Fractions over 200 characters are omitted.
          expect(Math.abs(Number(result) - Number(number))).toBeLessThanOrEqual(
            Math.abs(Number(number)) * 1e-15,
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("agrees with JavaScript on precedence and whole numbers", async () => {
    const operators = fc.array(
      fc.tuple(
        fc.constantFrom("+", "-", "*", "**"),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom("", "(", ")"),
      ),
      {
        minLength: 1,
        maxLength: 10,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), operators, async (first, rest) => {
        let [text, open] = [`${first}`, 0];
        for (const [operator, operand, mark] of rest) {
          text += `${operator}${mark === "(" ? "(" : ""}${operand}`;
          open += mark === "(" ? 1 : 0;
          if (mark === ")" && open > 0) [text, open] = [`${text})`, open - 1];
        }
        text += ")".repeat(open);
        // JavaScript rejects negative BigInt exponents, and towers of powers take it forever.
        fc.pre(!/\*\*\d*\*\*|\*\*\(/.test(text));
        const host: unknown = new Function(`return ${text.replace(/\d+/g, "$&n")}`)();
        expect(await calculate(text)).toBe(`${host}`);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["sin", Math.sin],
    ["cos", Math.cos],
    ["tan", Math.tan],
    ["atan", Math.atan],
    ["exp", Math.exp],
    ["sinh", Math.sinh],
    ["tanh", Math.tanh],
    ["asinh", Math.asinh],
    ["cbrt", Math.cbrt],
    ["floor", Math.floor],
    ["ceil", Math.ceil],
    ["trunc", Math.trunc],
    ["abs", Math.abs],
  ] as const)("%s agrees with Math", async (name, host) => {
    for (let value = -9.75; value < 10; value += 1.25) {
      expect(
        (await call("calculate", { expression: `${name}(${value})` })).structured.number,
      ).toBeCloseTo(host(value), 10);
    }
  });
});

function readDecimal(text: string): [bigint, bigint] {
  const [whole = "", decimals = ""] = text.split(".");
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

describe("convert_units", () => {
  test.each([
    [1, "in", "cm", 2.54],
    [1, "mile", "km", 1.609344],
    [26.2, "miles", "kilometers", 42.1648128],
    [6, "feet", "m", 1.8288],
    [1, "nautical mile", "m", 1852],
    [1, "light-year", "km", 9460730472580.8],
    [1, "lb", "g", 453.59237],
    [1, "ton", "kg", 907.18474],
    [1, "tonne", "lb", 2204.622621848776],
    [1, "stone", "pounds", 14],
    [2, "hours", "s", 7200],
    [1, "week", "h", 168],
    [90, "min", "hrs", 1.5],
    [0, "°C", "°F", 32],
    [100, "C", "F", 212],
    [-40, "celsius", "fahrenheit", -40],
    [98.6, "degF", "degC", 37],
    [0, "K", "celsius", -273.15],
    [300, "kelvin", "F", 80.33],
    [25, "degrees Celsius", "K", 298.15],
    [491.67, "rankine", "C", 0],
    [10, "delta_degC", "delta_degF", 18],
    [10, "delta_degC", "K", 10],
    [1, "J/°C", "J/K", 1],
    [1, "acre", "m^2", 4046.8564224],
    [1, "hectare", "m²", 10_000],
    [1, "square foot", "sq in", 144],
    [1, "gallon", "L", 3.785411784],
    [1, "imperial gallon", "ml", 4546.09],
    [1, "cup", "tbsp", 16],
    [2, "fl oz", "teaspoons", 12],
    [1, "m3", "liters", 1000],
    [1, "cubic yard", "ft^3", 27],
    [100, "km/h", "m/s", 27.77777777777778],
    [60, "mph", "km/h", 96.56064],
    [36, "kilometers per hour", "meters per second", 10],
    [10, "knots", "kph", 18.52],
    [1, "N", "kg*m/s^2", 1],
    [1, "kgf", "N", 9.80665],
    [1, "lbf*ft", "N m", 1.3558179483314003],
    [1, "atm", "kPa", 101.325],
    [1, "bar", "psi", 14.50377377302092],
    [760, "torr", "atm", 1],
    [1, "kWh", "MJ", 3.6],
    [2000, "kcal", "kJ", 8368],
    [1, "eV", "J", 1.602176634e-19],
    [1, "kilowatt-hour", "W*h", 1000],
    [1, "hp", "W", 745.6998715822702],
    [1, "PS", "W", 735.49875],
    [180, "deg", "rad", Math.PI],
    [1, "turn", "degrees", 360],
    [200, "gon", "°", 180],
    [60, "rpm", "Hz", 1],
    [1, "Hz", "rpm", 60],
    [60, "rpm", "rad/s", 2 * Math.PI],
    [2.4, "GHz", "MHz", 2400],
    [1, "GB", "MB", 1000],
    [1, "GiB", "MiB", 1024],
    [1, "KB", "bytes", 1000],
    [1, "KiB", "B", 1024],
    [1, "TB", "TiB", 0.9094947017729282],
    [8, "Mbit", "MB", 1],
    [100, "Mbps", "MB/s", 12.5],
    [1, "MiB/s", "kbit/s", 8388.608],
    [1, "gigabyte", "megabits", 8000],
    [30, "mpg", "L/100km", 7.840486111111111],
    [5, "L/100 km", "mpg", 47.04291666666666],
    [5, "min/km", "km/h", 12],
    [1, "C", "mAh", 1 / 3.6],
    [1, "uF", "nF", 1000],
    [1, "mC", "µC", 1000],
    [12, "V*A", "W", 12],
    [1, "kg/m³", "g/cm³", 0.001],
    [1, "Pa·s", "cP", 1000],
    [9.81, "m s⁻²", "ft/s2", 32.18503937007874],
    [50, "percent", "ppm", 500_000],
    [0.1, "m", "cm", 10],
    [-5, "km", "m", -5000],
    [1e-30, "m", "ym", 1e-6],
  ])("%d %s in %s is %d", async (value, from, to, expected) => {
    expect((await convert(value, from, to)).result).toBe(expected);
  });

  test("the result names the dimension and whether it is exact", async () => {
    expect(await call("convert_units", { value: 1, from_unit: "in", to_unit: " cm " })).toEqual({
      text: "1 in = 2.54 cm",
      structured: {
        result: 2.54,
        exact: true,
        dimension: "length",
        value: 1,
        from_unit: "in",
        to_unit: "cm",
      },
    });
    expect(await convert(100, "degF", "degC")).toMatchObject({
      result: 37.77777777777778,
      exact: false,
      dimension: "temperature",
    });
    expect((await convert(1, "kg*m^2/s^2", "J")).dimension).toBe("energy");
    expect((await convert(1, "m^2/K", "cm^2/K")).dimension).toBe("length^2·temperature^-1");
  });

  test.each([
    ["km", "kg", /km is length, kg is mass/],
    ["m", "m^2", /m is length, m\^2 is area/],
    ["mph", "m", /mph is speed, m is length/],
    ["GB", "Mbps", /GB is data, Mbps is data rate/],
    ["Hz", "s", /Hz is frequency, s is time/],
    ["delta_degC", "degF", /mixes a temperature with a difference/],
  ])("%s to %s is rejected and both dimensions are named", async (from_unit, to_unit, message) => {
    const error = await failure("convert_units", { value: 1, from_unit, to_unit });
    expect(error.code).toBe("VALIDATION");
    expect(error.message).toMatch(message);
    expect(error.details).toMatchObject({ errors: [{ path: "/to_unit" }] });
  });

  test.each([
    ["kilometrs", "from_unit", ["kilometre"]],
    ["farenheit", "from_unit", ["fahrenheit"]],
    ["mb", "from_unit", ["Mb", "MB"]],
    ["km/hx", "from_unit", []],
    ["USD", "from_unit", []],
    ["", "from_unit", []],
    ["m^99", "from_unit", []],
    ["m^0.5", "from_unit", []],
    ["(m", "from_unit", []],
    ["m/", "from_unit", []],
    ["0 m", "from_unit", []],
    ["m+s", "from_unit", []],
    ["m".repeat(300), "from_unit", []],
    ["constructor", "from_unit", []],
    ["(".repeat(100), "from_unit", []],
  ])("the unit %s is rejected with near names", async (unit, field, near) => {
    const error = await failure("convert_units", { value: 1, from_unit: unit, to_unit: "m" });
    expect(error.code).toBe("VALIDATION");
    expect(error.details).toMatchObject({
      errors: [{ path: `/${field}`, message: error.message }],
    });
    for (const name of near)
      expect(JSON.stringify(error.details?.near)).toContain(name.slice(0, 5));
  });

  test("temperatures below absolute zero, reciprocals of 0 and overflows are rejected", async () => {
    expect(
      await failure("convert_units", { value: -300, from_unit: "C", to_unit: "F" }),
    ).toMatchObject({ code: "EXECUTION", message: /absolute zero/ });
    expect(
      await failure("convert_units", { value: 0, from_unit: "mpg", to_unit: "L/100km" }),
    ).toMatchObject({ code: "EXECUTION", message: /reciprocal/ });
    expect(
      await failure("convert_units", { value: 1e308, from_unit: "km", to_unit: "nm" }),
    ).toMatchObject({ code: "BUDGET" });
    expect(
      await failure("convert_units", {
        value: 1,
        from_unit: "Ym^12".concat(" Ym^12".repeat(25)),
        to_unit: "m",
      }),
    ).toMatchObject({ code: "BUDGET" });
  });

  test("converting there and back gives the original value", async () => {
    const families = [
      ["m", "ft", "nmi", "ly", "µm"],
      ["kg", "lb", "oz", "grain", "Mt"],
      ["°C", "°F", "K", "°R"],
      ["J", "kWh", "BTU", "kcal", "eV"],
      ["B", "kbit", "MiB", "TB"],
      ["km/h", "m/s", "mph", "kn"],
    ];
    const pair = fc
      .constantFrom(...families)
      .chain((family) => fc.tuple(fc.constantFrom(...family), fc.constantFrom(...family)));
    await fc.assert(
      fc.asyncProperty(pair, fc.integer({ min: 0, max: 10 ** 9 }), async ([from, to], value) => {
        const there = Number((await convert(value, from, to)).result);
        const back = Number((await convert(there, to, from)).result);
        expect(Math.abs(back - value)).toBeLessThanOrEqual(Math.max(1e-9, value * 1e-12));
      }),
      { numRuns: 300 },
    );
  });
});
