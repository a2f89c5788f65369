import { expect, test } from "vitest";
import { fitTool } from "../../src/server/fit.ts";

const schema = { type: "object", properties: { text: { type: "string" } } };

test("a tool that every version can read is passed on as it is, not as a copy", () => {
  const tools = [
    { name: "a.one", inputSchema: schema },
    { name: "a.two", inputSchema: schema, outputSchema: schema },
  ];
  for (const tool of tools)
    for (const version of ["2024-11-05", "2025-11-25", "2026-07-28"] as const)
      expect(fitTool(tool, version)).toBe(tool);
});

test("before 2026 a property is a schema of its own, and an output that is no object is not promised", () => {
  const tool = {
    name: "a.any",
    inputSchema: { type: "object", properties: { any: true, none: false } },
    outputSchema: { type: "array" },
  };
  expect(fitTool(tool, "2025-11-25")).toEqual({
    name: "a.any",
    inputSchema: { type: "object", properties: { any: {}, none: { not: {} } } },
  });
  expect(fitTool(tool, "2026-07-28")).toBe(tool);
  const output = {
    ...tool,
    inputSchema: schema,
    outputSchema: { type: "object", properties: { any: true } },
  };
  expect(fitTool(output, "2025-11-25")).toEqual({
    ...output,
    outputSchema: { type: "object", properties: { any: {} } },
  });
});
