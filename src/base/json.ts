import { hash } from "node:crypto";

/** JSON from the wire. Values of `JsonObject` are `unknown`: each reader checks what it needs. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy with sorted keys, so that equal content gives equal text. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key])]),
  );
}

/** A hash of a JSON value, independent of the order of keys. */
export function hashOf(value: unknown): string {
  return hash("sha256", writeSorted(value) ?? "", "base64url");
}

/** JSON.stringify with sorted keys. Most objects are sorted already and are not sorted again. */
export function writeSorted(value: unknown): string | undefined {
  if (Array.isArray(value))
    return `[${value.map((item) => writeSorted(item) ?? "null").join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value);
  if (!keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key)) keys.sort();
  let text = "";
  for (const key of keys) {
    const inner = writeSorted(value[key]);
    if (inner !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${inner}`;
  }
  return `{${text}}`;
}
