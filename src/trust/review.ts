import { hashOf, isObject } from "../base/json.ts";
import type { Tool } from "../tool.ts";
import type { Review } from "./ledger.ts";
import { markTool } from "./marks.ts";
import { definitionOf, pinOf } from "./pin.ts";

/** Input of a review. */
export interface ReviewInput {
  readonly source: string;
  /** The command or URL for display. */
  readonly reached: string;
  readonly tools: readonly Tool[];
  /** A person's own marks, which replace those from name and annotations. */
  readonly isDestructive?: (tool: Tool) => boolean;
}

export function reviewServer({
  source,
  reached,
  tools,
  isDestructive = (tool) => markTool(tool).destructive,
}: ReviewInput): Review {
  const reviewed = tools.map(
    (tool) =>
      [
        tool.name,
        { pin: pinOf(tool), isDestructive: isDestructive(tool), definition: definitionOf(tool) },
      ] as const,
  );
  return { source, reached, reviewedAt: Date.now(), tools: Object.fromEntries(reviewed) };
}

/** A tool compared with the one that was reviewed under its name. */
export type ToolChange =
  | { readonly kind: "same"; readonly isDestructive: boolean }
  | { readonly kind: "new" }
  | { readonly kind: "changed"; readonly fields: readonly FieldChange[] };

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly now: unknown;
}

export function compareTool(tool: Tool, review: Review | undefined): ToolChange {
  const reviewed =
    review && Object.hasOwn(review.tools, tool.name) ? review.tools[tool.name] : undefined;
  if (!reviewed) return { kind: "new" };
  if (reviewed.pin === pinOf(tool)) return { kind: "same", isDestructive: reviewed.isDestructive };
  return {
    kind: "changed",
    fields: compareFields(
      isObject(reviewed.definition) ? reviewed.definition : {},
      definitionOf(tool),
    ),
  };
}

/** Names of reviewed tools that the server no longer offers. */
export function goneTools(tools: readonly Tool[], review: Review | undefined): readonly string[] {
  const names = new Set(tools.map(({ name }) => name));
  return Object.keys(review?.tools ?? {}).filter((name) => !names.has(name));
}

function compareFields(
  before: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): readonly FieldChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return fields
    .filter((field) => hashOf(before[field]) !== hashOf(now[field]))
    .map((field) => ({ field, before: before[field], now: now[field] }));
}
