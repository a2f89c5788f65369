import { Scope } from "../base/scope.ts";
import type { CallContext } from "../tool.ts";
import { getTarget, type Stage } from "./stage.ts";

/** Gives each call its own deadline inside the caller's, and an answer at that moment even when the tool ignores both. */
export const withDeadline =
  (defaultMs: number): Stage =>
  (next) =>
  (call, context) => {
    const { tool, fullName } = getTarget(call);
    const ownMs = tool.facts?.timeoutMs ?? defaultMs;
    const timeoutMs = call.timeoutMs === undefined ? ownMs : Math.min(call.timeoutMs, Math.max(ownMs, callerMsMax));
    const scope = new Scope(context.scope, timeoutMs, fullName);
    try {
      return scope.finish(next(call, narrow(context, scope)));
    } catch (error) {
      scope.close();
      throw error;
    }
  };

/** A caller that says how long it waits may give a hasty tool more time than the tool gives itself, up to this. */
const callerMsMax = 30_000;

function narrow(context: CallContext, scope: Scope): CallContext {
  return {
    scope,
    progress: (progress) => {
      if (!scope.cancelled) context.progress(progress);
    },
    log: context.log,
    logLevel: context.logLevel,
    capabilities: context.capabilities,
    meta: context.meta,
    // A person who thinks does not use up the tool's time.
    ask: (questions, asked) => scope.hold(() => context.ask(questions, asked)),
  };
}
