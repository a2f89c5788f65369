import { createOutline, type Outline } from "./outline.ts";
import { foreignKeys } from "./schema.ts";

/** The JSON Schema editors get: the schema's own, plus what other clients write into an entry, so that a pasted one is not underlined. */
export function createEditorSchema(): Outline {
  const outline = createOutline();
  const { mcpServers } = outline.properties ?? {};
  const entry = mcpServers?.additionalProperties;
  if (!mcpServers || !entry) throw new Error("the schema has no map of servers");
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
      { description: `Ignored, as it is another client's; ${advice}.`, deprecated: true },
    ]),
  );
}
