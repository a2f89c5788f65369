import type { Call, CallContext, Outcome, Target } from "../tool.ts";

/** A call whose name was resolved. */
export type ResolvedCall = Call & { target: Target };

/** A stage wraps the rest of the chain: it may reject the call, change its input or inspect its result. */
export type Next<C extends Call = Call> = (call: C, context: CallContext) => Promise<Outcome>;
export type Stage<C extends Call = Call> = (next: Next<C>) => Next<C>;

/** A stage that runs after the name was resolved. */
export type ResolvedStage = Stage<ResolvedCall>;

/** Waits while code is loaded; that time is not recorded as the tool's. */
export async function uncounted<T>(call: Call, loading: Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await loading;
  } finally {
    call.loadingMs = (call.loadingMs ?? 0) + performance.now() - started;
  }
}
