import { createLisp } from "../../src/lisp/lisp.ts";
import type { Program, Result } from "./programs.ts";

/** The standard condition classes that test/lisp/oracle.lisp distinguishes. */
const standard = new Set(
  `TYPE-ERROR UNBOUND-VARIABLE UNBOUND-SLOT UNDEFINED-FUNCTION DIVISION-BY-ZERO ARITHMETIC-ERROR FLOATING-POINT-OVERFLOW FLOATING-POINT-UNDERFLOW
FLOATING-POINT-INVALID-OPERATION PROGRAM-ERROR CONTROL-ERROR PARSE-ERROR READER-ERROR END-OF-FILE STREAM-ERROR FILE-ERROR PACKAGE-ERROR CELL-ERROR
PRINT-NOT-READABLE SIMPLE-ERROR SIMPLE-WARNING STYLE-WARNING STORAGE-CONDITION WARNING ERROR SERIOUS-CONDITION`.split(
    /\s+/,
  ),
);

/** Runs each program in a session of its own. */
export function runOurs(programs: readonly Program[]): Map<string, Result> {
  return new Map(programs.map(({ name, source }) => [name, run(source)]));
}

function run(source: string): Result {
  const { values, output, condition } = createLisp().evaluate(source);
  return {
    values,
    output,
    condition: condition === null ? undefined : portableType(condition.value?.cls.precedence ?? []),
  };
}

/** The first class that the standard or the program defines. */
function portableType(
  precedence: readonly {
    readonly name: { readonly name: string; readonly pkg: { readonly locked: boolean } | null };
  }[],
): string {
  return (
    precedence.find(({ name }) => name.pkg?.locked !== true || standard.has(name.name))?.name
      .name ?? "CONDITION"
  );
}
