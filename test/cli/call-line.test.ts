import { expect, test } from "vitest";
import { callLine, quoteWord } from "../../src/cli/advice.ts";
import { parseArguments } from "../../src/cli/commands/call.ts";

test("a prepared call is written as it is typed", () => {
  expect(callLine("files.list_directory", { path: "docs" })).toBe(
    "guildhall call files.list_directory path=docs",
  );
  expect(callLine("files.list_directory", { path: "my docs", depth: 2 })).toBe(
    "guildhall call files.list_directory 'path=my docs' depth=2",
  );
});

test("arguments that key=value cannot express become one JSON object, and read back the same", () => {
  for (const args of [{ filter: { since: "it's" } }, { code: "17" }]) {
    const line = callLine("files.list_directory", args);
    const word = line
      .slice("guildhall call files.list_directory '".length, -1)
      .replaceAll(String.raw`'\''`, "'");
    expect(parseArguments([word], {})).toEqual(args);
  }
});

test("one word for a shell", () => {
  expect(quoteWord("a.b=c")).toBe("a.b=c");
  expect(quoteWord("it's $HOME")).toBe(String.raw`'it'\''s $HOME'`);
});
