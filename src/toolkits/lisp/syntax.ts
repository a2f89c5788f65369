import { defaultBudgets } from "../../lisp/budgets.ts";
import { reportOf, Unhandled } from "../../lisp/conditions.ts";
import { createLisp, type Lisp } from "../../lisp/lisp.ts";
import { Reader } from "../../lisp/reader.ts";
import type { Outcome } from "../../tool.ts";

/** What reading a text comes to, without running any of it. */
export type Syntax =
  | { readonly kind: "whole"; readonly forms: number }
  /** It ends inside a form. */
  | { readonly kind: "unfinished"; readonly problem: string }
  | { readonly kind: "wrong"; readonly problem: string };

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
      if (!(thrown instanceof Unhandled)) throw thrown;
      const { condition } = thrown;
      const isUnfinished = condition.cls.precedence.some(({ name }) => name.name === "END-OF-FILE");
      return { kind: isUnfinished ? "unfinished" : "wrong", problem: reportOf(machine, condition) };
    }
  });
}

export function checkSyntax(code: string): Outcome {
  const syntax = readForms(code);
  const text = syntax.kind === "whole" ? `${syntax.forms} ${syntax.forms === 1 ? "form" : "forms"}, well written.` : syntax.problem;
  return { content: [{ type: "text", text }], structuredContent: { isValid: syntax.kind === "whole", ...syntax } };
}
