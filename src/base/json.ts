import { hash } from "node:crypto";
import { HallError } from "./errors.ts";

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** An object from the wire. Its values are `unknown`: each reader checks what it needs. */
export type JsonObject = { readonly [key: string]: unknown };

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The caller decides what other text means.
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws SERIALIZATION for a value that JSON cannot carry, or would change silently. `subject` begins the message. */
export function requireJson(value: unknown, subject: string): void {
  const fault = findFault(value, "", new Set());
  if (fault !== undefined)
    throw new HallError("SERIALIZATION", `${subject} cannot be written as JSON: ${fault}`, {
      hint: "Return plain objects, lists, texts, finite numbers, booleans and null.",
    });
}

function findFault(value: unknown, path: string, outer: Set<unknown>): string | undefined {
  const at = path === "" ? "it" : path;
  if (typeof value === "number" && !Number.isFinite(value)) return `${at} is ${value}`;
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    return `${at} is a ${typeof value}`;
  if (typeof value !== "object" || value === null) return undefined;
  if (outer.has(value)) return `${at} contains itself`;
  if (value instanceof Map || value instanceof Set) return `${at} is a ${value.constructor.name}`;
  if ("toJSON" in value) return undefined;
  outer.add(value);
  for (const [key, item] of Object.entries(value)) {
    const fault = findFault(item, `${path}/${key}`, outer);
    if (fault !== undefined) return fault;
  }
  outer.delete(value);
  return undefined;
}

/** A copy with sorted keys, for files that people read; the keys below `kept` keep their order. To hash or compare, see `writeSorted`. */
export function sortKeys(value: unknown, kept?: string, isKept = false): unknown {
  if (Array.isArray(value)) return value.map((item) => sortKeys(item, kept));
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  const ordered = isKept ? keys : keys.sort();
  return Object.fromEntries(ordered.map((key) => [key, sortKeys(value[key], kept, key === kept)]));
}

/** SHA-256 of the text of `writeSorted`, as base64url: the order of keys does not matter. */
export function hashOf(value: unknown): string {
  return hashText(writeSorted(value) ?? "");
}

export function hashText(text: string): string {
  return hash("sha256", text, "base64url");
}

/**
 * Compact JSON with all keys sorted as text. A copy of `sortKeys` cannot do that: objects always
 * have keys such as "10" first. Ignores `toJSON`. Most objects are sorted already, and not again.
 */
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
