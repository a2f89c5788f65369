import { expect, test } from "vitest";
import { signatureOf } from "../../src/toolkits/find/signature.ts";

test("a signature has the parameters in their author's order, with defaults", () => {
  const schema = {
    type: "object",
    properties: {
      limit: { type: "integer", default: 10 },
      path: { type: "string" },
      mode: { enum: ["r", "w"] },
      "odd name": { type: ["string", "null"] },
    },
    required: ["path"],
  };
  expect(signatureOf("files.read", schema)).toBe(
    'files.read(limit?: number = 10, path: string, mode?: "r" | "w", "odd name"?: string | null)',
  );
});

test.each([
  [{ type: "array", items: { type: "string" } }, "string[]"],
  [
    { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    "(string | number)[]",
  ],
  [{ type: "object", properties: { a: { type: "boolean" } }, required: ["a"] }, "{ a: boolean }"],
  [{ type: "object" }, "object"],
  [{ const: 5 }, "5"],
  [{ type: "string", format: "date" }, "string /* date */"],
  [{ $ref: "#/$defs/point" }, "{ x?: number }"],
  [{ $ref: "#/$defs/nowhere" }, "any"],
  [{ $ref: "https://example.com/schema" }, "any"],
  [true, "any"],
  [{ enum: [..."abcdefghijkl"] }, '"a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | …'],
])("%j is %s", (schema, type) => {
  const root = {
    type: "object",
    properties: { p: schema },
    required: ["p"],
    $defs: { point: { type: "object", properties: { x: { type: "number" } } } },
  };
  expect(signatureOf("t", root)).toBe(`t(p: ${type})`);
});

test("a schema that refers to itself, and one that is very long, end in …", () => {
  const loop = { type: "object", properties: { next: { $ref: "#" } } };
  expect(signatureOf("t", loop)).toContain("…");
  const dense = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [`f${at}`, { $ref: "#" }]),
    ),
  };
  expect(signatureOf("t", dense).length).toBeLessThan(700);
  const wide = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`field_${at}`, { type: "string" }]),
    ),
  };
  expect(signatureOf("t", wide).length).toBeLessThan(700);
});
