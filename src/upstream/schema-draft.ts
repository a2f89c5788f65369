import { isObject, type JsonObject } from "../base/json.ts";

/**
 * Removes `$schema: draft-07` from an output schema that means the same in 2020-12. Many servers declare
 * it, and strict clients then refuse to call the tool. The declaration stays if a keyword would change its
 * meaning. Input schemas are not changed.
 */
export function withoutOldDraft(schema: JsonObject): JsonObject {
  const { $schema, ...rest } = schema;
  return typeof $schema === "string" && oldDraft.test($schema) && meansTheSame(rest, 0)
    ? rest
    : schema;
}

const oldDraft = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const depthMax = 64;

/** Keywords that exist in one draft only or differ between them. */
const changed = new Set([
  "additionalItems",
  "dependencies",
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$recursiveAnchor",
  "$recursiveRef",
  "dependentRequired",
  "dependentSchemas",
  "maxContains",
  "minContains",
  "prefixItems",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Allowed next to `$ref`: draft-07 ignores siblings, 2020-12 does not. */
const besideReference = new Set([
  "$ref",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "definitions",
  "$defs",
]);
// Keywords whose value contains schemas: one, a list, or an object of them.
const ofOne = [
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
];
const ofMany = ["allOf", "anyOf", "oneOf"];
const ofNamed = ["properties", "patternProperties", "definitions", "$defs"];

function meansTheSame(schema: unknown, depth: number): boolean {
  if (!isObject(schema)) return typeof schema === "boolean";
  const keys = Object.keys(schema);
  if (
    depth > depthMax ||
    keys.some((key) => changed.has(key)) ||
    "$id" in schema ||
    Array.isArray(schema.items)
  )
    return false;
  if ("$ref" in schema && !keys.every((key) => besideReference.has(key))) return false;
  return partsOf(schema).every((part) => meansTheSame(part, depth + 1));
}

function partsOf(schema: JsonObject): readonly unknown[] {
  return [
    ...ofOne.flatMap((key) => (key in schema ? [schema[key]] : [])),
    ...ofMany.flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : [])),
    ...ofNamed.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : [])),
  ];
}
