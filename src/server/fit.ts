import { isObject, type JsonObject } from "../base/json.ts";
import type { Outcome } from "../tool.ts";
import { isModernVersion, type Version } from "./client-request.ts";
import type { ShownTool } from "./faces.ts";

/** Replaces content that a client's version does not know with text. */
export function fitOutcome(outcome: Outcome, version: Version): Outcome {
  const content = fitContent(outcome.content, version);
  const { structuredContent, ...rest } = outcome;
  if (structuredContent === undefined || isObject(structuredContent) || isModernVersion(version)) {
    return content === outcome.content ? outcome : { ...outcome, content };
  }
  const hasText = content.some(({ type }) => type === "text");
  return {
    ...rest,
    content: hasText
      ? content
      : [...content, { type: "text", text: JSON.stringify(structuredContent) }],
  };
}

/**
 * Before 2026 tool schemas, and those of their properties, must be objects, and a client may reject
 * the whole list over one that is not. Returns the tool itself if it already fits, which avoids
 * copying thousands of tools.
 */
export function fitTool(tool: ShownTool, version: Version): ShownTool {
  if (isModernVersion(version)) return tool;
  const { inputSchema, outputSchema } = tool;
  const fittedInput = fitSchema(inputSchema);
  const fittedOutput =
    isObject(outputSchema) && outputSchema.type === "object" ? fitSchema(outputSchema) : undefined;
  if (fittedInput === inputSchema && fittedOutput === outputSchema) return tool;
  const { outputSchema: _unfit, ...rest } = tool;
  return {
    ...rest,
    inputSchema: fittedInput,
    ...(fittedOutput === undefined ? {} : { outputSchema: fittedOutput }),
  };
}

function fitSchema(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema.properties)) return schema;
  if (!Object.values(schema.properties).some((property) => typeof property === "boolean"))
    return schema;
  const fitted = Object.entries(schema.properties).map(([name, property]) => [
    name,
    typeof property === "boolean" ? schemaOfBoolean(property) : property,
  ]);
  return { ...schema, properties: Object.fromEntries(fitted) };
}

function schemaOfBoolean(allowed: boolean): JsonObject {
  return allowed ? {} : { not: {} };
}

export function fitPrompt(result: JsonObject, version: Version): JsonObject {
  const unknown = unknownKinds[version];
  if (!unknown || !Array.isArray(result.messages)) return result;
  const messages = result.messages.map((message) =>
    isObject(message) && isObject(message.content)
      ? { ...message, content: fitContent([message.content], version)[0] }
      : message,
  );
  return { ...result, messages };
}

const unknownKinds: Partial<Record<Version, ReadonlySet<unknown>>> = {
  "2024-11-05": new Set(["audio", "resource_link"]),
  "2025-03-26": new Set(["resource_link"]),
};

function fitContent(content: readonly JsonObject[], version: Version): readonly JsonObject[] {
  const unknown = unknownKinds[version];
  if (!unknown || !content.some(({ type }) => unknown.has(type))) return content;
  return content.map((item) =>
    unknown.has(item.type) ? { type: "text", text: describe(item) } : item,
  );
}

function describe(item: JsonObject): string {
  return item.type === "audio"
    ? `[audio, ${item.mimeType}: this client cannot play it]`
    : `[resource] ${item.uri}`;
}
