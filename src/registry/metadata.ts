import type { JsonObject } from "../base/json.ts";
import type { Outcome, Target, Tool } from "../tool.ts";

/** Seconds between checks of a module for changes, where it does not say otherwise. */
export const defaultCacheTtlSeconds = 300;

/**
 * The metadata of a tool's registration: where it comes from, whether it changes something, and
 * since when it is deprecated.
 */
export function metadataOf({ tool, toolkit }: Pick<Target, "tool" | "toolkit">): JsonObject {
  const { module, deprecatedIn, cacheTtl } = tool.facts ?? {};
  return {
    module: module ?? toolkit.id,
    destructive: tool.annotations?.destructiveHint === true,
    deprecated_in: deprecatedIn ?? null,
    cache_ttl: cacheTtl ?? defaultCacheTtlSeconds,
  };
}

/** The description of a tool that may be deprecated. */
export function describeDeprecation(description: string, deprecatedIn: string | undefined): string {
  const notice = `Deprecated since ${deprecatedIn}. `;
  return deprecatedIn === undefined || description.startsWith(notice)
    ? description
    : notice + description;
}

/** The result of a tool, marked if the tool is deprecated. */
export function markDeprecated(outcome: Outcome, { facts }: Pick<Tool, "facts">): Outcome {
  return facts?.deprecatedIn === undefined
    ? outcome
    : { ...outcome, _meta: { ...outcome._meta, "guildhall/deprecated_in": facts.deprecatedIn } };
}
