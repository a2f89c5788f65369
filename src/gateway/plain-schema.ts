import { isObject } from "../base/json.ts";

/**
 * True for schemas that certainly compile: common keywords only, used correctly. Most tools have such
 * a schema, and this check takes microseconds where compiling takes a millisecond. False means
 * unknown: compile it.
 */
export function isPlainSchema(schema: unknown): boolean {
  let partsLeft = partsMax;

  function isSchema(value: unknown, depth: number): boolean {
    if (typeof value === "boolean") return true;
    if (!isObject(value) || depth > depthMax || --partsLeft < 0) return false;
    for (const key of Object.keys(value)) {
      const inner = value[key];
      const check = Object.hasOwn(values, key) ? values[key] : undefined;
      if (check ? !check(inner) : !holdsSchemas(key, inner, depth + 1)) return false;
    }
    return true;
  }

  function holdsSchemas(key: string, value: unknown, depth: number): boolean {
    switch (key) {
      case "properties":
      case "$defs":
        return isObject(value) && Object.values(value).every((inner) => isSchema(inner, depth));
      case "anyOf":
      case "oneOf":
      case "allOf":
        return (
          Array.isArray(value) && value.length > 0 && value.every((inner) => isSchema(inner, depth))
        );
      case "items":
      case "not":
      case "additionalProperties":
        return isSchema(value, depth);
      default:
        return false;
    }
  }

  if (!isObject(schema)) return false;
  // The compiler ignores the draft, because these keywords mean the same in all.
  const { $schema: _draft, ...rest } = schema;
  return isSchema(rest, 0);
}

/** Well within the compiler's limits. */
const partsMax = 500;
const depthMax = 12;
const valuesMax = 500;

const types = new Set<unknown>("object array string number integer boolean null".split(" "));
const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isScalar = (value: unknown): boolean =>
  value === null || ["string", "number", "boolean"].includes(typeof value);
const isFlat = (value: unknown): boolean =>
  isScalar(value) || (Array.isArray(value) && value.length <= valuesMax && value.every(isScalar));

function isTextSet(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= valuesMax &&
    value.every(isText) &&
    new Set(value).size === value.length
  );
}

/** Keywords without subschemas. Others, such as `pattern` and `$ref`, are left to the compiler. */
const values: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => types.has(value),
  title: isText,
  description: isText,
  $comment: isText,
  format: isText,
  default: isFlat,
  const: isScalar,
  enum: (value) => isTextSet(value) && value.length > 0,
  required: isTextSet,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: (value) => typeof value === "boolean",
};
