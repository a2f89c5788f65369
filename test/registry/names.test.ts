import { expect, test } from "vitest";
import { createNameIndex, type NameIndex } from "../../src/registry/names.ts";
import type { Target, Toolkit } from "../../src/tool.ts";

test("a full name may be written with two underscores for its first dot, wherever else it has underscores or dots", () => {
  const fullNames = ["notes.search", "my__notes.search.all", "a_.b", "a._c"];
  const names = indexOf(fullNames);
  for (const fullName of fullNames)
    expect(names.find(fullName.replace(".", "__"))?.fullName).toBe(fullName);
  expect(names.find("my__notes__search__all")).toBeUndefined();
  expect(names.find("notes_search")).toBeUndefined();
});

test("a name that two tools may be written as names neither, and both are told", () => {
  const names = indexOf(["a.b__c", "a__b.c"]);
  expect(names.find("a__b__c")).toBeUndefined();
  expect(() => names.get("a__b__c")).toThrow(
    /ambiguous tool "a__b__c" \(2 tools: a\.b__c, a__b\.c\)/,
  );
});

test("a tool's bare name counts beside names with underscores, and once where both are its own", () => {
  const own = { ...target("x.x__y"), tool: { name: "x__x__y", inputSchema: { type: "object" } } };
  const names = createNameIndex();
  names.add([own]);
  expect(names.find("x__x__y")).toBe(own);
  const other = {
    ...target("other.tool"),
    tool: { name: "x__x__y", inputSchema: { type: "object" } },
  };
  names.add([other]);
  expect(names.find("x__x__y")).toBeUndefined();
  names.remove([other]);
  expect(names.find("x__x__y")).toBe(own);
  names.remove([own]);
  expect(names.find("x__x__y")).toBeUndefined();
});

function indexOf(fullNames: readonly string[]): NameIndex {
  const names = createNameIndex();
  names.add(fullNames.map(target));
  return names;
}

function target(fullName: string): Target {
  return {
    toolkit: {} as Toolkit,
    tool: { name: fullName.slice(fullName.indexOf(".") + 1), inputSchema: { type: "object" } },
    fullName,
  };
}
