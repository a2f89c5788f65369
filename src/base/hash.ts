import { hash } from "node:crypto";
import { isObject } from "./json.ts";

/** The same for the same value, whatever the order of its keys. */
export function hashOf(value: unknown): string {
  return hash("sha256", JSON.stringify(sortKeys(value)) ?? "", "base64url");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key])]),
  );
}
