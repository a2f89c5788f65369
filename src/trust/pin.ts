import type { JsonObject } from "../base/json.ts";
import { hashOf } from "../base/json.ts";

/** The lists of an offer, with the field that names an item. */
export const offerKeys = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  templates: "uriTemplate",
} as const;

export type OfferKind = keyof typeof offerKeys;

export function definitionKey(kind: OfferKind, definition: JsonObject): string {
  return String(definition[offerKeys[kind]]);
}

const pins = new WeakMap<JsonObject, string>();

/** Hash of a whole definition, unknown fields included: a client passes all of it to its model. */
export function pinOf(definition: JsonObject): string {
  let pin = pins.get(definition);
  if (pin === undefined) {
    pin = hashOf(definitionOf(definition));
    pins.set(definition, pin);
  }
  return pin;
}

/** The definition without the hall's own facts about a tool. */
export function definitionOf({ facts: _ours, ...definition }: JsonObject): JsonObject {
  return definition;
}
