import { toJSONSchema } from "zod/mini";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Path } from "./error.ts";
import { configSchema } from "./schema.ts";
import { foreignKeys } from "./servers.ts";

/** The schema as JSON Schema: for editors, for error messages, and to map variables to fields. */
export interface Outline {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly deprecated?: boolean;
  readonly properties?: Readonly<Record<string, Outline>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Outline | false;
  readonly items?: Outline;
  readonly anyOf?: readonly Outline[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

export function createOutline(): Outline {
  return toJSONSchema(configSchema, { io: "input", target: "draft-7" }) as Outline;
}

/** The intended kind of an entry of mcpServers, as an index into the schema's union. */
export function kindIndexOf(entry: unknown): 0 | 1 {
  if (!isObject(entry) || entry.type === "stdio") return 0;
  const isRemoteType = typeof entry.type === "string" && entry.command === undefined;
  return "url" in entry || isRemoteType ? 1 : 0;
}

/** The JSON Schema of one field. The value in the tree selects the branch of a union. */
export function outlineAt(root: Outline, path: Path, tree: unknown): Outline | undefined {
  let node: Outline | undefined = root;
  let value = tree;
  for (const key of path) {
    const parent: Outline | undefined = node && unwrap(node, value);
    node = typeof key === "number" ? parent?.items : childOf(parent, String(key));
    value =
      isObject(value) || Array.isArray(value) ? (value as JsonObject)[String(key)] : undefined;
  }
  return node && unwrap(node, value);
}

function childOf(node: Outline | undefined, key: string): Outline | undefined {
  if (node?.properties && Object.hasOwn(node.properties, key)) return node.properties[key];
  return node?.additionalProperties || undefined;
}

function unwrap(node: Outline, value: unknown): Outline {
  return node.anyOf?.[kindIndexOf(value)] ?? node;
}

/** The JSON Schema for editors. Other clients' keys are declared as deprecated, so that a pasted entry is not an error. */
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
