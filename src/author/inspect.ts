import { HallError } from "../base/errors.ts";
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
export function listRegisteredTools(hall: Hall): readonly RegisteredTool[] {
  const { registry, health } = requireHall(hall, "listRegisteredTools");
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
export function getToolSchema(hall: Hall, name: string): JsonObject {
  return requireHall(hall, "getToolSchema").registry.getTool(name).tool.inputSchema;
}

/** For programs without types. */
function requireHall(hall: Partial<Hall> | undefined, what: string): Hall {
  if (hall?.registry) return hall as Hall;
  throw new HallError("INVALID_PARAMS", `${what} needs a hall as its first argument`, {
    hint: "Open one with `createHall({ toolkits })`.",
  });
}
