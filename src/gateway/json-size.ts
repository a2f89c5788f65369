import type { JsonObject } from "../base/json.ts";

const depthMax = 64;
const nodesMax = 1_000_000;

/**
 * The length of a value as JSON, nearly, without writing it: numbers count as eight, what has to be escaped counts once.
 * A value that is no JSON, which the server finds out when it writes it, counts as far as it can be read.
 */
export function jsonSize(value: unknown): number {
  let nodesLeft = nodesMax;

  function sizeOf(part: unknown, depth: number): number {
    switch (typeof part) {
      case "string":
        return part.length + 2;
      case "number":
        return 8;
      case "object":
        if (part === null) return 4;
        return depth > depthMax || --nodesLeft < 0
          ? 0
          : Array.isArray(part)
            ? sizeOfList(part, depth)
            : sizeOfObject(part as JsonObject, depth);
      default:
        return 5;
    }
  }

  function sizeOfList(list: readonly unknown[], depth: number): number {
    let size = 2;
    for (const item of list) size += sizeOf(item, depth + 1) + 1;
    return size;
  }

  function sizeOfObject(object: JsonObject, depth: number): number {
    let size = 2;
    for (const key in object) size += key.length + 4 + sizeOf(object[key], depth + 1);
    return size;
  }

  try {
    return sizeOf(value, 0);
  } catch {
    // A field that throws when it is read.
    return 0;
  }
}
