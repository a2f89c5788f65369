import { expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import {
  createNameIndex,
  fullNameOf,
  type NameIndex,
  safeNameOf,
} from "../../src/registry/names.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import type { Target, Toolkit } from "../../src/tool.ts";
import { startHall } from "../servers/hall.ts";
import { createToolkit } from "../servers/toolkits.ts";

test("a full name may be written with two underscores for its first dot, wherever else it has underscores or dots", () => {
  const fullNames = ["notes.search", "my__notes.search.all", "a_.b", "a._c"];
  const names = indexOf(fullNames);
  for (const fullName of fullNames)
    expect(names.find(fullName.replace(".", "__"))?.fullName).toBe(fullName);
  expect(names.find("my__notes__search__all")).toBeUndefined();
  expect(names.find("notes_search")).toBeUndefined();
});

test("an ambiguous short name calls neither tool, and the error lists both", () => {
  const names = indexOf(["a.b__c", "a__b.c"]);
  expect(names.find("a__b__c")).toBeUndefined();
  expect(() => names.get("a__b__c")).toThrow(
    /ambiguous tool "a__b__c" \(2 tools: a\.b__c, a__b\.c\)/,
  );
});

test("a bare name counts if it is the only one and does not read like a full name", () => {
  const names = indexOf(["x.list", "x.y__z", "x.y.z"]);
  expect(names.find("list")?.fullName).toBe("x.list");
  expect(names.find("y__z")).toBeUndefined();
  expect(names.find("y.z")).toBeUndefined();
  names.add([target("other.list")]);
  expect(names.find("list")).toBeUndefined();
});

test("a name that was called follows the toolkits that come and go", async () => {
  const list = { run: () => ({ content: [] }) };
  const registry = createRegistry({ log: createLog({ level: "silent" }) });
  await registry.add(createToolkit("x", { list }));
  const toolkitOf = (): string | undefined => registry.findTool("list")?.toolkit.id;
  expect([toolkitOf(), toolkitOf()]).toEqual(["x", "x"]);
  await registry.add(createToolkit("other", { list }));
  expect(toolkitOf()).toBeUndefined();
  await registry.remove("x");
  expect(toolkitOf()).toBe("other");
  const next = createToolkit("other", { list });
  await registry.replace(next);
  expect(registry.findTool("list")?.toolkit).toBe(next);
  await registry.remove("other");
  expect(toolkitOf()).toBeUndefined();
});

test("a name that is too long is cut with a hash, and is found in full as well", () => {
  const toolkit = { id: "github" };
  const long = `search_${"all_".repeat(20)}repositories`;
  const fullName = fullNameOf(toolkit, long);
  expect(fullName).toMatch(/^github\.search_(all_)+[a-z_]*_[0-9a-f]{6}$/);
  const names = indexOf([fullName, fullNameOf(toolkit, `${long}2`)]);
  for (const name of [`github.${long}`, `github__${long}`, fullName, safeNameOf(fullName)])
    expect(names.find(name)?.fullName).toBe(fullName);
});

test("every name is shown as model APIs accept it, and finds its tool again", () => {
  const fullNames = [
    "github.create_issue",
    "a.b.c",
    "a.b_c",
    "shop.búsqueda",
    "shop.日本",
    "shop.中国",
    "a.b__c",
    "a__b.c",
    fullNameOf({ id: "a".repeat(40) }, "é".repeat(80)),
  ];
  const names = indexOf(fullNames);
  const shown = fullNames.map((name) => names.shownName(names.get(name)));
  expect(shown.slice(0, 4)).toEqual([
    "github__create_issue",
    expect.stringMatching(/^a__b_c_[0-9a-f]{6}$/),
    "a__b_c",
    "shop__b_squeda",
  ]);
  for (const [at, name] of shown.entries()) {
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(names.find(name)?.fullName).toBe(fullNames[at]);
  }
  expect(new Set(shown).size).toBe(fullNames.length);
});

function indexOf(fullNames: readonly string[]): NameIndex<Target> {
  const names = createNameIndex<Target>({
    kind: "tool",
    bareOf: ({ tool }) => tool.name,
    hasPrefix: () => false,
  });
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

test("a tool of a server that has listed nothing is unavailable, and the next step is to look at the status", async () => {
  const down = createToolkit("github", {}, { problem: () => "it exited with code 1" });
  await using hall = await startHall({ toolkits: [down] });
  const client = hall.connect();
  await client.greet();
  expect(await client.result("tools/call", { name: "github.search" })).toMatchObject({
    isError: true,
    structuredContent: {
      error_type: "unavailable",
      message:
        "cannot call github.search: github has not listed its tools yet (it exited with code 1)",
      suggestion: "The user can run `guildhall status`.",
    },
  });
});
