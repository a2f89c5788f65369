import { isObject, type JsonObject } from "../base/json.ts";
import type { Path } from "./error.ts";
import table from "./outline.json" with { type: "json" };

/** The schema as JSON Schema: to check a config, to explain its errors, and to map variables to fields. */
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
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly pattern?: string;
  readonly propertyNames?: Outline;
}

/** Generated from `schema.ts`, without its descriptions. */
export const outline: Outline = table as Outline;

/** The intended kind of an entry of mcpServers, as an index into the schema's union. */
export function kindIndexOf(entry: unknown): 0 | 1 | 2 {
  if (!isObject(entry) || entry.type === "stdio") return 0;
  if ("openapi" in entry || entry.type === "openapi") return 2;
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
