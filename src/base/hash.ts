import { hash } from "node:crypto";
import { isObject } from "./json.ts";

/** The same for the same value, whatever the order of its keys. */
export function hashOf(value: unknown): string {
  return hash("sha256", writeSorted(value) ?? "", "base64url");
}

/** As JSON.stringify, with the keys of every object in order. Most are already, and then nothing is sorted. */
function writeSorted(value: unknown): string | undefined {
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
