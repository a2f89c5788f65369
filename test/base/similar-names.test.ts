import { expect, test } from "vitest";
import { findNear } from "../../src/base/text.ts";

const known = ["list", "show", "status", "github.create_issue", "extract_text"];

test("a slip is near, and so is a part of a name; a letter that is in every name is not", () => {
  expect(findNear("lst", known)).toEqual(["list"]);
  expect(findNear("Satus", known)[0]).toBe("status");
  expect(findNear("create_issue", known)).toEqual(["github.create_issue"]);
  expect(findNear("x", known)).toEqual([]);
  expect(findNear("zzzzzz", known)).toEqual([]);
});
