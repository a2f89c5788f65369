import { HallError } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import type { CallContext } from "../tool.ts";
import { getTarget, type Stage } from "./stage.ts";

/** Gives each call its own deadline inside the caller's, and an answer at that moment even when the tool ignores both. */
export const withDeadline =
  (defaultMs: number): Stage =>
  (next) =>
  async (call, context) => {
    const { tool, fullName } = getTarget(call);
    const scope = new Scope(context.scope, tool.facts?.timeoutMs ?? defaultMs);
    try {
      return await scope.race(next(call, narrow(context, scope)));
    } catch (error) {
      // The scope knows the time, this stage knows the tool.
      if (error === scope.cancelled && scope.cancelled?.code === "TIMEOUT") throw new HallError("TIMEOUT", `${fullName}: ${scope.cancelled.message}`);
      throw error;
    } finally {
      scope.close();
    }
  };

function narrow(context: CallContext, scope: Scope): CallContext {
  return {
    scope,
    progress: (progress) => {
      if (!scope.cancelled) context.progress(progress);
    },
    log: context.log,
    // A person who thinks does not use up the tool's time.
    ask: (questions) => scope.hold(() => context.ask(questions)),
  };
}
