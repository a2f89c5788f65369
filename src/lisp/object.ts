// Objects with slots: structures, conditions, instances of `defclass`; and their classes.
import type { Machine } from "./machine.ts";
import type { Sym } from "./symbol.ts";
import type { Value } from "./values.ts";

/** A class as `find-class` answers it: built in, of a structure, of conditions, or made by `defclass`. */
export class LispClass {
  readonly name: Sym;
  readonly kind: "built-in" | "structure" | "condition" | "standard";
  supers: LispClass[];
  /** The class precedence list, this class first. */
  precedence: LispClass[];
  /** Effective slots in the order of `Instance.slots`. */
  slots: Slot[] = [];
  readonly slotIndex = new Map<Sym, number>();
  defaultInitargs: { readonly key: Sym; readonly init: (m: Machine) => Value }[] = [];
  /** Of a condition: says what happened. Inherited when null. */
  report: ((m: Machine, condition: Instance) => string) | null = null;
  documentation: string | null = null;
  /** What a definition module wants to remember with the class (structure options, for one). */
  readonly notes = new Map<string, unknown>();
  constructor(name: Sym, kind: LispClass["kind"], supers: LispClass[]) {
    this.name = name;
    this.kind = kind;
    this.supers = supers;
    this.precedence = [this];
  }
}

export interface Slot {
  readonly name: Sym;
  readonly initargs: readonly Sym[];
  /** Null where there is no initform. */
  readonly init: ((m: Machine) => Value) | null;
  /** The one place of a slot allocated in the class. */
  readonly shared: { value: Value | undefined } | null;
  readonly type: Value;
  readonly documentation: string | null;
  readonly readOnly: boolean;
}

/** A structure, a condition or an object of a `defclass`: its class says which. An unbound slot is undefined. */
export class Instance {
  cls: LispClass;
  slots: (Value | undefined)[];
  constructor(cls: LispClass, slots: (Value | undefined)[]) {
    this.cls = cls;
    this.slots = slots;
  }
}
