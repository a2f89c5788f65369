import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";

/** A required text argument, trimmed. Schemas are checked by the gateway; this also covers direct calls. */
export function readText(args: JsonObject, field: string): string {
  const value = args[field];
  if (typeof value !== "string") throw invalidField(field, `${field} must be a string`);
  return value.trim();
}

/** VALIDATION for one field, with similar accepted values if there are any. */
export function invalidField(
  field: string,
  problem: string,
  near: readonly string[] = [],
  more: JsonObject = {},
): HallError {
  const message = near.length > 0 ? `${problem} (near: ${near.join(", ")})` : problem;
  return new HallError("VALIDATION", message, {
    details: { errors: [{ path: `/${field}`, message }], near, ...more },
  });
}
