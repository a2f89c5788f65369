import type { HealthBook } from "../registry/health.ts";
import type { Registry } from "../registry/registry.ts";
import { breakCircuits } from "./breaker.ts";
import { checkResult } from "./check-result.ts";
import { type Capacities, limitConcurrency } from "./concurrency.ts";
import { withDeadline } from "./deadline.ts";
import { limitRates, type RateLimits } from "./rate-limit.ts";
import { type CallRecords, recordCalls } from "./record.ts";
import { retryIdempotent } from "./retry.ts";
import type { Validators } from "./schema.ts";
import { getTarget, type Next, type Stage } from "./stage.ts";
import { validateArguments } from "./validate.ts";

export interface Gateway {
  /** The one way to run a tool. Throws HallError. */
  call: Next;
}

export interface GatewayOptions {
  readonly registry: Registry;
  readonly records: CallRecords;
  /** Deadline of tools that set none. */
  readonly timeoutMs: number;
  readonly validators: Validators;
  readonly health: HealthBook;
  /** Without them nobody is limited. */
  readonly rates?: RateLimits | undefined;
  readonly capacities?: Capacities | undefined;
}

export function createGateway({ registry, records, timeoutMs, validators, health, rates, capacities }: GatewayOptions): Gateway {
  // The order every call takes, outermost first.
  const stages: readonly Stage[] = [
    recordCalls(records),
    resolveName(registry),
    ...(rates ? [limitRates(rates)] : []),
    validateArguments(validators),
    breakCircuits({ health, registry }),
    withDeadline(timeoutMs),
    ...(capacities ? [limitConcurrency(capacities)] : []),
    retryIdempotent(),
    checkResult(validators),
  ];
  return { call: stages.reduceRight<Next>((next, stage) => stage(next), runTool) };
}

const resolveName =
  (registry: Registry): Stage =>
  (next) =>
  (call, context) => {
    call.target = registry.findTool(call.name);
    if (call.target) return next(call, context);
    // A client may know the name from a hall before this one; its server is being looked at.
    const looking = registry.looking(call.name);
    const run = (): ReturnType<Next> => {
      call.target = registry.getTool(call.name);
      return next(call, context);
    };
    return looking ? context.scope.race(looking).then(run) : run();
  };

const runTool: Next = (call, context) => {
  const { toolkit, tool } = getTarget(call);
  return toolkit.call(tool, call.arguments, context);
};
