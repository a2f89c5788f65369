import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { withoutOldDraft } from "../../src/upstream/lists.ts";

const $schema = "http://json-schema.org/draft-07/schema#";

/** Schemas that say the same in draft-07 and in 2020-12. */
const same: Readonly<Record<string, JsonObject>> = {
  "an object": {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  },
  "a list of one kind": {
    type: "object",
    properties: { list: { type: "array", items: { type: "string" }, minItems: 1 } },
  },
  "fields with the names of keywords": {
    type: "object",
    properties: {
      dependencies: { type: "string" },
      $ref: { type: "string" },
      prefixItems: {},
      $id: {},
    },
  },
  "a reference alone, or with words beside it": {
    type: "object",
    properties: {
      a: { $ref: "#/definitions/a" },
      b: { $ref: "#/definitions/a", description: "also an a" },
    },
    definitions: { a: { type: "string" } },
  },
  "values that look like schemas": {
    type: "object",
    properties: {
      a: { const: { additionalItems: 1 } },
      b: { enum: [{ items: [] }] },
      c: { default: { $id: "x" } },
    },
  },
  "choices and conditions": JSON.parse(
    '{"type":"object","anyOf":[{"required":["a"]},true],"if":{"required":["a"]},"then":{"required":["b"]},"else":false}',
  ),
};

/** Schemas in which at least one keyword is read in another way. */
const different: Readonly<Record<string, JsonObject>> = {
  "a list by position": {
    type: "object",
    properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } },
  },
  "the rest of a list by position": {
    type: "object",
    properties: { pair: { additionalItems: false } },
  },
  dependencies: { type: "object", dependencies: { a: ["b"] } },
  "a constraint beside a reference": {
    type: "object",
    properties: { a: { $ref: "#/definitions/a", maxLength: 3 } },
    definitions: { a: {} },
  },
  "an id that moves references": {
    type: "object",
    properties: { a: { $id: "other.json", $ref: "#/definitions/a" } },
  },
  "a keyword that draft-07 does not know": {
    type: "object",
    properties: {},
    unevaluatedProperties: false,
  },
  "one of these inside a choice": {
    type: "object",
    oneOf: [{ properties: { a: { prefixItems: [{}] } } }],
  },
  "one of these inside a definition": { type: "object", definitions: { a: { dependencies: {} } } },
};

describe("the stamp of draft-07", () => {
  test.each(Object.entries(same))("goes from %s", (_name, schema) => {
    expect(withoutOldDraft({ $schema, ...schema })).toEqual(schema);
    expect(
      withoutOldDraft({ $schema: "https://json-schema.org/draft-07/schema", ...schema }),
    ).toEqual(schema);
  });

  test.each(Object.entries(different))("stays on %s", (_name, schema) => {
    expect(withoutOldDraft({ $schema, ...schema })).toEqual({ $schema, ...schema });
  });

  test("is the only one that goes", () => {
    for (const other of [
      "https://json-schema.org/draft/2020-12/schema",
      "http://json-schema.org/draft-04/schema#",
      "https://example.com/draft-07",
      7,
    ]) {
      expect(withoutOldDraft({ $schema: other, type: "object" })).toEqual({
        $schema: other,
        type: "object",
      });
    }
    const plain = { type: "object" };
    expect(withoutOldDraft(plain)).toBe(plain);
  });

  test("stays on a schema without end", () => {
    let deep: JsonObject = {};
    for (let n = 0; n < 1_000; n++) deep = { not: deep };
    expect(withoutOldDraft({ $schema, ...deep })).toHaveProperty("$schema");
  });
});
