import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { CallContext, Outcome, Tool, Toolkit } from "../tool.ts";

type Run = (args: JsonObject, context: CallContext) => Promise<Outcome>;

/** A toolkit of fixed tools, each with the function that runs it and, if it loads code, one that does so. */
export function createToolkit(
  { id, ...fields }: Pick<Toolkit, "id" | "category" | "description"> & Partial<Toolkit>,
  tools: readonly (readonly [Tool, Run, (() => Promise<unknown>)?])[],
): Toolkit {
  const loaded = new Set<unknown>();
  return {
    id,
    prepare({ name }) {
      const [, , load] = tools.find(([tool]) => tool.name === name) ?? [];
      return !load || loaded.has(load) ? undefined : load().then(() => void loaded.add(load));
    },
    list: async () => tools.map(([tool]) => tool),
    async call({ name }, args, context) {
      const [, run] = tools.find(([tool]) => tool.name === name) ?? [];
      if (!run) throw new HallError("NOT_FOUND", `${id} has no tool named "${name}"`);
      return run(args, context);
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
    ...fields,
  };
}

/** The project's config opens these folders, and nobody has approved that. */
export function foldersNotApproved(field: string): HallError {
  return new HallError("DENIED", `${field} in this project's config has not been approved`, {
    next: [{ do: "verify" }],
  });
}

/** An answer as text and as data. */
export function answer(text: string, structuredContent: JsonObject): Outcome {
  return { content: [{ type: "text", text }], structuredContent };
}

/** A required text argument, trimmed. Schemas are checked by the gateway; this also covers direct calls. */
export function readText(args: JsonObject, field: string): string {
  const value = args[field];
  if (typeof value !== "string") throw invalidField(field, `${field} must be a string`);
  return value.trim();
}

/** VALIDATION for one field, with similar accepted values if there are any. */
export function invalidField(
  field: string,
  problem: string,
  near: readonly string[] = [],
  more: JsonObject = {},
): HallError {
  const message = near.length > 0 ? `${problem} (near: ${near.join(", ")})` : problem;
  return new HallError("VALIDATION", message, {
    details: { errors: [{ path: `/${field}`, message }], near, ...more },
  });
}

// Short forms for the JSON Schemas of the built-in tools.

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
