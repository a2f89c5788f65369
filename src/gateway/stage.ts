import type { Call, CallContext, Outcome, Target } from "../tool.ts";

/** A call whose name was resolved. */
export type ResolvedCall = Call & { target: Target };

/** A stage wraps the rest of the chain: it may reject the call, change its input or inspect its result. */
export type Next<C extends Call = Call> = (call: C, context: CallContext) => Promise<Outcome>;
export type Stage<C extends Call = Call> = (next: Next<C>) => Next<C>;

/** A stage that runs after the name was resolved. */
export interface ResolvedStage extends Stage<ResolvedCall> {
  /** False if it never has anything to do for calls of this tool. Asked once per target. Default: true. */
  isNeeded?(target: Target): boolean;
}

/** A stage that looks at the end of a call, and need not wait before it. Those in a row share one continuation. */
export interface EndStage {
  /** As in `ResolvedStage`. */
  isNeeded?(target: Target): boolean;
  /** Throws to refuse the call. */
  begin(call: ResolvedCall, context: CallContext): Ending;
}

/** The end of one call, as one stage sees it. */
export interface Ending {
  /** For the rest of the chain. Default: the context of the stage itself. */
  readonly context?: CallContext;
  /** May end the call before the rest of the chain does. */
  readonly watch?: ((running: Promise<Outcome>) => Promise<Outcome>) | undefined;
  succeeded(outcome: Outcome): Outcome | Promise<Outcome>;
  /** Throws this error or another. */
  failed?(error: unknown): void;
}

/** The chain of the stages that a tool needs, built at its first call. */
export function compileStages(
  stages: readonly (ResolvedStage | EndStage)[],
  last: Next<ResolvedCall>,
): Next<ResolvedCall> {
  // A tool that is listed again, or of another toolkit, is another target.
  const chains = new WeakMap<Target, Next<ResolvedCall>>();
  const compile = (target: Target): Next<ResolvedCall> => {
    const needed = stages.filter((stage) => stage.isNeeded?.(target) ?? true);
    let chain = last;
    let ends: readonly EndStage[] = [];
    for (const stage of needed.toReversed()) {
      if ("begin" in stage) {
        ends = [stage, ...ends];
        continue;
      }
      chain = stage(endTogether(ends, chain));
      ends = [];
    }
    chain = endTogether(ends, chain);
    chains.set(target, chain);
    return chain;
  };
  return (call, context) => (chains.get(call.target) ?? compile(call.target))(call, context);
}

/** Runs the rest of a chain, then the ends of these stages, the last one first. */
function endTogether(stages: readonly EndStage[], next: Next<ResolvedCall>): Next<ResolvedCall> {
  if (stages.length === 0) return next;
  return (call, outer) => {
    const endings: Ending[] = [];
    try {
      let context = outer;
      for (const stage of stages) {
        const ending = stage.begin(call, context);
        endings.push(ending);
        context = ending.context ?? context;
      }
      let running = next(call, context);
      for (const { watch } of endings) if (watch) running = watch(running);
      return running.then(
        (outcome) => succeed(outcome, endings, endings.length),
        (error: unknown) => fail(error, endings, endings.length),
      );
    } catch (error) {
      return fail(error, endings, endings.length);
    }
  };
}

function succeed(
  result: Outcome,
  endings: readonly Ending[],
  left: number,
): Outcome | Promise<Outcome> {
  let outcome = result;
  for (let i = left - 1; i >= 0; i--) {
    try {
      const seen = endings[i]?.succeeded(outcome) ?? outcome;
      if (seen instanceof Promise)
        return seen.then(
          (later) => succeed(later, endings, i),
          (error: unknown) => fail(error, endings, i),
        );
      outcome = seen;
    } catch (error) {
      return fail(error, endings, i);
    }
  }
  return outcome;
}

function fail(error: unknown, endings: readonly Ending[], left: number): never {
  let failure = error;
  for (let i = left - 1; i >= 0; i--) {
    try {
      endings[i]?.failed?.(failure);
    } catch (other) {
      failure = other;
    }
  }
  throw failure;
}

/** Waits while code is loaded; that time is not recorded as the tool's. */
export async function uncounted<T>(call: Call, loading: Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await loading;
  } finally {
    call.loadingMs = (call.loadingMs ?? 0) + performance.now() - started;
  }
}
