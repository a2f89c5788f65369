import { isObject, type JsonObject } from "../base/json.ts";
import type { Path } from "./error.ts";
import { kindIndexOf, type Outline } from "./outline.ts";

/** A field that does not fit the schema. */
export interface Issue {
  readonly path: Path;
  /** A key of the object at `path` that the schema does not have. */
  readonly unknown?: string;
}

/**
 * Checks a value and returns a copy with all defaults, its fields in the order of the schema. Covers
 * the keywords that our own schema uses, so that a hall need not load zod.
 */
export function check(outline: Outline, value: unknown, path: Path, issues: Issue[]): unknown {
  if (outline.anyOf) return checkOptions(outline.anyOf, value, path, issues);
  if (outline.type === "object" && isObject(value) && !(value instanceof Date))
    return checkObject(outline, value, path, issues);
  if (outline.type === "array" && Array.isArray(value)) {
    if (value.length < (outline.minItems ?? 0)) issues.push({ path });
    return value.map((item, index) => check(outline.items ?? {}, item, [...path, index], issues));
  }
  if (!isScalar(outline, value)) issues.push({ path });
  return value;
}

/** The first option that fits. If none does, the issues are those of the intended one. */
function checkOptions(
  options: readonly Outline[],
  value: unknown,
  path: Path,
  issues: Issue[],
): unknown {
  for (const option of options) {
    const own: Issue[] = [];
    const checked = check(option, value, path, own);
    if (own.length === 0) return checked;
  }
  const intended = options[kindIndexOf(value)] ?? {};
  return check(intended, value, path, issues);
}

function checkObject(outline: Outline, value: JsonObject, path: Path, issues: Issue[]): unknown {
  const { properties = {}, additionalProperties: others, propertyNames, required } = outline;
  const fields: [string, unknown][] = [];
  for (const [key, field] of Object.entries(properties)) {
    const own: unknown = Object.hasOwn(value, key) ? value[key] : undefined;
    const given = own === undefined ? field.default : own;
    if (given !== undefined) fields.push([key, check(field, given, [...path, key], issues)]);
    else if (required?.includes(key)) issues.push({ path: [...path, key] });
  }
  for (const [key, own] of Object.entries(value)) {
    if (Object.hasOwn(properties, key)) continue;
    if (!others) issues.push({ path, unknown: key });
    else if (propertyNames && !isScalar(propertyNames, key)) issues.push({ path: [...path, key] });
    else fields.push([key, check(others, own, [...path, key], issues)]);
  }
  return Object.fromEntries(fields);
}

function isScalar(outline: Outline, value: unknown): boolean {
  if (outline.enum) return outline.enum.includes(value);
  if (outline.const !== undefined) return value === outline.const;
  if (outline.type === "boolean") return typeof value === "boolean";
  if (outline.type === "integer")
    return (
      Number.isSafeInteger(value) &&
      (value as number) >= (outline.minimum ?? Number.NEGATIVE_INFINITY) &&
      (value as number) <= (outline.maximum ?? Number.POSITIVE_INFINITY)
    );
  return outline.type === "string" && typeof value === "string" && isText(outline, value);
}

function isText({ minLength = 0, maxLength, pattern }: Outline, text: string): boolean {
  return (
    text.length >= minLength &&
    text.length <= (maxLength ?? text.length) &&
    (pattern === undefined || new RegExp(pattern).test(text))
  );
}
