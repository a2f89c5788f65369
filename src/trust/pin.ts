import type { JsonObject } from "../base/json.ts";
import { hashOf } from "../base/json.ts";
import type { Tool } from "../tool.ts";

const pins = new WeakMap<Tool, string>();

/** Hash of all that a model reads of a tool and that defines its calls; it changes with the tool. */
export function pinOf(tool: Tool): string {
  let pin = pins.get(tool);
  if (pin === undefined) {
    pin = hashOf(definitionOf(tool));
    pins.set(tool, pin);
  }
  return pin;
}

/** The part of a tool that is pinned. */
export function definitionOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Tool): JsonObject {
  return { name, title, description, inputSchema, outputSchema, annotations };
}
