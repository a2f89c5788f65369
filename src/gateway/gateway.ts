import type { Registry } from "../registry/registry.ts";
import { checkResult } from "./check-result.ts";
import { withDeadline } from "./deadline.ts";
import { type CallRecords, recordCalls } from "./record.ts";
import { createValidators } from "./schema.ts";
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
  /** Hears of schemas we cannot check in full. */
  warn(message: string): void;
}

export function createGateway({ registry, records, timeoutMs, warn }: GatewayOptions): Gateway {
  const validators = createValidators({ warn });
  // The order every call takes, outermost first.
  const stages: readonly Stage[] = [
    recordCalls(records),
    resolveName(registry),
    validateArguments(validators),
    withDeadline(timeoutMs),
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
