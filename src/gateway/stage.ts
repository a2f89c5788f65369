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

/** Waits while code is loaded; that time is not recorded as the tool's. */
export async function uncounted<T>(call: Call, loading: Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await loading;
  } finally {
    call.loadingMs = (call.loadingMs ?? 0) + performance.now() - started;
  }
}
