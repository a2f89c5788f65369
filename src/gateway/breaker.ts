import { type ErrorCode, HallError } from "../base/errors.ts";
import type { HealthBook, HealthRecord } from "../registry/health.ts";
import type { Registry } from "../registry/registry.ts";
import type { Call, CallContext, Target, Toolkit } from "../tool.ts";
import { getTarget, type Next, type Stage } from "./stage.ts";

/**
 * What a toolkit that is not our own costs when it is broken: nothing. After failures in a row its calls are answered at
 * once, one call at a time finds out whether it is back, and whoever is refused hears what could serve instead.
 */
export const breakCircuits =
  ({ health, registry }: { readonly health: HealthBook; readonly registry: Registry }): Stage =>
  (next) =>
  (call, context) => {
    const target = getTarget(call);
    if (!isWatched(target.toolkit)) return next(call, context);
    const record = health.record(target.toolkit);
    const waitMs = record.admit();
    if (waitMs > 0)
      throw suggestOthers(restingError(target, record, waitMs), target, { health, registry });
    const fail = (error: unknown): never => {
      note(error, call, record, context);
      throw error instanceof HallError && error.code === "UNAVAILABLE"
        ? suggestOthers(error, target, { health, registry })
        : error;
    };
    return settle(() => next(call, context), record, fail);
  };

/** A built-in one knows better than we do what it lacks; a counter could only hide its advice. */
function isWatched({ source }: Toolkit): boolean {
  return source === "registered" || source === "upstream";
}

function settle(
  run: () => ReturnType<Next>,
  record: HealthRecord,
  fail: (error: unknown) => never,
): ReturnType<Next> {
  try {
    return run().then((outcome) => {
      record.succeeded();
      return outcome;
    }, fail);
  } catch (error) {
    return fail(error);
  }
}

/** Failures that say something about the toolkit and not about the call. */
const telling: ReadonlySet<ErrorCode> = new Set(["UNAVAILABLE", "TIMEOUT", "OVERLOADED"]);

function note(error: unknown, call: Call, record: HealthRecord, { scope }: CallContext): void {
  if (
    scope.cancelled ||
    !(error instanceof HallError) ||
    (error.code === "TIMEOUT" && isHasty(call))
  ) {
    record.abandoned();
    return;
  }
  const { toolkit } = getTarget(call);
  const problem = toolkit.problem?.();
  if (!telling.has(error.code)) {
    // It answered, if only to say no.
    if (error.code === "BAD_ANSWER" || error.code === "INTERNAL") record.abandoned();
    else record.succeeded();
  } else if (error.code === "UNAVAILABLE" && problem !== undefined) {
    // Whoever knows that it is down also knows when to try again.
    record.abandoned();
    record.lost(problem);
  } else if (toolkit.source === "upstream") {
    // Its supervisor rests it when it is down; a tool that is slow says nothing about the others.
    record.abandoned();
  } else record.failed(error.message);
}

/** A caller that waited less than the tool may take has learnt nothing about it. */
function isHasty(call: Call): boolean {
  const { facts } = getTarget(call).tool;
  return (
    call.timeoutMs !== undefined && call.timeoutMs < (facts?.timeoutMs ?? Number.POSITIVE_INFINITY)
  );
}

function restingError({ toolkit }: Target, record: HealthRecord, waitMs: number): HallError {
  const { health } = record;
  const reason = "reason" in health ? health.reason : "it is being tried again";
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const state = health.state === "maintenance" ? "in maintenance" : "not available";
  return new HallError(
    "UNAVAILABLE",
    `${toolkit.id} is ${state} (${reason}); it is tried again in ${retryAfterSeconds} s`,
    { details: { retryAfterSeconds } },
  );
}

const othersMax = 5;

/** Says what is limited and what of the same category works. */
function suggestOthers(
  error: HallError,
  { toolkit, fullName }: Target,
  { health, registry }: { readonly health: HealthBook; readonly registry: Registry },
): HallError {
  const { category } = toolkit;
  const isFit = (other: Toolkit): boolean => {
    const { state } = health.record(other).health;
    return (
      other !== toolkit &&
      category !== undefined &&
      other.category === category &&
      state !== "unavailable" &&
      state !== "maintenance"
    );
  };
  const alternatives = registry
    .tools()
    .filter((other) => isFit(other.toolkit))
    .slice(0, othersMax)
    .map((other) => other.fullName);
  const instead = alternatives.length > 0 ? ` Instead there is: ${alternatives.join(", ")}.` : "";
  return new HallError("UNAVAILABLE", error.message, {
    cause: error,
    details: { ...error.details, limited: fullName, alternatives },
    hint: `${error.hint}${instead}`,
    ...(error.relayed ? { relayed: error.relayed } : {}),
  });
}
