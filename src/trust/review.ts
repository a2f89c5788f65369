import { hashOf, isObject, type JsonObject } from "../base/json.ts";
import type { Tool } from "../tool.ts";
import { asksForAll, overrideOf, type TrustSettings } from "./easing.ts";
import type { Review, Reviewed, ReviewedTool } from "./ledger.ts";
import { markTool } from "./marks.ts";
import { definitionKey, definitionOf, type OfferKind, pinOf } from "./pin.ts";

/** A server as a person approves it. */
export interface ReviewInput
  extends Omit<Review, "reviewedAt" | "tools" | "prompts" | "resources" | "templates"> {
  readonly tools: readonly Tool[];
  readonly prompts?: readonly JsonObject[];
  readonly resources?: readonly JsonObject[];
  readonly templates?: readonly JsonObject[];
  /** A person's own marks, which replace those from name and annotations. */
  readonly isDestructive?: (tool: Tool) => boolean;
}

export function reviewServer({
  tools,
  prompts = [],
  resources = [],
  templates = [],
  isDestructive = (tool) => markTool(tool).effect === "changes",
  ...facts
}: ReviewInput): Review {
  const reviewed = tools.map((tool): [string, ReviewedTool] => [
    tool.name,
    { ...approve(tool), isDestructive: isDestructive(tool) },
  ]);
  return {
    ...facts,
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

/** A package that was installed to start a server. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** The registry's digest of its contents; only npm records it. */
  readonly integrity: string | undefined;
}

/** Why the package may not run, as a predicate after the server's name: a published version never changes. */
export function refusePackage(
  review: Review | undefined,
  source: string,
  installed: InstalledPackage | undefined,
): string | undefined {
  if (!installed || review?.source !== source || review.integrity === undefined) return undefined;
  const { name, version, integrity } = installed;
  return integrity === review.integrity
    ? undefined
    : `would run ${name}@${version} with other contents than you approved (now ${integrity ?? "without a digest"}, before ${review.integrity})`;
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

/** True if a tool will ask, as a review shows it. */
export interface ProposedMark {
  /** As a person decides, or as it is marked. */
  readonly isDestructive: boolean;
  /** Why its calls require approval, whatever the review decides. */
  readonly alwaysAsks?: string | undefined;
  /** The config declares the tool safe, and approving the server accepts that. */
  readonly isCalledSafe: boolean;
}

/** True if its calls will ask once the server is approved. */
export function willAsk({ isDestructive, alwaysAsks }: ProposedMark): boolean {
  return isDestructive || alwaysAsks !== undefined;
}

interface MarkInput {
  readonly previous: Review | undefined;
  readonly eased: string | undefined;
  readonly trustSettings: TrustSettings;
}

/**
 * A person's decision about the same tool stays; else the config's word or its own marks count.
 * Version 0.1 marked fewer tools.
 */
export function proposeMark(
  server: string,
  tool: Tool,
  { previous, eased, trustSettings }: MarkInput,
): ProposedMark {
  const isSame = compareDefinition("tools", tool, previous).kind === "same";
  const before = isSame ? previous?.tools[tool.name] : undefined;
  const override = overrideOf(server, tool.name, trustSettings);
  const isCalledSafe = override === "safe";
  const isMarked = before?.isDestructive === true || markTool(tool).effect === "changes";
  return {
    isDestructive:
      before && previous?.eased === eased ? before.isDestructive : isMarked && !isCalledSafe,
    alwaysAsks: findDemand(server, override, trustSettings),
    isCalledSafe,
  };
}

function findDemand(
  server: string,
  override: ReturnType<typeof overrideOf>,
  trustSettings: TrustSettings,
): string | undefined {
  if (override === "destructive") return "the config marks it destructive";
  return asksForAll(server, trustSettings, true)
    ? "the config requires approval for every call"
    : undefined;
}

/** A review by version 0.1, which cut long descriptions and showed neither schemas nor prompts: it must be repeated. */
export function isOutdated(review: Review): boolean {
  return review.prompts === undefined;
}

/**
 * A definition compared with the one that was reviewed under its name; `again`: it is the same, but
 * was not shown whole.
 */
export type DefinitionChange =
  | { readonly kind: "same" }
  | { readonly kind: "again" }
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
): DefinitionChange {
  const reviewed = findReviewed(review, kind, definition);
  if (!reviewed || !review) return { kind: "new" };
  if (reviewed.pin === pinOf(definition)) return { kind: isOutdated(review) ? "again" : "same" };
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
