import fc from "fast-check";
import { expect, test } from "vitest";
import { isObject } from "../../src/base/json.ts";
import { compile } from "../../src/gateway/compiler.ts";
import { isPlainSchema } from "../../src/gateway/plain-schema.ts";
import * as document from "../servers/registry-document.ts";

/** Every schema that is accepted without compiling it does compile. */
test("every schema that is called plain compiles", () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double());
  const kinds = ["object", "array", "string", "number", "integer", "boolean", "null"];
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.boolean(),
      fc.dictionary(
        fc.constantFrom(
          "title",
          "description",
          "format",
          "default",
          "const",
          "enum",
          "required",
          "minimum",
          "minLength",
          "maxItems",
          "uniqueItems",
          "pattern",
          "$ref",
          "nullable",
          "id",
          "$id",
          "x-own",
          "if",
        ),
        fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
      ),
      fc.record(
        {
          type: fc.constantFrom(...kinds, "strnig"),
          properties: fc.dictionary(fc.string(), tie("schema"), { maxKeys: 3 }),
          items: tie("schema"),
          additionalProperties: tie("schema"),
          anyOf: fc.array(tie("schema"), { maxLength: 3 }),
          required: fc.array(fc.string(), { maxLength: 3 }),
          enum: fc.array(scalar, { maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  let plain = 0;
  fc.assert(
    fc.property(schema, (made) => {
      const value: unknown = JSON.parse(JSON.stringify(made));
      if (!isObject(value) || !isPlainSchema(value)) return;
      plain++;
      expect(() => compile(value, () => {})).not.toThrow();
    }),
    { numRuns: 2_000 },
  );
  // The property would hold if nothing were plain.
  expect(plain).toBeGreaterThan(20);
});

test("the schemas of ordinary tools are plain", () => {
  for (const { functions } of document.predefined)
    for (const parameters of Object.values(functions)) expect(isPlainSchema(parameters)).toBe(true);
});

test("every error of a value is named, but only the first of a huge one", async () => {
  const items = { type: "array", items: { type: "number" } };
  const validate = compile({ type: "object", properties: { items } }, () => {});
  const errorsOf = async (count: number): Promise<number> =>
    (await validate({ items: Array.from({ length: count }, () => "text") })).length;
  expect(await errorsOf(3)).toBe(3);
  expect(await errorsOf(3_000)).toBe(1);
});

test("the length of a text is its number of characters, not of UTF-16 units", async () => {
  const check = compile({ type: "string", minLength: 3, maxLength: 5 }, () => {});
  const [short, long] = [
    "must NOT have fewer than 3 characters",
    "must NOT have more than 5 characters",
  ];
  const lone = "\u{1F600}".slice(0, 1);
  for (const [text, problem] of [
    ["ab", short],
    ["abc", undefined],
    ["abcde", undefined],
    ["abcdef", long],
    ["\u{1F600}".repeat(2), short],
    ["\u{1F600}".repeat(3), undefined],
    ["\u{1F600}".repeat(5), undefined],
    ["\u{1F600}".repeat(6), long],
    [`${lone}\u{1F600}a`, undefined],
    [lone.repeat(2), short],
    [lone.repeat(6), long],
  ] as const)
    expect(await check(text), text).toEqual(problem ? [{ path: "", message: problem }] : []);
});
