import stringWidth from "string-width";
import { expect, test } from "vitest";
import { progressLine } from "../../src/tui/parts/run.ts";
import { cut, loadWidths, pad, widthOf, wrap } from "../../src/tui/parts/text.ts";
import { markdownLines } from "../../src/tui/screens/feature.ts";

/** Until the tables are loaded, a character that would be measured counts as wide. */
const unmeasured = Array.from({ length: 0x3000 }, (_value, code) =>
  String.fromCharCode(code),
).filter((one) => widthOf(one) === 1);
await loadWidths();

const textOf = (markdown: string, columns = 40): readonly string[] =>
  markdownLines(markdown, columns).map((line) => line.map(({ text }) => text).join(""));

test("no line of a document is wider than the terminal", () => {
  const nasty = [
    `# ${"写真".repeat(40)}`,
    `- ${"x".repeat(200)}`,
    `| ${"a ".repeat(60)} | b |`,
    "|---|---|",
    "| 1 | 2 |",
    "```",
    "y".repeat(99),
    "```",
    "> 👩‍👩‍👧".repeat(30),
  ].join("\n");
  for (const columns of [20, 37, 80])
    for (const line of textOf(nasty, columns))
      expect(widthOf(line), line).toBeLessThanOrEqual(columns);
});

test("terminal escapes in a document are removed", () => {
  expect(textOf("**bold\u001b]52;c;cm0=\u0007** \u001b[31mred \u202eevil").join("")).toBe(
    "**bold** red �evil",
  );
});

test("headings, code, check boxes and open questions have a style, and long items a hanging indent", () => {
  const rolesOf = (markdown: string) =>
    markdownLines(markdown, 20).map((line) => line.map(({ text, role = "plain" }) => [text, role]));
  expect(rolesOf("# Tasks\n### Phase")).toEqual([
    [["# Tasks", "title"]],
    [["### Phase", "strong"]],
  ]);
  expect(rolesOf("- [x] T001 write the model")).toEqual([
    [
      ["- [x] ", "good"],
      ["T001 write the", "plain"],
    ],
    [
      ["      ", "good"],
      ["model", "plain"],
    ],
  ]);
  expect(rolesOf("[NEEDS CLARIFICATION: a?]").flat()).toEqual([
    ["[NEEDS", "warning"],
    ["CLARIFICATION: a?]", "warning"],
  ]);
  // An unclosed fence extends to the end.
  expect(rolesOf("```\n# no heading")).toEqual([[["```", "code"]], [["# no heading", "code"]]]);
});

test("texts are cut, padded and wrapped by their width on the terminal", () => {
  expect([cut("写真集", 4), widthOf(cut("写真集", 4)), pad("写", 4), pad("9", 3, "left")]).toEqual([
    "写…",
    3,
    "写  ",
    "  9",
  ]);
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrap("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  expect(wrap("", 4)).toEqual([""]);
});

test("characters that are not measured are one column wide", () => {
  expect(unmeasured.length).toBeGreaterThan(500);
  expect(unmeasured.filter((one) => stringWidth(one) !== 1)).toEqual([]);
});

test("progress is a bar with a total and a number without", () => {
  const textOfLine = (line: readonly { readonly text: string }[]): string =>
    line.map(({ text }) => text).join("");
  expect(textOfLine(progressLine({ progress: 1, total: 4, message: "halfway" }, 24))).toBe(
    "██░░░░░░  25 %  1/4  halfway",
  );
  expect(textOfLine(progressLine({ progress: 9, total: 4 }, 24))).toBe("████████ 100 %  9/4  ");
  expect(textOfLine(progressLine({ progress: 7, message: "files" }, 24))).toBe("files · 7");
});
