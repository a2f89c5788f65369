import { isObject, type JsonObject } from "../base/json.ts";

const statesMax = 5_000;
const checksMax = 2_000;

/**
 * An upper bound on the checks that validation makes for one value, or undefined if there is none or it
 * is too high. A schema that applies itself twice to the same value doubles its checks with each level:
 * 60 levels never end.
 *
 * Schemas that apply to the same value form a group. From the group at the root we follow every property
 * and item to the groups below, until no new one is found; the most expensive group is the bound.
 */
export function findChecksPerValue(root: JsonObject): number | undefined {
  const ids = new Map<JsonObject, number>();
  const seen = new Set<string>();
  const open: (readonly JsonObject[])[] = [[root]];
  let most = 0;
  for (let group = open.pop(); group; group = open.pop()) {
    const key = group
      .map((schema) => idOf(ids, schema))
      .sort()
      .join();
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > statesMax) return undefined;

    const applied = expand(group, root);
    if (!applied) return undefined;
    most = Math.max(most, applied.checks);
    open.push(...groupsBelow(applied.schemas));
  }
  return most;
}

function idOf(ids: Map<JsonObject, number>, schema: JsonObject): number {
  const id = ids.get(schema) ?? ids.size;
  ids.set(schema, id);
  return id;
}

interface Applied {
  readonly schemas: readonly JsonObject[];
  readonly checks: number;
}

/** A group with everything that its schemas apply to the same value. */
function expand(group: readonly JsonObject[], root: JsonObject): Applied | undefined {
  const schemas = [...group];
  let checks = 0;
  // The list grows while it is read.
  for (const schema of schemas) {
    checks += checksOf(schema);
    if (checks > checksMax) return undefined;
    const referred = readReference(schema, root);
    if (referred === "unknown") return undefined;
    if (referred) schemas.push(referred);
    schemas.push(...sameValueKeys.flatMap((key) => schemasIn(schema[key])));
    for (const key of ["dependentSchemas", "dependencies"])
      if (isObject(schema[key])) schemas.push(...Object.values(schema[key]).flatMap(schemasIn));
  }
  return { schemas, checks };
}

const sameValueKeys = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const countedKeys = ["properties", "patternProperties", "required", "enum", "prefixItems"];

function checksOf(schema: JsonObject): number {
  const counts = countedKeys.map((key) => {
    const value = schema[key];
    return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
  });
  return counts.reduce((sum, count) => sum + count, 1);
}

/** References inside the schema are followed; any other kind makes the cost unknown. */
function readReference(schema: JsonObject, root: JsonObject): JsonObject | "unknown" | undefined {
  if ("$dynamicRef" in schema || "$recursiveRef" in schema) return "unknown";
  if (schema !== root && "$id" in schema) return "unknown";
  const { $ref } = schema;
  if ($ref === undefined) return undefined;
  if (typeof $ref !== "string" || !/^#(\/|$)/.test($ref)) return "unknown";

  let found: unknown = root;
  for (const part of $ref.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) || Array.isArray(found) ? Reflect.get(found, name) : undefined;
  }
  if (typeof found === "boolean") return undefined;
  return isObject(found) ? found : "unknown";
}

/** For each property and item, the schemas that may apply to it together. */
function groupsBelow(applied: readonly JsonObject[]): (readonly JsonObject[])[] {
  const below = (pick: (schema: JsonObject) => unknown[]): readonly JsonObject[] =>
    applied.flatMap((schema) => pick(schema).flatMap(schemasIn));
  const patterns = (schema: JsonObject) => valuesOf(schema.patternProperties);
  const others = ({ additionalProperties, unevaluatedProperties }: JsonObject) => [
    additionalProperties,
    unevaluatedProperties,
  ];
  const names = new Set(applied.flatMap(({ properties }) => keysOf(properties)));
  const positions = Math.max(...applied.map((schema) => listOf(schema).length));

  const groups = [
    below((schema) => [...patterns(schema), ...others(schema)]),
    below(({ propertyNames }) => [propertyNames]),
    below(({ items, additionalItems, contains, unevaluatedItems }) => [
      Array.isArray(items) ? additionalItems : items,
      contains,
      unevaluatedItems,
    ]),
    ...[...names].map((name) =>
      below((schema) => [
        ...(keysOf(schema.properties).includes(name)
          ? [(schema.properties as JsonObject)[name], schema.unevaluatedProperties]
          : others(schema)),
        ...patterns(schema),
      ]),
    ),
    ...Array.from({ length: positions }, (_, at) =>
      below((schema) => [
        listOf(schema)[at] ?? schema.items,
        schema.contains,
        schema.unevaluatedItems,
      ]),
    ),
  ];
  return groups.filter((group) => group.length > 0);
}

function listOf({ prefixItems, items }: JsonObject): readonly unknown[] {
  if (Array.isArray(prefixItems)) return prefixItems;
  return Array.isArray(items) ? items : [];
}

function keysOf(value: unknown): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}

function valuesOf(value: unknown): readonly unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

function schemasIn(value: unknown): readonly JsonObject[] {
  if (Array.isArray(value)) return value.filter(isObject);
  return isObject(value) ? [value] : [];
}
