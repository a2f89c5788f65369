/** Short forms for the JSON Schemas of the built-in tools. */
import type { JsonObject } from "../base/json.ts";

/** Properties are required unless they are listed as optional. */
export function objectSchema(
  properties: Readonly<Record<string, JsonObject>>,
  optional: readonly string[] = [],
): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

export function listSchema(items: JsonObject): JsonObject {
  return { type: "array", items };
}

export function choiceSchema(choices: readonly string[]): JsonObject {
  return { type: "string", enum: choices };
}

export const textSchema = schemaOf("string");
export const numberSchema = schemaOf("number");
export const integerSchema = schemaOf("integer");
export const booleanSchema = schemaOf("boolean");

function schemaOf(type: string): (description?: string) => JsonObject {
  return (description) => (description === undefined ? { type } : { type, description });
}
