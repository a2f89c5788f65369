import { HallError } from "../base/errors.ts";
import type { Call, CallContext, Outcome, Target } from "../tool.ts";

/** A stage wraps what comes after it: it may refuse, change what goes in, or look at what comes out. */
export type Next = (call: Call, context: CallContext) => Promise<Outcome>;
export type Stage = (next: Next) => Next;

/** For stages that stand behind resolve. */
export function getTarget(call: Call): Target {
  if (!call.target) throw new HallError("INTERNAL", `the call "${call.name}" was not resolved`);
  return call.target;
}
