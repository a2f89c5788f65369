import { toJSONSchema } from "zod/mini";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Path } from "./error.ts";
import { configSchema } from "./schema.ts";

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
  if (!isObject(entry)) return 0;
  if (entry.type === "stdio") return 0;
  return "url" in entry || isRemoteType(entry) ? 1 : 0;
}

/** The JSON Schema of one field. The value in the tree selects the branch of a union. */
export function outlineAt(root: Outline, path: Path, tree: unknown): Outline | undefined {
  let node: Outline | undefined = root;
  let value = tree;
  for (const key of path) {
    node = typeof key === "number" ? node?.items : childOf(node, String(key), value);
    value =
      isObject(value) || Array.isArray(value) ? (value as JsonObject)[String(key)] : undefined;
  }
  return node && unwrap(node, value);
}

function childOf(parent: Outline | undefined, key: string, value: unknown): Outline | undefined {
  const node = parent && unwrap(parent, value);
  if (node?.properties && Object.hasOwn(node.properties, key)) return node.properties[key];
  return node?.additionalProperties || undefined;
}

function unwrap(node: Outline, value: unknown): Outline {
  return node.anyOf?.[kindIndexOf(value)] ?? node;
}

function isRemoteType({ type, command }: JsonObject): boolean {
  return typeof type === "string" && command === undefined;
}
