import fc from "fast-check";
import { expect, test } from "vitest";
import { countDiffering, expectedCosine, signsOf, signsWidth } from "../../src/ranking/signs.ts";

test.each([1, 4, 100, 128, 160, 300])(
  "rows of %i dimensions differ in as many signs as a direct count gives",
  (dimensions) => {
    const row = fc.array(fc.integer({ min: -127, max: 127 }), {
      minLength: dimensions,
      maxLength: dimensions,
    });
    fc.assert(
      fc.property(row, row, (left, right) => {
        const signs = signsOf(Int8Array.from([...left, ...right]), dimensions);
        const width = signsWidth(dimensions);
        expect(countDiffering(signs, 0, signs, width, width)).toBe(
          left.filter((value, at) => value < 0 !== (right[at] as number) < 0).length,
        );
      }),
      { numRuns: 50 },
    );
  },
);

test("no sign differs in the same direction, half at a right angle, all in the opposite one", () => {
  expect([0, 0.5, 1].map(expectedCosine).map(Math.round)).toEqual([1, 0, -1]);
});
