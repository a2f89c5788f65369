import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashOf, isObject, writeSorted } from "../../src/base/json.ts";

describe("JSON with sorted keys", () => {
  test("is what sorting the keys of the value gives", () => {
    const key = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("10", "9", "__proto__"));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom(null, true, false, "", '"', "\\", '\\"', ",}]"),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.string({ unit: "binary" }),
        fc.array(tie("value")),
        fc.dictionary(key, tie("value")),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        expect(writeSorted(given)).toBe(writeSlowly(JSON.parse(JSON.stringify(given))));
      }),
      { numRuns: 500 },
    );
  });

  test("has the same hash for keys in any order, and another one for items in another order", () => {
    expect(hashOf({ b: [{ y: 1, x: 2 }], a: 3 })).toBe(hashOf({ a: 3, b: [{ x: 2, y: 1 }] }));
    expect(hashOf([1, 2])).not.toBe(hashOf([2, 1]));
  });

  test("leaves out what JSON leaves out", () => {
    expect(writeSorted({ b: undefined, a: [undefined] })).toBe('{"a":[null]}');
    expect(writeSorted(undefined)).toBe("");
  });
});

/** The definition: every object written with its keys in order. */
function writeSlowly(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSlowly).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${writeSlowly(value[key])}`);
  return `{${members.join(",")}}`;
}
