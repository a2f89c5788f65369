import { expect, test } from "vitest";
import { diffServers } from "../../src/config/configured-servers.ts";
import { configSchema } from "../../src/config/schema.ts";

const servers = (
  mcpServers: Record<string, { command: string; args?: string[]; disabled?: boolean }>,
) => configSchema.parse({ mcpServers }).mcpServers;

test("names only the servers that came, went or became others", () => {
  const before = servers({
    same: { command: "a", args: ["1"] },
    gone: { command: "b" },
    other: { command: "c" },
    deeper: { command: "d", args: ["1"] },
  });
  const after = servers({
    deeper: { command: "d", args: ["2"] },
    new: { command: "e" },
    other: { command: "c", disabled: true },
    same: { args: ["1"], command: "a" },
  });
  expect(diffServers(before, after)).toEqual({
    added: ["new"],
    removed: ["gone"],
    changed: ["deeper", "other"],
  });
});

test("is empty for equal maps, and does not mistake inherited names for servers", () => {
  const map = servers({ a: { command: "a" } });
  expect(diffServers(map, servers({ a: { command: "a" } }))).toEqual({
    added: [],
    removed: [],
    changed: [],
  });
  expect(
    diffServers(map, servers({ a: { command: "a" }, constructor: { command: "b" } })).added,
  ).toEqual(["constructor"]);
});
