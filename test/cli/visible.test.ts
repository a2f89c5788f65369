import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { showContent, toolError } from "../../src/cli/commands/call.ts";
import { explainToPerson } from "../../src/cli/exit.ts";

/** Untrusted text reaches a terminal as text only. */
const tricks = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202etxt";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const commands = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

test("a failure that quotes untrusted text moves no cursor and sets no colours", () => {
  const failures = [
    new HallError("EXECUTION", tricks, { hint: tricks }),
    new Error(tricks),
    toolError({
      isError: true,
      content: [],
      _meta: { "guildhall/error": { error_type: "denied", message: tricks, suggestion: tricks } },
    }),
  ];
  for (const failure of failures) expect(explainToPerson(failure)).not.toMatch(commands);
});

test("nor does content of an unknown type", async () => {
  expect(
    await showContent({ type: tricks, text: tricks, nested: { [tricks]: tricks } }, "x"),
  ).not.toMatch(commands);
});

test("the advice of a failed call is printed once, as commands", () => {
  const failed = toolError({
    isError: true,
    _meta: {
      "guildhall/error": {
        error_type: "unavailable",
        message: "the variable KEY is not set",
        suggestion: "The user can run `guildhall secret set KEY`.",
        next: [{ do: "run-command", command: "secret set KEY" }],
      },
    },
  });
  expect(explainToPerson(failed)).toBe(
    "guildhall: the variable KEY is not set\n  Run: guildhall secret set KEY",
  );
});
