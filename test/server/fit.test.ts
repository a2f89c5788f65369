import { expect, test } from "vitest";
import { fitTool } from "../../src/server/lists.ts";

test("before 2026 a property is a schema of its own, and an output that is no object is wrapped in one", () => {
  const tool = {
    name: "a.any",
    inputSchema: { type: "object", properties: { any: true, none: false } },
    outputSchema: { type: "array" },
  };
  expect(fitTool(tool)).toEqual({
    name: "a.any",
    inputSchema: { type: "object", properties: { any: {}, none: { not: {} } } },
    outputSchema: {
      type: "object",
      properties: { result: { type: "array" } },
      required: ["result"],
    },
  });
  const output = {
    ...tool,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    outputSchema: { type: "object", properties: { any: true } },
  };
  expect(fitTool(output)).toEqual({
    ...output,
    outputSchema: { type: "object", properties: { any: {} } },
  });
});
