import { isObject, type JsonObject } from "../../base/json.ts";
import type { Target } from "../../tool.ts";
import { camelName } from "../programs/names.ts";

/**
 * A tool's call as one line of TypeScript, such as `files.read(path: string, head?: number)`: a
 * fifth of its schema's size, and what models read best. Parts that do not fit become `…`; the
 * schema says the rest.
 */
export function signatureOf(
  name: string,
  schema: JsonObject,
  charactersMax = signatureCharacters,
): string {
  const write = (sorted: JsonObject): string =>
    membersOf(sorted, { root: schema, depth: 0, parts: { left: partsMax } }).join(", ");
  const text = write(schema);
  // In the author's order, unless shortening would remove required parameters.
  return `${name}(${text.length <= charactersMax ? text : `${write(requiredFirst(schema)).slice(0, charactersMax)} …`})`;
}

/** As a program in JavaScript calls it: `tools.files.read({ path: string }): Promise<string>`. */
export function typescriptOf(
  { toolkit, tool }: Target,
  charactersMax = signatureCharacters,
): string {
  const place = { depth: 0, parts: { left: partsMax } };
  const { inputSchema, outputSchema } = tool;
  const members = membersOf(inputSchema, { ...place, root: inputSchema }).map((member) =>
    // A default is no type.
    member.replace(/ = (?:"[^"]*"|[\w.-]+)$/, ""),
  );
  const result = outputSchema ? typeOf(outputSchema, { ...place, root: outputSchema }) : "any";
  const given = members.length === 0 ? "" : `{ ${members.join(", ")} }`;
  const name = `tools.${camelName(toolkit.prefix ?? toolkit.id)}.${camelName(tool.name)}`;
  return `${name}(${given.slice(0, charactersMax)}): Promise<${result.slice(0, charactersMax)}>`;
}

const signatureCharacters = 600;
const depthMax = 3;
const choicesMax = 8;
/** A schema that refers to itself in many places must not cost more than one that does not. */
const partsMax = 300;

interface Place {
  /** Where `$ref` looks. */
  readonly root: JsonObject;
  readonly depth: number;
  /** How many types may still be written out. */
  readonly parts: { left: number };
}

function membersOf(schema: JsonObject, place: Place): string[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return properties.slice(0, partsMax).map(([name, property]) => {
    const fallback =
      isObject(property) && isPlain(property.default)
        ? ` = ${JSON.stringify(property.default)}`
        : "";
    return `${keyOf(name)}${required.has(name) ? "" : "?"}: ${typeOf(property, place)}${fallback}`;
  });
}

function requiredFirst(schema: JsonObject): JsonObject {
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const first = Object.entries(properties).filter(([name]) => required.includes(name));
  return { ...schema, properties: { ...Object.fromEntries(first), ...properties } };
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function isPlain(value: unknown): boolean {
  return (
    typeof value === "number" ||
    typeof value === "boolean" ||
    (typeof value === "string" && value.length <= 40)
  );
}

function typeOf(schema: unknown, place: Place): string {
  if (!isObject(schema)) return "any";
  if (place.depth > depthMax || place.parts.left-- <= 0) return "…";
  const inner: Place = { ...place, depth: place.depth + 1 };
  if (typeof schema.$ref === "string")
    return typeOf(findReferenced(place.root, schema.$ref), inner);
  if ("const" in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (options)
    return union(options.slice(0, choicesMax + 1).map((option) => typeOf(option, inner)));
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => typeOf({ ...schema, type }, place)));
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "string":
      return schema.format === undefined
        ? "string"
        : `string /* ${String(schema.format).slice(0, 20)} */`;
    case "boolean":
    case "null":
      return schema.type;
    case "array":
      return listOf(typeOf(schema.items, inner));
    default:
      if (isObject(schema.properties)) return `{ ${membersOf(schema, inner).join(", ")} }`;
      return schema.type === "object" ? "object" : "any";
  }
}

function listOf(item: string): string {
  return item.includes(" | ") && !item.endsWith("}") ? `(${item})[]` : `${item}[]`;
}

function literal(value: unknown): string {
  return isObject(value) || Array.isArray(value) ? "object" : JSON.stringify(value).slice(0, 60);
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)];
  return different.length <= choicesMax
    ? different.join(" | ")
    : `${different.slice(0, choicesMax).join(" | ")} | …`;
}

/** Inside the schema only, by names alone. */
function findReferenced(root: JsonObject, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
