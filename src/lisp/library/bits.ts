/** Integers as bits: the logical functions, shifts and byte fields. */
import { defineConstant, defineFunction } from "../define.ts";
import type { Machine } from "../machine.ts";
import { type Int, toInteger } from "../numbers.ts";
import {
  bitAt,
  combineBits,
  countBits,
  invertBits,
  lengthInBits,
  loadField,
  shiftBits,
  storeField,
} from "../numbers-bits.ts";
import { bool } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";

export function defineBits(): void {
  defineFunction("LOGAND", "&rest integers", (m, integers: Value[]) =>
    fold(m, integers, -1, (a, b) => combineBits(m, "and", a, b)),
  );
  defineFunction("LOGIOR", "&rest integers", (m, integers: Value[]) =>
    fold(m, integers, 0, (a, b) => combineBits(m, "or", a, b)),
  );
  defineFunction("LOGXOR", "&rest integers", (m, integers: Value[]) =>
    fold(m, integers, 0, (a, b) => combineBits(m, "xor", a, b)),
  );
  defineFunction("LOGEQV", "&rest integers", (m, integers: Value[]) =>
    fold(m, integers, -1, (a, b) => invertBits(m, combineBits(m, "xor", a, b))),
  );
  defineFunction("LOGNOT", "integer", (m, value: Value) => invertBits(m, value));
  for (const name of pairs.keys())
    defineFunction(`LOG${name}`, "integer1 integer2", (m, a: Value, b: Value) =>
      pair(m, name, a, b),
    );
  defineFunction("LOGTEST", "integer1 integer2", (m, a: Value, b: Value) =>
    bool(combineBits(m, "and", a, b) !== 0),
  );
  defineFunction("LOGBITP", "index integer", (m, index: Value, value: Value) =>
    bool(bitAt(m, index, value)),
  );
  defineFunction("LOGCOUNT", "integer", (m, value: Value) => countBits(m, value));
  defineFunction("INTEGER-LENGTH", "integer", (m, value: Value) => lengthInBits(m, value));
  defineFunction("ASH", "integer count", (m, value: Value, count: Value) =>
    shiftBits(m, value, count),
  );
  defineFields();
  defineBoole();
}

const pairs: ReadonlyMap<string, (m: Machine, a: Value, b: Value) => Int> = new Map([
  ["NAND", (m, a, b) => invertBits(m, combineBits(m, "and", a, b))],
  ["NOR", (m, a, b) => invertBits(m, combineBits(m, "or", a, b))],
  ["ANDC1", (m, a, b) => combineBits(m, "and", invertBits(m, a), b)],
  ["ANDC2", (m, a, b) => combineBits(m, "and", a, invertBits(m, b))],
  ["ORC1", (m, a, b) => combineBits(m, "or", invertBits(m, a), b)],
  ["ORC2", (m, a, b) => combineBits(m, "or", a, invertBits(m, b))],
]);

function pair(m: Machine, name: string, a: Value, b: Value): Int {
  return pairs.get(name)?.(m, a, b) ?? 0;
}

function fold(
  m: Machine,
  integers: Value[],
  unit: number,
  combine: (a: Int, b: Value) => Int,
): Int {
  let sum: Int = integers.length === 0 ? unit : toInteger(m, integers[0] as Value);
  for (let at = 1; at < integers.length; at += 1) sum = combine(sum, integers[at] as Value);
  return sum;
}

/** A byte specifier is a pair of size and position, as in SBCL. */
function defineFields(): void {
  defineFunction("BYTE", "size position", (m, size: Value, position: Value) =>
    m.cons(fieldEnd(m, size), fieldEnd(m, position)),
  );
  defineFunction("BYTE-SIZE", "bytespec", (m, spec: Value) => field(m, spec).size);
  defineFunction("BYTE-POSITION", "bytespec", (m, spec: Value) => field(m, spec).position);
  defineFunction("LDB", "bytespec integer", (m, spec: Value, value: Value) => {
    const { size, position } = field(m, spec);
    return loadField(m, size, position, value);
  });
  defineFunction("LDB-TEST", "bytespec integer", (m, spec: Value, value: Value) => {
    const { size, position } = field(m, spec);
    return bool(loadField(m, size, position, value) !== 0);
  });
  defineFunction("MASK-FIELD", "bytespec integer", (m, spec: Value, value: Value) => {
    const { size, position } = field(m, spec);
    return shiftBits(m, loadField(m, size, position, value), position);
  });
  defineFunction("DPB", "newbyte bytespec integer", (m, part: Value, spec: Value, value: Value) => {
    const { size, position } = field(m, spec);
    return storeField(m, part, size, position, value);
  });
  defineFunction(
    "DEPOSIT-FIELD",
    "newbyte bytespec integer",
    (m, part: Value, spec: Value, value: Value) => {
      const { size, position } = field(m, spec);
      return storeField(m, loadField(m, size, position, part), size, position, value);
    },
  );
}

function field(m: Machine, spec: Value): { size: number; position: number } {
  if (!(spec instanceof Cons)) return m.typeError(spec, "CONS");
  return { size: fieldEnd(m, spec.car), position: fieldEnd(m, spec.cdr) };
}

function fieldEnd(m: Machine, value: Value): number {
  return typeof value === "number" && value >= 0 && value <= 1e9
    ? value
    : m.typeError(value, "UNSIGNED-BYTE");
}

const booleNames = [
  "CLR",
  "SET",
  "1",
  "2",
  "C1",
  "C2",
  "AND",
  "IOR",
  "XOR",
  "EQV",
  "NAND",
  "NOR",
  "ANDC1",
  "ANDC2",
  "ORC1",
  "ORC2",
];

function defineBoole(): void {
  booleNames.forEach((name, index) => {
    defineConstant(`BOOLE-${name}`, index);
  });
  defineFunction("BOOLE", "op integer1 integer2", (m, op: Value, a: Value, b: Value) => {
    const name = typeof op === "number" ? booleNames[op] : undefined;
    switch (name) {
      case undefined:
        return m.typeError(op, "(MOD 16)");
      case "CLR":
        return 0;
      case "SET":
        return -1;
      case "1":
        return toInteger(m, a);
      case "2":
        return toInteger(m, b);
      case "C1":
        return invertBits(m, a);
      case "C2":
        return invertBits(m, b);
      case "AND":
        return combineBits(m, "and", a, b);
      case "IOR":
        return combineBits(m, "or", a, b);
      case "XOR":
        return combineBits(m, "xor", a, b);
      case "EQV":
        return invertBits(m, combineBits(m, "xor", a, b));
      default:
        return pair(m, name, a, b);
    }
  });
}
