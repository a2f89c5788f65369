import fc from "fast-check";
import { expect, test } from "vitest";
import { diffLines, mergeTexts } from "../../src/base/diff.ts";

const text = fc
  .array(fc.constantFrom("a", "b", "c", "", "d d"), { maxLength: 12 })
  .map((lines) => lines.join("\n"));

test("a change on one side is taken, on either side", () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      expect(mergeTexts(base, changed, base)).toEqual({ text: changed, conflicts: [] });
      expect(mergeTexts(base, base, changed)).toEqual({ text: changed, conflicts: [] });
      expect(mergeTexts(base, changed, changed)).toEqual({ text: changed, conflicts: [] });
    }),
  );
});

test("changes in different places are merged; in the same place they are a conflict, and mine is kept", () => {
  const base = "one\ntwo\nthree\nfour\nfive";
  expect(
    mergeTexts(base, "ONE\ntwo\nthree\nfour\nfive", "one\ntwo\nthree\nfour\nfive\nsix"),
  ).toEqual({
    text: "ONE\ntwo\nthree\nfour\nfive\nsix",
    conflicts: [],
  });
  expect(mergeTexts(base, "one\ntwo\nmine\nfour\nfive", "one\ntwo\ntheirs\nfour")).toEqual({
    text: "one\ntwo\nmine\nfour",
    conflicts: [{ line: 3, mine: "mine", theirs: "theirs" }],
  });
  expect(
    mergeTexts(base, "one\nthree\nfour\nfive", "one\nTWO\nthree\nfour\nfive").conflicts,
  ).toEqual([{ line: 2, mine: "", theirs: "TWO" }]);
});

test("no merge loses a line that a person added", () => {
  fc.assert(
    fc.property(text, text, fc.nat({ max: 12 }), (base, theirs, at) => {
      const lines = base.split("\n");
      lines.splice(Math.min(at, lines.length), 0, "a person's line");
      expect(mergeTexts(base, lines.join("\n"), theirs).text.split("\n")).toContain(
        "a person's line",
      );
    }),
  );
});

test("a diff has every line of both texts, in order", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = diffLines(before.split("\n"), after.split("\n"));
      const without = (sign: string): string =>
        diff
          .filter((line) => line.sign !== sign)
          .map(({ line }) => line)
          .join("\n");
      expect(without("+")).toBe(before);
      expect(without("-")).toBe(after);
    }),
  );
});

test("texts too long for a table are replaced in the middle", () => {
  const many = (prefix: string): string[] =>
    Array.from({ length: 3_000 }, (_, at) => `${prefix}${at}`);
  const diff = diffLines(["same", ...many("a")], ["same", ...many("b")]);
  expect(diff.slice(0, 2)).toEqual([
    { sign: " ", line: "same" },
    { sign: "-", line: "a0" },
  ]);
  expect(diff).toHaveLength(6_001);
});
