import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { table, wrapProse } from "../../src/cli/print.ts";

/** Tables and prose on a terminal of a given width. */
const { isTTY, columns } = process.stdout;
beforeEach(() => {
  vi.stubEnv("NO_COLOR", "1");
  setTerminal(40);
});
afterEach(() => {
  vi.unstubAllEnvs();
  Object.assign(process.stdout, { isTTY, columns });
});

function setTerminal(width: number | undefined): void {
  Object.assign(process.stdout, { isTTY: width !== undefined, columns: width });
}

const head = ["server", "protocol", "tools", "last error"];
const rows = [
  ["files", "2025-11-25", "12", "exited with code 1 after it could not find its folder"],
  ["memory", "2025-11-25", "3", ""],
];

test("the widest column shrinks, and the first one last", () => {
  expect(table(head, rows)).toBe(
    [
      "server  protocol    tools  last error",
      "files   2025-11-25  12     exited with …",
      "memory  2025-11-25  3",
    ].join("\n"),
  );
  expect(table(["tool", "description"], [["a".repeat(30), "b".repeat(50)]])).toBe(
    `tool${" ".repeat(23)}  description\n${"a".repeat(26)}…  ${"b".repeat(10)}…`,
  );
});

test("extra columns are left out before text is cut short, which the head shows", () => {
  expect(table(head, rows, { extra: ["protocol", "tools"] })).toBe(
    [
      "server  last error                     …",
      "files   exited with code 1 after it …",
      "memory",
    ].join("\n"),
  );
});

test("a column that is empty in every row is left out", () => {
  setTerminal(undefined);
  expect(
    table(
      ["server", "note", "tools"],
      [
        ["files", "", "12"],
        ["memory", "", "3"],
      ],
    ),
  ).toBe("server  tools\nfiles   12\nmemory  3");
  expect(table(["server", "note"], [])).toBe("server  note");
});

test("no line is longer than the terminal, however narrow it is", () => {
  for (let width = 1; width <= 120; width++) {
    setTerminal(width);
    const lines = table(head, rows, { extra: ["protocol"] }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(Math.max(4, width));
  }
});

test("outside of a terminal nothing is cut or wrapped", () => {
  setTerminal(undefined);
  expect(table(head, rows, { extra: ["protocol"] })).toContain("could not find its folder");
  const long = "word ".repeat(50);
  expect(wrapProse(long)).toBe(long);
});

test("colours are applied to clean cells, and codes of others are shown", () => {
  vi.unstubAllEnvs();
  vi.stubEnv("FORCE_COLOR", "1");
  delete process.env.NO_COLOR;
  const cells = [{ text: "down", style: "red" as const }, "\u001b[31mforged"];
  expect(table(["state", "reason"], [cells]).split("\n")[1]).toBe(
    "\u001b[31mdown\u001b[39m   \\u{1b}[31mforged",
  );
});

test("prose is wrapped between words, with an indent; a long word stays whole", () => {
  expect(wrapProse("  the program is /usr/bin/node, and the rest follows here")).toBe(
    "  the program is /usr/bin/node, and the\n    rest follows here",
  );
  const address = `https://example.com/${"x".repeat(40)}`;
  expect(wrapProse(`see ${address}`)).toBe(`see\n  ${address}`);
  const red = "\u001b[31mone two three\u001b[39m four five six seven eight nine";
  expect(wrapProse(red)).toBe(
    "\u001b[31mone two three\u001b[39m four five six seven eight\n  nine",
  );
});
