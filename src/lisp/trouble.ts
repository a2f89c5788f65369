// What the host throws, as conditions: its stack may overflow, a text may get too long, and a native may be wrong.

import { Ended } from "./budgets.ts";
import { Unhandled } from "./conditions.ts";
import { exceed } from "./exceed.ts";
import { dearSteps, type Machine } from "./machine.ts";
import { Transfer } from "./transfer.ts";

/** Signals the condition for something thrown; what is no error of the host goes on its way. */
export function asCondition(m: Machine, thrown: unknown): never {
  if (thrown instanceof Transfer || thrown instanceof Unhandled || thrown instanceof Ended)
    throw thrown;
  m.tick(dearSteps);
  if (thrown instanceof RangeError) exceed(m, isOverflow(thrown) ? "DEPTH" : "CELL");
  m.fail(`internal error: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}

export function isHostTrouble(thrown: unknown): boolean {
  return thrown instanceof Error;
}

const isOverflow = (thrown: RangeError): boolean => thrown.message.includes("call stack");
