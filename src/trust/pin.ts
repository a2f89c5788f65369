import { hashOf } from "../base/hash.ts";
import type { JsonObject } from "../base/json.ts";
import type { Tool } from "../tool.ts";

const pins = new WeakMap<Tool, string>();

/** The hash of what a model reads and what a call does: any change of it is a change of the tool. */
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
