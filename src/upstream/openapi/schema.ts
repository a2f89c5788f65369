import { isObject, type JsonObject } from "../../base/json.ts";
import { shortenLine } from "../../base/text.ts";
import type { OpenApiDocument } from "./document.ts";
import { fieldsOf } from "./operation.ts";

/**
 * Turns schemas of a document into JSON Schema 2020-12 of their own. Schemas that are used several times or
 * contain themselves are in `$defs`. A schema over the limits loses its innermost levels: they accept anything.
 * An output schema only describes: it has no rule that an API might break, see `fitTo`.
 */
export type SchemaUse = "input" | "output";

const limits = {
  input: { bytes: 32 * 1024, descriptionLength: 300 },
  output: { bytes: 4 * 1024, descriptionLength: 120 },
} as const;
/** The gateway takes 2,000 objects in a schema; each of these may become two. */
const partsMax = 900;
const levelsTried = [24, 8, 5, 3, 2, 1];
/** `{"type":"string"},`: no part is shorter. */
const partBytes = 18;

export function convertSchema(
  document: OpenApiDocument,
  schema: JsonObject,
  use: SchemaUse,
): JsonObject {
  for (const levels of levelsTried) {
    const converted = new Conversion(document, use, levels).convert(schema);
    if (converted && JSON.stringify(converted).length <= limits[use].bytes) return converted;
  }
  return { type: "object" };
}

/** Stops a conversion early: it would exceed the limits. */
class TooLarge extends Error {}

const counts: Readonly<Record<string, boolean>> = {
  minLength: true,
  maxLength: true,
  minItems: true,
  maxItems: true,
  minProperties: true,
  maxProperties: true,
  minimum: false,
  maximum: false,
};
const kinds = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

class Conversion {
  readonly #document: OpenApiDocument;
  readonly #use: SchemaUse;
  readonly #levels: number;
  /** Names in `$defs` by reference. */
  readonly #names = new Map<string, string>();
  readonly #waiting: { readonly name: string; readonly schema: unknown; readonly level: number }[] =
    [];
  #parts = 0;
  #bytes = 0;

  constructor(document: OpenApiDocument, use: SchemaUse, levels: number) {
    this.#document = document;
    this.#use = use;
    this.#levels = levels;
  }

  /** Undefined if it is too large. */
  convert(schema: JsonObject): JsonObject | undefined {
    try {
      const root = this.#object(this.#document.resolve(schema), 0);
      const definitions = new Map<string, JsonObject | boolean>();
      // The nearest level of a shared schema comes first, so it decides how much of it is kept.
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift())
        definitions.set(next.name, this.#schema(next.schema, next.level));
      return inlineSingle(root, definitions);
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      throw error;
    }
  }

  #schema(schema: unknown, level: number): JsonObject | boolean {
    if (typeof schema === "boolean") return schema;
    if (!isObject(schema)) return {};
    if (typeof schema.$ref !== "string") return this.#object(schema, level);
    const { pointer = "", found } = this.#document.follow(schema);
    if (typeof found === "boolean") return found;
    const beside = this.#notes(schema);
    const target = isObject(found) ? found : {};
    if (!hasParts(target) || level >= this.#levels)
      return { ...this.#object(target, level), ...beside };
    return { $ref: `#/$defs/${this.#nameOf(pointer, target, level)}`, ...beside };
  }

  #nameOf(pointer: string, schema: JsonObject, level: number): string {
    const known = this.#names.get(pointer);
    if (known !== undefined) return known;
    const words = (pointer.split("/").at(-1) ?? "").replace(/[^A-Za-z0-9_]+/g, "_").slice(0, 60);
    const taken = new Set(this.#names.values());
    let name = words === "" || words === "__proto__" ? "schema" : words;
    for (let count = 2; taken.has(name); count++) name = `${words}_${count}`;
    this.#names.set(pointer, name);
    this.#waiting.push({ name, schema, level });
    return name;
  }

  #object(schema: JsonObject, level: number): JsonObject {
    const isInput = this.#use === "input";
    const type = this.#typeOf(schema, level);
    const notes = this.#notes(schema);
    const base = type === undefined ? notes : { type, ...notes };
    this.#count(partBytes + String(notes.description ?? "").length);
    if (level >= this.#levels) return base;
    return {
      ...base,
      ...(isInput ? rulesOf(schema) : {}),
      ...this.#propertiesOf(schema, level + 1),
      ...this.#partsOf(schema, level + 1),
    };
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (++this.#parts > partsMax || this.#bytes > limits[this.#use].bytes) throw new TooLarge();
  }

  /** An optional value of an API may always be null, whatever its document says. */
  #typeOf(schema: JsonObject, level: number): unknown {
    const { type, nullable, properties, items } = schema;
    const found = (Array.isArray(type) ? type : [type]).filter((kind) => kinds.has(String(kind)));
    if (found.length === 0 && isObject(properties)) found.push("object");
    if (found.length === 0 && isObject(items)) found.push("array");
    const isNullable = nullable === true || (this.#use === "output" && level > 0);
    if (isNullable && found.length > 0 && !found.includes("null")) found.push("null");
    if (found.length === 0) return undefined;
    return found.length === 1 ? found[0] : found;
  }

  #notes({ title, description, deprecated, default: preset }: JsonObject): JsonObject {
    const isInput = this.#use === "input";
    const { descriptionLength } = limits[this.#use];
    return {
      ...(typeof title === "string" && isInput ? { title: shortenLine(title, 100) } : {}),
      ...(typeof description === "string" && description.trim() !== ""
        ? { description: shortenLine(description.slice(0, 2_000), descriptionLength) }
        : {}),
      ...(deprecated === true ? { deprecated } : {}),
      ...(isInput && preset !== undefined ? { default: preset } : {}),
    };
  }

  #propertiesOf({ properties, required }: JsonObject, level: number): JsonObject {
    const isInput = this.#use === "input";
    const kept = fieldsOf(properties).filter(([, schema]) => {
      const { readOnly, writeOnly } = isObject(schema) ? schema : {};
      return (isInput ? readOnly : writeOnly) !== true;
    });
    if (kept.length === 0) return {};
    const names = new Set(kept.map(([name]) => name));
    const wanted = Array.isArray(required) ? required : [];
    const needed = [...new Set(wanted)].filter((name) => names.has(String(name)));
    return {
      properties: Object.fromEntries(
        kept.map(([name, schema]) => [name, this.#schema(schema, level)]),
      ),
      ...(isInput && needed.length > 0 ? { required: needed } : {}),
    };
  }

  #partsOf(schema: JsonObject, level: number): JsonObject {
    const isInput = this.#use === "input";
    const { items, additionalProperties: others, not } = schema;
    const [allOf, anyOf, oneOf, prefixItems] = ["allOf", "anyOf", "oneOf", "prefixItems"].map(
      (key): readonly unknown[] => (Array.isArray(schema[key]) ? schema[key] : []),
    );
    // Without its rules, a value fits several of the choices.
    const choices = isInput
      ? { allOf, anyOf, oneOf, prefixItems }
      : { allOf, anyOf: [...(anyOf ?? []), ...(oneOf ?? [])] };
    const chosen = Object.entries(choices).flatMap(([key, parts = []]) =>
      parts.length === 0 ? [] : [[key, parts.map((part) => this.#schema(part, level))] as const],
    );
    const hasOthers = isInput ? others !== undefined : isObject(others);
    return {
      ...(items === undefined || Array.isArray(items) ? {} : { items: this.#schema(items, level) }),
      ...(hasOthers ? { additionalProperties: this.#schema(others, level) } : {}),
      ...(isInput && isObject(not) ? { not: this.#schema(not, level) } : {}),
      ...Object.fromEntries(chosen),
    };
  }
}

/** The rules of one value, without those that are no valid schema: a wrong rule must not make a tool unusable. */
function rulesOf(schema: JsonObject): JsonObject {
  const { enum: values, pattern, format, multipleOf, uniqueItems, nullable } = schema;
  const rules: Record<string, unknown> = {};
  for (const [key, isCount] of Object.entries(counts)) {
    const value = schema[key];
    if (typeof value === "number" && (!isCount || (Number.isInteger(value) && value >= 0)))
      rules[key] = value;
  }
  for (const [key, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    const value = schema[key];
    if (typeof value === "number") rules[key] = value;
    if (value === true && typeof rules[bound] === "number") {
      rules[key] = rules[bound];
      delete rules[bound];
    }
  }
  if (Array.isArray(values) && values.length > 0)
    rules.enum = [...new Set(nullable === true ? [...values, null] : values)];
  if ("const" in schema) rules.const = schema.const;
  if (typeof pattern === "string" && isPattern(pattern)) rules.pattern = pattern;
  if (typeof format === "string" && format !== "binary") rules.format = format.slice(0, 60);
  if (typeof multipleOf === "number" && multipleOf > 0) rules.multipleOf = multipleOf;
  if (uniqueItems === true) rules.uniqueItems = true;
  if (isBinary(schema)) rules.contentEncoding = "base64";
  return rules;
}

/** Bytes, which a tool takes as base64. */
export function isBinary({ type, format, contentEncoding, contentMediaType }: JsonObject): boolean {
  const isText = type === "string" || type === undefined;
  return (
    isText &&
    (format === "binary" || (contentMediaType !== undefined && contentEncoding === undefined))
  );
}

/** Clients compile it too. */
function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return pattern.length <= 500;
  } catch {
    return false;
  }
}

function hasParts({ type, ...schema }: JsonObject): boolean {
  return (
    type === "object" ||
    type === "array" ||
    ["properties", "items", "allOf", "anyOf", "oneOf", "additionalProperties", "not"].some(
      (key) => key in schema,
    )
  );
}

/** Puts definitions that are used once where they are used, and keeps the others in `$defs`. */
function inlineSingle(
  root: JsonObject,
  definitions: ReadonlyMap<string, JsonObject | boolean>,
): JsonObject {
  const uses = new Map<string, number>();
  const count = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(count);
    else if (isObject(value)) {
      const name = nameIn(value);
      if (name !== undefined) uses.set(name, (uses.get(name) ?? 0) + 1);
      Object.values(value).forEach(count);
    }
  };
  [root, ...definitions.values()].forEach(count);

  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (!isObject(value)) return value;
    const name = nameIn(value);
    const fields = Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, inline(field)]),
    );
    const definition = name === undefined ? undefined : definitions.get(name);
    if (name === undefined || uses.get(name) !== 1 || !isObject(definition)) return fields;
    const { $ref: _replaced, ...beside } = fields;
    return { ...(inline(definition) as JsonObject), ...beside };
  };
  const shared = [...definitions]
    .filter(([name, schema]) => uses.get(name) !== 1 || !isObject(schema))
    .map(([name, schema]) => [name, inline(schema)] as const);
  const inlined = inline(root) as JsonObject;
  return shared.length === 0 ? inlined : { ...inlined, $defs: Object.fromEntries(shared) };
}

function nameIn({ $ref }: JsonObject): string | undefined {
  return typeof $ref === "string" ? $ref.replace(/^#\/\$defs\//, "") : undefined;
}

/**
 * The value with null in place of every part that an output schema does not describe: a client checks a result
 * against it, and an API may send something else than its document says.
 */
export function fitTo(schema: unknown, value: unknown, root: JsonObject): unknown {
  if (!isObject(schema)) return value;
  const name = nameIn(schema);
  if (name !== undefined) {
    const definitions = isObject(root.$defs) ? root.$defs : {};
    return fitTo(definitions[name], value, root);
  }
  const { type, anyOf, allOf } = schema;
  if (type !== undefined && ![type].flat().includes(kindOf(value, type))) return null;
  let fitted = value;
  if (Array.isArray(anyOf))
    fitted = anyOf.reduce((found, choice) => found ?? fitTo(choice, value, root), null);
  if (Array.isArray(allOf))
    fitted = allOf.reduce((found, part) => fitTo(part, found, root), fitted);
  if (Array.isArray(fitted))
    return isObject(schema.items) ? fitted.map((item) => fitTo(schema.items, item, root)) : fitted;
  if (!isObject(fitted)) return fitted;
  const properties = isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(fitted).map(([key, item]) => {
      const isNamed = Object.hasOwn(properties, key);
      return [key, fitTo(isNamed ? properties[key] : schema.additionalProperties, item, root)];
    }),
  );
}

function kindOf(value: unknown, type: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const isWhole = Number.isInteger(value) && [type].flat().includes("integer");
  return isWhole ? "integer" : typeof value;
}
