// A tool's failure as a condition: one class for each kind of failure, all of them TOOL-ERROR.
import { plainSlot, sharedClass } from "../../lisp/classes.ts";
import { conditionSlot, makeCondition, slotName } from "../../lisp/conditions.ts";
import { defineFunction, named } from "../../lisp/define.ts";
import type { Machine } from "../../lisp/machine.ts";
import { Str } from "../../lisp/string.ts";
import { NIL } from "../../lisp/symbol.ts";
import type { Instance, Value } from "../../lisp/values.ts";
import { toLisp } from "./json.ts";
import type { Failure, HallRequest } from "./protocol.ts";

const kinds: Partial<Record<Failure["code"], string>> = {
  NOT_FOUND: "TOOL-NOT-FOUND",
  TOOLKIT_NOT_FOUND: "TOOL-NOT-FOUND",
  VALIDATION: "TOOL-VALIDATION-ERROR",
  INVALID_PARAMS: "TOOL-VALIDATION-ERROR",
  DENIED: "TOOL-DENIED",
  APPROVAL_NEEDED: "APPROVAL-NEEDED",
  TIMEOUT: "TOOL-TIMEOUT",
  UNAVAILABLE: "TOOL-UNAVAILABLE",
  RATE_LIMITED: "TOOL-RATE-LIMITED",
  OVERLOADED: "TOOL-RATE-LIMITED",
  EXECUTION: "TOOL-EXECUTION-ERROR",
  BUDGET: "CALL-BUDGET-EXCEEDED",
};

const errorSlots = ["NAME", "CODE", "TEXT", "DATA"] as const;

export function defineToolErrors(): void {
  const slots = errorSlots.map((slot) => plainSlot(slotName(slot)));
  sharedClass("GUILDHALL:TOOL-ERROR", "condition", ["ERROR"], slots).report = (m, condition) => {
    const text = conditionSlot(condition, "TEXT");
    return text instanceof Str
      ? text.toString()
      : `${m.show(conditionSlot(condition, "NAME") ?? NIL)} failed`;
  };
  for (const name of new Set(Object.values(kinds)))
    sharedClass(`GUILDHALL:${name}`, "condition", ["GUILDHALL:TOOL-ERROR"]);
  for (const slot of errorSlots) {
    defineFunction(
      `GUILDHALL:TOOL-ERROR-${slot === "TEXT" ? "MESSAGE" : slot}`,
      "condition",
      (m: Machine, condition: Value) => {
        const value = conditionSlot(condition as Instance, slot);
        return value ?? m.typeError(condition, named("GUILDHALL:TOOL-ERROR"));
      },
    );
  }
}

export function toCondition(
  m: Machine,
  request: HallRequest,
  { code, message, hint, details }: Failure,
): Instance {
  const name = request.kind === "call" || request.kind === "schema" ? request.name : request.kind;
  return makeCondition(`GUILDHALL:${kinds[code] ?? "TOOL-ERROR"}`, {
    NAME: m.string(name),
    CODE: m.string(code),
    TEXT: m.string(hint === undefined || message.includes(hint) ? message : `${message} (${hint})`),
    DATA: details === undefined ? NIL : toLisp(m, details),
  });
}
