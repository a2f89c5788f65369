import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { compile } from "../../src/gateway/compiler.ts";
import { certainlyFits, planSchema } from "../../src/gateway/quick-check.ts";
import { createValidators } from "../../src/gateway/validate.ts";

/** Runs the quick check and the compiled schema on copies of a value. Returns both copies and both results. */
async function checkBoth(schema: JsonObject, value: Json) {
  const plan = planSchema(schema);
  const [quick, compiled] = [structuredClone(value), structuredClone(value)];
  const isCertain = plan !== undefined && certainlyFits(plan, quick);
  const errors = await compile(schema, () => {})(compiled);
  return { isCertain, quick, compiled, errors };
}

const odd = ["toString", "__proto__", "длина"];
const names = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom("a", "b") },
  { weight: 1, arbitrary: fc.constantFrom(...odd) },
);
const texts = fc.constantFrom("", "a", "ab", "😀", "😀😀", "long enough");
const numbers = fc.constantFrom(-1, -0, 0, 0.5, 1, 2, 3, 1e300);
const scalars = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null));
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4 }),
  ),
}));
const count = fc.constantFrom(0, 1, 2, 3);
const types = fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null");
const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => {
  const inner = fc.oneof(
    { weight: 8, arbitrary: tie("schema") },
    fc.boolean(),
  ) as fc.Arbitrary<Json>;
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: types,
    properties: fc.dictionary(names, fc.oneof(inner, fc.record({ default: scalars })), {
      maxKeys: 3,
    }),
    required: fc.uniqueArray(names, { maxLength: 2 }),
    additionalProperties: inner,
    items: inner,
    anyOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
    enum: fc.uniqueArray(texts, { minLength: 1, maxLength: 3 }),
    const: scalars,
    default: fc.oneof(scalars, fc.array(scalars, { maxLength: 2 })),
    minimum: numbers,
    maximum: numbers,
    exclusiveMinimum: numbers,
    exclusiveMaximum: numbers,
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    title: fc.constant("a title"),
  };
  const entry = fc
    .constantFrom(...Object.keys(keywords), "properties", "properties", "default")
    .chain((key) => fc.tuple(fc.constant(key), keywords[key] as fc.Arbitrary<unknown>));
  return {
    schema: fc
      .array(entry, { maxLength: 3, depthIdentifier: "schema" })
      .map((entries) => Object.fromEntries(entries) as JsonObject),
  };
});

test("what certainly fits also fits for the compiler, with the same defaults", async () => {
  let certain = 0;
  let planned = 0;
  let filled = 0;
  await fc.assert(
    fc.asyncProperty(
      schema,
      fc.array(value, { minLength: 4, maxLength: 4 }),
      async (one, values) => {
        if (!planSchema(one)) return;
        for (const given of values) {
          planned++;
          const { isCertain, quick, compiled, errors } = await checkBoth(one, given);
          if (!isCertain) continue;
          certain++;
          expect(errors).toEqual([]);
          expect(JSON.stringify(quick)).toBe(JSON.stringify(compiled));
          if (JSON.stringify(quick) !== JSON.stringify(given)) filled++;
        }
      },
    ),
    { numRuns: 1_200 },
  );
  // Otherwise the property holds because nothing fits.
  expect(certain).toBeGreaterThan(planned / 10);
  expect(filled).toBeGreaterThan(10);
});

describe("the arguments of usual tools are certain", () => {
  const usual: Record<string, [JsonObject, Json, Json?]> = {
    "no arguments": [{ type: "object" }, {}],
    "the draft is named": [
      { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: {} },
      {},
    ],
    "required and optional fields": [
      {
        type: "object",
        properties: { path: { type: "string" }, lines: { type: "integer", minimum: 1 } },
        required: ["path"],
        additionalProperties: false,
      },
      { path: "notes.md", lines: 3 },
    ],
    "an optional field as Python servers write it": [
      {
        type: "object",
        properties: { since: { anyOf: [{ type: "string" }, { type: "null" }], default: null } },
      },
      {},
      { since: null },
    ],
    "defaults of inner objects and of lists": [
      {
        type: "object",
        properties: {
          page: { type: "object", properties: { size: { type: "integer", default: 20 } } },
          tags: { type: "array", items: { type: "string" }, default: ["a"] },
        },
      },
      { page: {} },
      { page: { size: 20 }, tags: ["a"] },
    ],
    "a choice, a number of characters and of items": [
      {
        type: "object",
        properties: {
          mode: { enum: ["read", "write"] },
          name: { type: "string", minLength: 1, maxLength: 5 },
          ids: { type: "array", items: { type: "number" }, maxItems: 2 },
        },
        required: ["mode", "name"],
      },
      { mode: "read", name: "x", ids: [1, 2.5] },
    ],
  };

  test.each(Object.entries(usual))("%s", async (_, [given, args, filled = args]) => {
    const { isCertain, quick, errors } = await checkBoth(given, args);
    expect({ isCertain, quick, errors }).toEqual({ isCertain: true, quick: filled, errors: [] });
  });
});

describe("what the compiler has to decide is never certain", () => {
  const unknown: Record<string, [JsonObject, Json]> = {
    "a pattern": [
      { type: "object", properties: { a: { type: "string", pattern: "^a" } } },
      { a: "a" },
    ],
    "a format": [
      { type: "object", properties: { a: { type: "string", format: "uri" } } },
      { a: "no" },
    ],
    "a field that every object has": [{ type: "object", required: ["toString"] }, {}],
    "a character of two units": [
      { type: "object", properties: { a: { minLength: 2 } } },
      { a: "😀" },
    ],
    "items that may be there twice": [
      { type: "object", properties: { a: { uniqueItems: true } } },
      { a: [1, 1] },
    ],
    "a required field that is forbidden": [
      { type: "object", required: ["a"], additionalProperties: false },
      { a: 1 },
    ],
  };

  test.each(Object.entries(unknown))("%s", async (_, [given, args]) => {
    expect(await checkBoth(given, args)).toMatchObject({ isCertain: false });
  });
});

test("a value that takes too many checks is left to the compiler, which has a thread for it", async () => {
  const branches = Array.from({ length: 100 }, (_, n) => ({ const: n }));
  const schema = {
    type: "object",
    properties: { a: { type: "array", items: { anyOf: branches } } },
  };
  const plan = planSchema(schema);
  const items = (count: number) => ({ a: Array.from({ length: count }, () => 99) });
  expect(plan && certainlyFits(plan, items(1_000))).toBe(true);
  expect(plan && certainlyFits(plan, items(3_000))).toBe(false);
  expect(await createValidators({ warn() {} }).ready(schema)?.(items(3_000))).toEqual([]);
});

test("a value that does not fit gets the compiler's errors, one that fits needs no promise", async () => {
  const validators = createValidators({ warn() {} });
  const text = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const validate = validators.ready(text);
  expect(validate?.({ a: "b" })).toEqual([]);
  expect(await validate?.({ a: 1 })).toEqual([{ path: "/a", message: "must be string" }]);
  expect(await validate?.({})).toEqual([{ path: "/a", message: "is required" }]);
  const pattern = { type: "object", patternProperties: { "^a": { type: "string" } } };
  expect(validators.ready(pattern)).toBeUndefined();
  await validators.load(pattern);
  expect(await validators.ready(pattern)?.({ ab: 1 })).toEqual([
    { path: "/ab", message: "must be string" },
  ]);
});
