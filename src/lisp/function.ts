// Functions and macros, the variables of a call, and requests to the host that a program waits for.
import type { Machine } from "./machine.ts";
import type { Cons, Opaque, Value } from "./values.ts";

/** A function: its code and, for a closure, the captured variables. */
export class Fn {
  readonly code: Code;
  readonly env: Value[];
  constructor(code: Code, env: Value[]) {
    this.code = code;
    this.env = env;
  }
}

/**
 * The entry points of a function: `c0` to `c3` take that many arguments, `cn` takes any number as an array.
 * For a tail call, an entry stores the call in the machine's registers and returns `TAIL` instead of a value, so only
 * `Machine.call…` and compiled code call these directly.
 */
export class Code {
  name: Value;
  c0: (m: Machine, fn: Fn) => Value;
  c1: (m: Machine, fn: Fn, a: Value) => Value;
  c2: (m: Machine, fn: Fn, a: Value, b: Value) => Value;
  c3: (m: Machine, fn: Fn, a: Value, b: Value, c: Value) => Value;
  cn: (m: Machine, fn: Fn, args: Value[]) => Value;
  /** True for functions written in TypeScript, which never return TAIL. */
  readonly native: boolean;
  /** True if the function always returns one value and may leave `m.mv`, the list of all values, stale. */
  readonly single: boolean;
  /** The lambda list as text, for `describe` and error messages. */
  lambdaList = "";
  documentation: string | null = null;
  /** For a native of fixed arity: the implementation, which compiled code calls directly. */
  direct: ((m: Machine, ...args: Value[]) => Value) | null = null;
  /** The smallest and the largest number of arguments of `direct`. */
  min = 0;
  max = 0;
  /** For a compiled function with only required parameters: their number, the size of its frame, and its body. */
  arity = -1;
  size = 0;
  body: (frame: Frame) => Value = noBody;
  /** The data of a generic function, or null. */
  generic: unknown = null;
  /** The analysed lambda of a compiled function. */
  lambda: unknown = null;
  constructor(name: Value, native: boolean, single: boolean) {
    this.name = name;
    this.native = native;
    this.single = single;
    this.cn = refuse;
    this.c0 = viaArray0;
    this.c1 = viaArray1;
    this.c2 = viaArray2;
    this.c3 = viaArray3;
  }
}

const refuse: Code["cn"] = () => {
  throw new TypeError("a function without code was called");
};
const noBody = (): Value => refuse(null as never, null as never, []);
const viaArray0: Code["c0"] = (m, fn) => fn.code.cn(m, fn, []);
const viaArray1: Code["c1"] = (m, fn, a) => fn.code.cn(m, fn, [a]);
const viaArray2: Code["c2"] = (m, fn, a, b) => fn.code.cn(m, fn, [a, b]);
const viaArray3: Code["c3"] = (m, fn, a, b, c) => fn.code.cn(m, fn, [a, b, c]);

/** A request to the host, such as a tool call. `Machine.waitFor` blocks until it is done. */
export interface Pending {
  readonly done: boolean;
}

export interface Macro {
  readonly expand: (form: Cons, env: Opaque, m: Machine) => Value;
  documentation: string | null;
}

/** Holds a variable that closures share and assign. Lives only in frames; never a value. */
export class Box {
  value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** The variables of one call: the function first, then its parameters and locals. */
export type Frame = Value[];
