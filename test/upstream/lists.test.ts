import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { ServerConnection } from "../../src/client/connection.ts";
import { readList } from "../../src/upstream/lists.ts";

test("a list of large pages that does not end is read as far as it may fill the memory", async () => {
  const description = "x".repeat(4 * 1024 * 1024);
  const warnings: string[] = [];
  let pages = 0;
  const line = {
    async request(): Promise<JsonObject> {
      pages++;
      return {
        tools: [{ name: `t${pages}`, description, inputSchema: { type: "object" } }],
        ...(pages < 50 ? { nextCursor: String(pages) } : {}),
      };
    },
  } as unknown as ServerConnection;
  const tools = await readList(line, "tools", {
    scope: new Scope(),
    warn: (message) => void warnings.push(message),
  });
  expect(tools).toHaveLength(9);
  expect(warnings).toEqual(["tools/list has too many pages; using the first 9 items"]);
});

test("of a tool that is listed twice the first is used, and the other tools are unaffected", async () => {
  const warnings: string[] = [];
  const tool = (name: string, description: string) => ({
    name,
    description,
    inputSchema: { type: "object" },
  });
  const line = {
    request: async () => ({
      tools: [tool("search", "first"), tool("fetch", "only"), tool("search", "second")],
    }),
  } as unknown as ServerConnection;
  const tools = await readList(line, "tools", {
    scope: new Scope(),
    warn: (message) => void warnings.push(message),
  });
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ["search", "first"],
    ["fetch", "only"],
  ]);
  expect(warnings).toEqual([expect.stringContaining("skipped a repeated definition")]);
});
