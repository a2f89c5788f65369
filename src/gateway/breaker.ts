import { type ErrorCode, HallError } from "../base/errors.ts";
import type { HealthBook, HealthRecord } from "../registry/health.ts";
import type { Registry } from "../registry/registry.ts";
import type { Spell } from "../registry/shown-names.ts";
import type { CallContext, Target, Toolkit } from "../tool.ts";
import type { EndStage, ResolvedCall } from "./stage.ts";

/**
 * Circuit breaker. After several failures in a row, the calls of a toolkit fail at once, and one call at a time
 * tests whether it works again. The error names tools that could be used instead. Upstreams are retried by
 * their supervisor; for them this stage only records their health.
 */
export const breakCircuits = (parts: BreakerParts): EndStage => ({
  isNeeded: isOutside,
  begin(call, context) {
    const { target } = call;
    const { source } = target.toolkit;
    const record = parts.health.record(target.toolkit);
    const waitMs = source === "registered" ? record.admit() : 0;
    if (waitMs > 0) throw suggestOthers(restingError(target, record, waitMs), call, context, parts);
    return {
      succeeded(outcome) {
        record.succeeded();
        return outcome;
      },
      failed(error) {
        if (source === "registered") noteFailure(error, call, record, context);
        else noteDown(error, target.toolkit, record);
        throw error instanceof HallError && error.code === "UNAVAILABLE"
          ? suggestOthers(error, call, context, parts)
          : error;
      },
    };
  },
});

/** Built-in toolkits are not counted: their own error says what they need, and the breaker's would hide it. */
function isOutside({ toolkit: { source } }: Target): boolean {
  return source === "registered" || source === "upstream";
}

interface BreakerParts {
  readonly health: HealthBook;
  readonly registry: Registry;
  /** How the names of other tools are written. */
  readonly spell: Spell;
}

/** Failures that concern the service and not the call. */
const serviceFailures: ReadonlySet<ErrorCode> = new Set(["UNAVAILABLE", "TIMEOUT", "OVERLOADED"]);

function noteFailure(
  error: unknown,
  call: ResolvedCall,
  record: HealthRecord,
  { scope }: CallContext,
): void {
  const isOurs =
    scope.cancelReason ||
    !(error instanceof HallError) ||
    (error.code === "TIMEOUT" && isHasty(call)) ||
    error.code === "BAD_ANSWER" ||
    error.code === "INTERNAL";
  const { toolkit } = call.target;
  if (isOurs) record.abandoned();
  // It answered, if only with a refusal.
  else if (!serviceFailures.has(error.code)) record.succeeded();
  else if (error.code === "UNAVAILABLE" && toolkit.problem?.() !== undefined)
    noteDown(error, toolkit, record);
  else record.failed(error.message);
}

/** If a toolkit reports its own problem, record that: it also decides when to try again. */
function noteDown(error: unknown, toolkit: Toolkit, record: HealthRecord): void {
  record.abandoned();
  const problem = toolkit.problem?.();
  if (error instanceof HallError && error.code === "UNAVAILABLE" && problem !== undefined)
    record.lost(problem);
}

/** The caller waited less than the tool may take, so its timeout says nothing about the tool. */
function isHasty(call: ResolvedCall): boolean {
  const { facts } = call.target.tool;
  return (
    call.timeoutMs !== undefined && call.timeoutMs < (facts?.timeoutMs ?? Number.POSITIVE_INFINITY)
  );
}

function restingError({ toolkit }: Target, record: HealthRecord, waitMs: number): HallError {
  const { health } = record;
  const reason = "reason" in health ? health.reason : "being retried";
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const state = health.state === "maintenance" ? "in maintenance" : "not available";
  return new HallError(
    "UNAVAILABLE",
    `${toolkit.id} is ${state} (${reason}); retry in ${retryAfterSeconds} s`,
    { details: { retryAfterSeconds }, next: [{ do: "retry-after", seconds: retryAfterSeconds }] },
  );
}

const othersMax = 5;

/** Adds tools of the same category that work. */
function suggestOthers(
  error: HallError,
  { name, target: { toolkit } }: ResolvedCall,
  context: CallContext,
  { health, registry, spell }: BreakerParts,
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
    .map((other) => spell(other, context));
  const instead = alternatives.length > 0 ? `; available instead: ${alternatives.join(", ")}` : "";
  return new HallError("UNAVAILABLE", `${error.message}${instead}`, {
    cause: error,
    details: { ...error.details, limited: name, alternatives },
    hint: error.hint,
    next: error.next,
    relayed: error.relayed,
  });
}
