import { Scope } from "../base/scope.ts";
import type { Call, CallContext, Caller } from "../tool.ts";
import type { EndStage } from "./stage.ts";

/** Gives each call its own deadline within the caller's, and fails on time even if the tool ignores it. */
export const withDeadline = (defaultMs: number, nest: Nest): EndStage => ({
  begin(call, context) {
    const { tool, toolkit } = call.target;
    const ownMs = tool.facts?.timeoutMs ?? defaultMs;
    const timeoutMs =
      call.timeoutMs === undefined ? ownMs : Math.min(call.timeoutMs, Math.max(ownMs, callerMsMax));
    const scope = new Scope(context.scope, timeoutMs, call.name);
    return {
      context: narrow(context, { scope, caller: call.caller, nest: (child) => nest(call, child) }),
      // A request to an upstream ends with its scope by itself.
      watch: toolkit.source === "upstream" ? undefined : (running) => scope.race(running),
      succeeded(outcome) {
        scope.close();
        return outcome;
      },
      failed: () => scope.close(),
    };
  },
});

/** A caller's own timeout may extend the tool's, up to this. */
const callerMsMax = 30_000;

/** Creates the function with which a tool calls other tools. */
export type Nest = (parent: Call, context: CallContext) => NonNullable<CallContext["call"]>;

interface Narrowed {
  readonly scope: Scope;
  readonly caller: Caller;
  nest(context: CallContext): NonNullable<CallContext["call"]>;
}

function narrow(context: CallContext, { scope, caller, nest }: Narrowed): CallContext {
  const narrowed: CallContext = {
    scope,
    progress: (progress) => {
      if (!scope.cancelReason) context.progress(progress);
    },
    log: context.log,
    logLevel: context.logLevel,
    capabilities: context.capabilities,
    meta: context.meta,
    task: context.task,
    callId: context.callId,
    // The deadline is paused while a person is being asked.
    ask: (questions, asked) => scope.pauseWhile(() => context.ask(questions, asked)),
    call: (name, args, inner, how) => {
      const { progress = narrowed.progress, log = narrowed.log } = how ?? {};
      const child = {
        ...narrowed,
        scope: inner ?? scope,
        progress,
        log,
        callId: undefined,
        task: undefined,
      };
      return nest(child)(name, args, inner, how);
    },
    caller,
    flow: context.flow,
    written: undefined,
    takesText: undefined,
  };
  return narrowed;
}
