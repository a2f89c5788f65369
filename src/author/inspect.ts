import type { JsonObject } from "../base/json.ts";
import type { Hall } from "../hall/hall.ts";

export interface RegisteredTool {
  /** `toolkit.tool`, as calls name it. */
  readonly name: string;
  readonly description: string | undefined;
  readonly toolkit: string;
  readonly category: string | undefined;
  readonly isAvailable: boolean;
}

/** All tools of a hall, sorted by name. */
export function listRegisteredTools({ registry, health }: Hall): readonly RegisteredTool[] {
  return registry.tools().map(({ fullName, tool, toolkit }) => {
    const { state } = health.record(toolkit).health;
    return {
      name: fullName,
      description: tool.description,
      toolkit: toolkit.id,
      category: toolkit.category,
      isAvailable: state === "available" || state === "degraded",
    };
  });
}

/** The schema of a tool's arguments. Throws NOT_FOUND with near names. */
export function getToolSchema({ registry }: Hall, name: string): JsonObject {
  return registry.getTool(name).tool.inputSchema;
}
