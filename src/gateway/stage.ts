import { HallError } from "../base/errors.ts";
import type { Call, CallContext, Outcome, Target } from "../tool.ts";

/** A stage wraps the rest of the chain: it may reject the call, change its input or inspect its result. */
export type Next = (call: Call, context: CallContext) => Promise<Outcome>;
export type Stage = (next: Next) => Next;

/** For stages that run after the name was resolved. */
export function getTarget(call: Call): Target {
  if (!call.target)
    throw new HallError("INTERNAL", `the tool of call "${call.name}" was not resolved`);
  return call.target;
}
