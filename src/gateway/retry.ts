import { setTimeout as sleep } from "node:timers/promises";
import { HallError, messageOf } from "../base/errors.ts";
import { backoffMs } from "../base/timing.ts";
import type { Call, CallContext, Target, Toolkit } from "../tool.ts";
import type { ResolvedStage } from "./stage.ts";

/** Called before each retry, with the time until it and why it is needed. */
export type Retried = (call: Call, delayMs: number, reason: string) => void;

/** The initial budget of a toolkit. */
const firstRetries = 3;
const firstDelayMs = 100;
const delayMsMax = 1_000;
/** Earned per call, so that retries are at most a fifth of a failing toolkit's load. */
const earned = 0.2;
const savedMax = 10;

/** Retries calls that could not be delivered, if they are idempotent, within deadline and budget. */
export const retryIdempotent = (
  random: () => number = Math.random,
  retried: Retried = () => {},
): ResolvedStage => {
  const budgets = new WeakMap<Toolkit, { left: number }>();

  function budgetOf(toolkit: Toolkit): { left: number } {
    let budget = budgets.get(toolkit);
    if (!budget) {
      budget = { left: firstRetries };
      budgets.set(toolkit, budget);
    }
    return budget;
  }

  const stage: ResolvedStage = (next) => (call, context) => {
    const { target } = call;
    const budget = budgetOf(target.toolkit);
    budget.left = Math.min(savedMax, budget.left + earned);
    const attempt = (tries: number): ReturnType<typeof next> =>
      next(call, context).catch(async (error: unknown) => {
        const delayMs = backoffMs(tries + 1, { firstMs: firstDelayMs, maxMs: delayMsMax }, random);
        if (
          !isWorthIt(error, target.toolkit, context, delayMs) ||
          budget.left < 1 ||
          !context.scope.takeRetry()
        )
          throw error;
        budget.left--;
        retried(call, delayMs, messageOf(error));
        await context.scope.race(sleep(delayMs, undefined, { ref: false }));
        return attempt(tries + 1);
      });
    return attempt(1);
  };
  return Object.assign(stage, { isNeeded: mayRunTwice });
};

function mayRunTwice({ tool: { annotations }, toolkit: { source } }: Target): boolean {
  return (
    (source === "registered" || source === "upstream") &&
    (annotations?.idempotentHint === true || annotations?.readOnlyHint === true)
  );
}

function isWorthIt(
  error: unknown,
  toolkit: Toolkit,
  { scope }: CallContext,
  delayMs: number,
): boolean {
  if (!(error instanceof HallError) || error.code !== "UNAVAILABLE" || scope.cancelReason)
    return false;
  // A toolkit that reports a problem is retried by its supervisor; an immediate retry gains nothing.
  return toolkit.problem?.() === undefined && delayMs < scope.remainingMs;
}
