import type { JsonObject } from "../base/json.ts";
import type { Hall } from "../hall/hall.ts";
import { metadataOf } from "../registry/metadata.ts";

export interface RegisteredTool {
  /** `toolkit.tool`, as calls name it. */
  readonly name: string;
  readonly description: string | undefined;
  readonly toolkit: string;
  readonly category: string | undefined;
  readonly isAvailable: boolean;
  readonly inputSchema: JsonObject;
  /** `module`, `destructive`, `deprecated_in`, `cache_ttl`. */
  readonly metadata: JsonObject;
}

/** All tools of a hall, sorted by name. */
export function listRegisteredTools({ registry, health }: Hall): readonly RegisteredTool[] {
  return registry.tools().map((target) => {
    const { fullName, tool, toolkit } = target;
    const { state } = health.record(toolkit).health;
    return {
      name: fullName,
      description: tool.description,
      toolkit: toolkit.id,
      category: toolkit.category,
      isAvailable: state === "available" || state === "degraded",
      inputSchema: tool.inputSchema,
      metadata: metadataOf(target),
    };
  });
}

/** The schema of a tool's arguments. Throws NOT_FOUND with near names. */
export function getToolSchema({ registry }: Hall, name: string): JsonObject {
  return registry.getTool(name).tool.inputSchema;
}
