import { defaultBudgets } from "../../lisp/budgets.ts";
import { reportOf, Unhandled } from "../../lisp/conditions.ts";
import { createLisp, type Lisp } from "../../lisp/lisp.ts";
import { Reader } from "../../lisp/reader.ts";
import type { Syntax } from "./protocol.ts";

let reading: Lisp | undefined;

export function readForms(code: string): Syntax {
  reading ??= createLisp();
  const { machine } = reading;
  return machine.enter({ ...defaultBudgets, timeMs: 2_000 }, (): Syntax => {
    const reader = new Reader(machine, code);
    // Symbols of packages that the program would make need not exist.
    reader.suppress = true;
    let forms = 0;
    try {
      while (reader.next() !== undefined) forms++;
      return { kind: "whole", forms };
    } catch (thrown) {
      // A list that goes round, or one too deep for the stack.
      if (thrown instanceof RangeError)
        return { kind: "wrong", problem: "the code is too long or too deep to be read" };
      if (!(thrown instanceof Unhandled)) throw thrown;
      const { condition } = thrown;
      const isUnfinished = condition.cls.precedence.some(({ name }) => name.name === "END-OF-FILE");
      return { kind: isUnfinished ? "unfinished" : "wrong", problem: reportOf(machine, condition) };
    }
  });
}
