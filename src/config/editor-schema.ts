import { toJSONSchema } from "zod/mini";
import type { Outline } from "./outline.ts";
import { configSchema } from "./schema.ts";
import { foreignKeys } from "./servers.ts";

/** The schema as JSON Schema, with the description of every field. */
export function createOutline(): Outline {
  return toJSONSchema(configSchema, { io: "input", target: "draft-7" }) as Outline;
}

/**
 * The JSON Schema for editors. Other clients' keys are declared as deprecated, so that a pasted
 * entry is not an error.
 */
export function createEditorSchema(): Outline {
  const outline = createOutline();
  const { mcpServers } = outline.properties ?? {};
  const entry = mcpServers?.additionalProperties;
  if (!mcpServers || !entry) throw new Error("the schema has no mcpServers map");
  const kinds =
    entry.anyOf?.map((kind) => ({
      ...kind,
      properties: { ...kind.properties, ...foreignProperties() },
    })) ?? [];
  const servers: Outline = { ...mcpServers, additionalProperties: { ...entry, anyOf: kinds } };
  return { ...outline, properties: { ...outline.properties, mcpServers: servers } };
}

function foreignProperties(): Record<string, Outline> {
  return Object.fromEntries(
    Object.entries(foreignKeys).map(([key, advice]) => [
      key,
      { description: `Ignored: a setting of another client; ${advice}.`, deprecated: true },
    ]),
  );
}
