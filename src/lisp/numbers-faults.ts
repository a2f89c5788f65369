/** The conditions arithmetic signals. */
import type { Machine } from "./machine.ts";
import { cl } from "./symbol.ts";
import { list, type Value } from "./values.ts";

export function divisionByZero(m: Machine, operation: string, ...operands: Value[]): never {
  m.error("DIVISION-BY-ZERO", { OPERATION: cl(operation), OPERANDS: list(...operands) });
}

export function floatOverflow(m: Machine, operation: string, ...operands: Value[]): never {
  m.error("FLOATING-POINT-OVERFLOW", { OPERATION: cl(operation), OPERANDS: list(...operands) });
}

export function noComplex(m: Machine, operation: string, ...operands: Value[]): never {
  const call = `(${[operation, ...operands.map((value) => m.show(value))].join(" ")})`;
  m.unavailable(
    cl("COMPLEX"),
    `${call} would be a complex number, and there are none here; keep to arguments with a real result`,
  );
}
