import { isObject, type JsonObject } from "../../base/json.ts";

/** The JSON object in what a model wrote, with or without a fence around it. */
export function findObject(words: string): JsonObject | undefined {
  const start = words.indexOf("{");
  const end = words.lastIndexOf("}");
  if (start === -1 || end < start) return undefined;
  try {
    const value: unknown = JSON.parse(words.slice(start, end + 1));
    return isObject(value) ? value : undefined;
  } catch {
    // Not JSON: then it is words.
    return undefined;
  }
}
