import { isObject, type JsonObject } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import { ConfigError, type Path } from "./error.ts";
import { fieldAt, type Layer, mergeTrees } from "./layer.ts";
import { type Outline, outline } from "./outline.ts";

const prefix = "GUILDHALL__";

export function configVariables(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).filter((name) => name.startsWith(prefix));
}

/**
 * The layer of variables such as `GUILDHALL__LISTEN__PORT=9000`: each part is a key, in any case; names
 * of servers match those of the lower layers, otherwise they are used as written. Throws ConfigError
 * for an unknown field: a typo would have no effect otherwise.
 */
export function createVariablesLayer(env: NodeJS.ProcessEnv, below: JsonObject): Layer {
  const places = new Map<string, string>();
  const problems: string[] = [];
  let tree: JsonObject = {};
  for (const variable of configVariables(env)) {
    const field = findField(outline, variable.slice(prefix.length).split("__"), below);
    if (!field) {
      problems.push(`${variable}: unknown config field; ${advice(variable)}`);
      continue;
    }
    places.set(keyOf(field.path), variable);
    tree = mergeTrees(tree, nest(field.path, parseValue(env[variable] ?? "", field.outline)));
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { tree, source: "override", locate: (path) => nearest(places, path) };
}

interface Field {
  readonly path: Path;
  readonly outline: Outline;
}

function findField(outline: Outline, parts: readonly string[], below: unknown): Field | undefined {
  if (parts.length === 0) return { path: [], outline };
  for (const option of outline.anyOf ?? [outline]) {
    const field = findProperty(option, parts, below) ?? findEntry(option, parts, below);
    if (field) return field;
  }
  return undefined;
}

function findProperty(
  { properties = {} }: Outline,
  [part = "", ...rest]: readonly string[],
  below: unknown,
): Field | undefined {
  const key = findSame(part, Object.keys(properties));
  const inner = key === undefined ? undefined : properties[key];
  return key === undefined || !inner
    ? undefined
    : under(key, findField(inner, rest, fieldAt(below, [key])));
}

/** A map accepts any key, even with `__` in it: use the shortest one that leaves a valid field after it. */
function findEntry(
  { additionalProperties: inner }: Outline,
  parts: readonly string[],
  below: unknown,
): Field | undefined {
  if (!inner) return undefined;
  for (let length = 1; length <= parts.length; length++) {
    const written = parts.slice(0, length).join("__");
    const key = findSame(written, isObject(below) ? Object.keys(below) : []) ?? written;
    const field = under(key, findField(inner, parts.slice(length), fieldAt(below, [key])));
    if (field) return field;
  }
  return undefined;
}

function under(key: string, field: Field | undefined): Field | undefined {
  return field && { ...field, path: [key, ...field.path] };
}

function findSame(part: string, keys: readonly string[]): string | undefined {
  return (
    keys.find((key) => key === part) ?? keys.find((key) => key.toLowerCase() === part.toLowerCase())
  );
}

/** The value as JSON if that has the type of the field, otherwise the text itself. */
function parseValue(text: string, { type }: Outline): unknown {
  try {
    const value: unknown = JSON.parse(text);
    const kind = Array.isArray(value) ? "array" : typeof value;
    return kind === type ||
      (kind === "number" && type === "integer") ||
      (kind === "object" && type === undefined)
      ? value
      : text;
  } catch {
    return text; // Most text is not JSON.
  }
}

function nest(path: Path, value: unknown): JsonObject {
  return path.reduceRight<unknown>(
    (inner, key) => Object.fromEntries([[key, inner]]),
    value,
  ) as JsonObject;
}

function advice(variable: string): string {
  let { properties = {} } = outline;
  let start = prefix;
  for (const part of variable.slice(prefix.length).split("__")) {
    const key = findSame(part, Object.keys(properties));
    const [near] = key === undefined ? findNear(part, Object.keys(properties)) : [];
    if (near) return `did you mean ${start}${near.toUpperCase()}?`;
    if (key === undefined) break;
    start += `${key.toUpperCase()}__`;
    properties = properties[key]?.properties ?? {};
  }
  return `expected ${prefix}SECTION__KEY such as ${prefix}LISTEN__PORT; unset it`;
}

function nearest(places: ReadonlyMap<string, string>, path: Path): string {
  const start = keyOf(path);
  for (const [key, variable] of places)
    if (key.startsWith(start) || start.startsWith(key)) return variable;
  return "environment";
}

function keyOf(path: Path): string {
  return path.map((key) => `${String(key)}\n`).join("");
}
