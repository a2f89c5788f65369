/** The four equalities as functions, and `not`. */
import { defineFunction } from "../define.ts";
import { eql, equal, equalp } from "../equality.ts";
import { bool, NIL } from "../symbol.ts";
import type { Value } from "../values.ts";

export function defineEquality(): void {
  defineFunction("EQ", "x y", (_, x: Value, y: Value) => bool(x === y));
  defineFunction("EQL", "x y", (_, x: Value, y: Value) => bool(eql(x, y)));
  defineFunction("EQUAL", "x y", (m, x: Value, y: Value) => bool(equal(m, x, y)));
  defineFunction("EQUALP", "x y", (m, x: Value, y: Value) => bool(equalp(m, x, y)));
  defineFunction("NOT", "x", (_, x: Value) => bool(x === NIL));
}
