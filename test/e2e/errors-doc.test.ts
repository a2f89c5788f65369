import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorTable } from "../../src/base/errors.ts";

const doc = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const columns = [
  "code",
  "name",
  "≤ 2025-06-18",
  "2025-11-25, 2026-07-28",
  "other methods",
  "registry",
  "exit",
  "retry",
];

test("docs/errors.md lists exactly the errors of the table, in its order, with the same numbers", () => {
  const written = Object.entries(errorTable).map(
    ([code, { name, old, current, request, registry, exit, retry }]) =>
      [code, name ?? "–", old, current, request, registry, exit, retry].map(String),
  );
  const [header, rule, ...rows] = tableRows(doc, columns[0] as string);
  expect(header).toEqual(columns);
  expect(rule?.every((cell) => /^-+$/.test(cell))).toBe(true);
  expect(rows).toEqual(written);
});

test("docs/errors.md has the advice for each error, in the words the caller gets", () => {
  const [header, , ...rows] = tableRows(doc, "error_type");
  expect(header).toEqual(["error_type", "suggestion"]);
  expect(rows).toEqual(
    Object.entries(errorTable).map(([code, { hint }]) => [code.toLowerCase(), hint]),
  );
});

/** The cells of the table whose first column has this title; backticks around a whole cell are left out. */
function tableRows(markdown: string, firstColumn: string): string[][] {
  const lines = markdown.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${firstColumn} |`));
  expect(start, `docs/errors.md has a table that begins with "${firstColumn}"`).toBeGreaterThan(-1);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start, end === -1 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim().replace(/^`([^`]*)`$/, "$1")),
  );
}
