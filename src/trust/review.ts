import { hashOf, isObject, type JsonObject } from "../base/json.ts";
import type { Tool } from "../tool.ts";
import type { Review, Reviewed, ReviewedTool } from "./ledger.ts";
import { markTool } from "./marks.ts";
import { definitionKey, definitionOf, type OfferKind, pinOf } from "./pin.ts";

/** Input of a review. */
export interface ReviewInput {
  readonly source: string;
  /** The command or URL for display. */
  readonly reached: string;
  readonly tools: readonly Tool[];
  readonly prompts?: readonly JsonObject[];
  readonly resources?: readonly JsonObject[];
  readonly templates?: readonly JsonObject[];
  /** A person's own marks, which replace those from name and annotations. */
  readonly isDestructive?: (tool: Tool) => boolean;
}

export function reviewServer({
  source,
  reached,
  tools,
  prompts = [],
  resources = [],
  templates = [],
  isDestructive = (tool) => markTool(tool).destructive,
}: ReviewInput): Review {
  const reviewed = tools.map((tool): [string, ReviewedTool] => [
    tool.name,
    { ...approve(tool), isDestructive: isDestructive(tool) },
  ]);
  return {
    source,
    reached,
    reviewedAt: Date.now(),
    tools: Object.fromEntries(reviewed),
    prompts: approveAll("prompts", prompts),
    resources: approveAll("resources", resources),
    templates: approveAll("templates", templates),
  };
}

function approve(definition: JsonObject): Reviewed {
  return { pin: pinOf(definition), definition: definitionOf(definition) };
}

function approveAll(
  kind: OfferKind,
  definitions: readonly JsonObject[],
): Readonly<Record<string, Reviewed>> {
  return Object.fromEntries(
    definitions.map((definition) => [definitionKey(kind, definition), approve(definition)]),
  );
}

/** The approved definition of the same name, even if this one differs. */
export function findReviewed(
  review: Review | undefined,
  kind: OfferKind,
  definition: JsonObject,
): Reviewed | undefined {
  const known = review?.[kind] ?? {};
  const key = definitionKey(kind, definition);
  return Object.hasOwn(known, key) ? known[key] : undefined;
}

/** A definition compared with the one that was reviewed under its name. */
export type Change =
  | { readonly kind: "same" }
  | { readonly kind: "new" }
  | { readonly kind: "changed"; readonly fields: readonly FieldChange[] };

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly now: unknown;
}

export function compareDefinition(
  kind: OfferKind,
  definition: JsonObject,
  review: Review | undefined,
): Change {
  const reviewed = findReviewed(review, kind, definition);
  if (!reviewed) return { kind: "new" };
  if (reviewed.pin === pinOf(definition)) return { kind: "same" };
  const before = isObject(reviewed.definition) ? reviewed.definition : {};
  return { kind: "changed", fields: compareFields(before, definitionOf(definition)) };
}

/** Names of reviewed definitions that the server no longer offers. */
export function goneDefinitions(
  kind: OfferKind,
  definitions: readonly JsonObject[],
  review: Review | undefined,
): readonly string[] {
  const names = new Set(definitions.map((definition) => definitionKey(kind, definition)));
  return Object.keys(review?.[kind] ?? {}).filter((name) => !names.has(name));
}

function compareFields(before: JsonObject, now: JsonObject): readonly FieldChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return fields
    .filter((field) => hashOf(before[field]) !== hashOf(now[field]))
    .map((field) => ({ field, before: before[field], now: now[field] }));
}
