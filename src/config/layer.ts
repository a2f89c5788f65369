import { isObject, type JsonObject } from "../base/json.ts";
import type { Path } from "./error.ts";
import type { ConfigFile } from "./files.ts";

export interface ParsedFile {
  readonly tree: JsonObject;
  /** Location of a field: "file:line:column" or a variable's name. For a missing field, the location of its parent. */
  locate(path: Path): string;
}

/** One source of config: a file, or the environment and the flags (override). Later layers win. */
export interface Layer extends ParsedFile {
  readonly source: "user" | "project" | "override";
}

/** Loads the parser for this file type. Throws ConfigError. */
export async function parseConfigFile(file: ConfigFile): Promise<ParsedFile> {
  if (file.file.endsWith(".toml")) return (await import("./toml.ts")).parseTomlFile(file);
  return (await import("./json.ts")).parseJsonFile(file);
}

/**
 * Objects are merged, everything else is replaced. A server replaces a server of the same name from
 * another file as a whole: merged, a project's `url` would receive the headers a user wrote for
 * another host. The same applies to sections that hold an API key.
 */
export function mergeLayers(layers: readonly Layer[]): JsonObject {
  return layers.reduce<JsonObject>((below, { tree, source }) => {
    const merged = mergeTrees(below, tree);
    if (source === "override") return merged;
    const whole = Object.fromEntries(
      sectionsWithApiKeys.flatMap((name) => (isObject(tree[name]) ? [[name, tree[name]]] : [])),
    );
    if (!isObject(tree.mcpServers) || !isObject(below.mcpServers)) return { ...merged, ...whole };
    return {
      ...merged,
      ...whole,
      mcpServers: entriesOf(below.mcpServers, tree.mcpServers, (_, above) => above),
    };
  }, {});
}

const sectionsWithApiKeys = ["images", "planner", "mcp"];

export function mergeTrees(below: JsonObject, above: JsonObject): JsonObject {
  return entriesOf(below, above, (left, right) =>
    isObject(left) && isObject(right) ? mergeTrees(left, right) : right,
  );
}

/** Location of a field of the merged tree: in the last layer that has it or its nearest parent. */
export function locateField(layers: readonly Layer[], path: Path): string {
  for (let length = path.length; length >= 0; length--) {
    const part = path.slice(0, length);
    const layer = layers.findLast(({ tree }) => hasField(tree, part));
    if (layer) return layer.locate(part);
  }
  return "config";
}

export function fieldAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (hasOwn(value, key) ? value[key] : undefined), tree);
}

function hasField(tree: unknown, path: Path): boolean {
  const last = path.at(-1);
  return last === undefined || hasOwn(fieldAt(tree, path.slice(0, -1)), last);
}

function hasOwn(value: unknown, key: PropertyKey): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

/** Built with fromEntries: assigning a key named `__proto__` would change the prototype. */
function entriesOf(
  below: JsonObject,
  above: JsonObject,
  join: (left: unknown, right: unknown) => unknown,
): JsonObject {
  const merged = new Map(Object.entries(below));
  for (const [key, value] of Object.entries(above)) {
    if (value !== undefined)
      merged.set(key, merged.has(key) ? join(merged.get(key), value) : value);
  }
  return Object.fromEntries(merged);
}
