// Conditions of objects and generic functions that the standard has no name for.
import { plainSlot, sharedClass } from "../classes.ts";
import { conditionSlot, slotName } from "../conditions.ts";
import type { Machine } from "../machine.ts";
import { Str } from "../string.ts";
import { keyword } from "../symbol.ts";
import type { Value } from "../values.ts";

const failures: readonly [name: string, above: string][] = [
  ["%NO-METHOD", "ERROR"],
  ["%MISSING-SLOT", "CELL-ERROR"],
  ["%MISSING-CLASS", "CELL-ERROR"],
];

export function defineFailures(): void {
  for (const [name, above] of failures) {
    sharedClass(name, "condition", [above], [plainSlot(slotName("TEXT"), keyword("TEXT"))]).report =
      (_, condition) => String(conditionSlot(condition, "TEXT"));
  }
}

export function missingClass(m: Machine, name: Value): never {
  return m.error("%MISSING-CLASS", {
    NAME: name,
    TEXT: new Str(`there is no class named ${m.show(name)}`),
  });
}
