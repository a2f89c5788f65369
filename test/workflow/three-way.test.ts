import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeTexts } from "../../src/base/three-way.ts";

const text = fc
  .array(fc.constantFrom("a", "b", "c", "", "d d"), { maxLength: 12 })
  .map((lines) => lines.join("\n"));

test("what only one side changed counts, on whichever side it was", () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      expect(mergeTexts(base, changed, base)).toEqual({ text: changed, conflicts: [] });
      expect(mergeTexts(base, base, changed)).toEqual({ text: changed, conflicts: [] });
      expect(mergeTexts(base, changed, changed)).toEqual({ text: changed, conflicts: [] });
    }),
  );
});

test("changes in different places are joined; in the same place they are a conflict, and mine stays", () => {
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
