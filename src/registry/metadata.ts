import type { JsonObject } from "../base/json.ts";
import type { Target } from "../tool.ts";

/** Seconds between checks of a module for changes, where it does not say otherwise. */
const cacheTtlSeconds = 300;

/** The metadata of a tool's registration: where it comes from, whether it changes something, and since when it is deprecated. */
export function metadataOf({ tool, toolkit }: Pick<Target, "tool" | "toolkit">): JsonObject {
  const { module, deprecatedIn, cacheTtl } = tool.facts ?? {};
  return {
    module: module ?? toolkit.id,
    destructive: tool.annotations?.destructiveHint === true,
    deprecated_in: deprecatedIn ?? null,
    cache_ttl: cacheTtl ?? cacheTtlSeconds,
  };
}
