// `defclass`, `find-class` and `class-of`. `define-condition` (core/handling.ts) uses the same slots and accessors.
import { classOf, findClass } from "../classes.ts";
import {
  defineFunction,
  defineMacro,
  defineSetter,
  lisp,
  named,
  nativeFunction,
  shapeOf,
} from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { refuseLocked } from "../packages.ts";
import { Str } from "../string.ts";
import { isKeyword, NIL, Sym, T, words } from "../symbol.ts";
import { Cons, Instance, itemsOf, LispClass, list, type Slot, type Value } from "../values.ts";
import { defineClass, missingClass, refuseRepeated } from "./class-table.ts";
import { setSlotValue, slotValue } from "./instances.ts";
import { addMethod, openGeneric } from "./methods.ts";
import { defineStandardGeneric } from "./standard-generics.ts";

export function defineClassForms(): void {
  defineMacro("DEFCLASS", (whole, _, m) => expandClass(m, itemsOf(whole.cdr)));
  defineFunction(
    "%DEFINE-CLASS name supers slots default-initargs documentation",
    (m, name: Sym, supers, slots, defaults, documentation) => {
      refuseLocked(m, name, "define");
      const cls = defineClass(m, {
        name,
        supers: itemsOf(supers) as Sym[],
        slots: itemsOf(slots).map(itemsOf).map(slotOf),
        defaultInitargs: initargsOf(defaults),
        documentation: documentation instanceof Str ? documentation.toString() : null,
      });
      addAccessors(m, name, slots);
      return cls;
    },
  );
  defineFunction("FIND-CLASS name &optional errorp environment", (m, name, errorp = T) => {
    const found = name instanceof Sym ? findClass(m, name) : undefined;
    if (found === undefined && errorp !== NIL) return missingClass(m, name);
    return found ?? NIL;
  });
  defineFunction("CLASS-OF object", (_, object) => classOf(object));
  defineSetter("FIND-CLASS value name &optional errorp environment", (m, cls, name: Sym) => {
    refuseLocked(m, name, "define");
    if (cls instanceof LispClass) m.classes.set(name, cls);
    else m.classes.delete(name);
    return cls;
  });
  const classIn = (m: Machine, cls: Value): LispClass =>
    cls instanceof LispClass ? cls : m.typeError(cls, "CLASS");
  defineStandardGeneric("CLASS-NAME class", (m, cls) => classIn(m, cls).name);
  defineSetter("CLASS-NAME name class", (m, name: Sym, cls) => {
    refuseLocked(m, classIn(m, cls).name, "rename");
    classIn(m, cls).name = name;
    return name;
  });
}

// ---- expansion: names and options are quoted; initforms become functions, because they run for each new object

function expandClass(
  m: Machine,
  [name = NIL, supers = NIL, slots = NIL, ...options]: readonly Value[],
): Value {
  if (!(name instanceof Sym) || name === NIL)
    return m.programError(`DEFCLASS requires a name, not ${m.show(name)}`);
  let [defaults, documentation]: [Value[], Value] = [[], NIL];
  const once = (names: readonly Value[]): void => refuseRepeated(m, "DEFCLASS", names);
  once(options.map((option) => itemsOf(option)[0] as Value));
  for (const option of options) {
    const [key, ...args] = itemsOf(option);
    if (isKeyword(key, "DEFAULT-INITARGS")) {
      once(pairs(args).map(([initarg]) => initarg));
      defaults = expandInitargs(args);
    } else if (isKeyword(key, "DOCUMENTATION")) documentation = args[0] ?? NIL;
    else if (!isKeyword(key, "METACLASS"))
      m.programError(`DEFCLASS does not support the option ${m.show(option)}`);
  }
  once(itemsOf(slots).map((slot) => (slot instanceof Cons ? slot.car : slot)));
  const described = itemsOf(slots).map((slot) => expandSlot(m, slot));
  return lisp`(%define-class '${name} '${supers} (list @${described}) (list @${defaults}) ${documentation})`;
}

function pairs(items: readonly Value[]): [Value, Value][] {
  return items.flatMap((item, index): [Value, Value][] =>
    index % 2 === 0 ? [[item, items[index + 1] ?? NIL]] : [],
  );
}

export const expandInitargs = (args: readonly Value[]): Value[] =>
  pairs(args).map(([initarg, value]) => lisp`(list '${initarg} ${initFunction(value)})`);

/** A list of one value for a constant, else a function; `initOf` reads both. */
function initFunction(initform: Value): Value {
  if (initform instanceof Cons && initform.car === named("QUOTE")) return lisp`(list ${initform})`;
  const isConstant =
    !(initform instanceof Cons) && (!(initform instanceof Sym) || initform.kind === "constant");
  return isConstant ? lisp`(list ${initform})` : lisp`#'(lambda () ${initform})`;
}

const slotOptions = new Set(
  words("INITARG INITFORM ACCESSOR READER WRITER ALLOCATION TYPE DOCUMENTATION"),
);

/** Options that a slot may have only once. */
const isOnce = (key: Value): boolean =>
  ["INITFORM", "ALLOCATION", "TYPE", "DOCUMENTATION"].some((name) => isKeyword(key, name));

export function expandSlot(m: Machine, slot: Value): Value {
  const [name, ...options] = slot instanceof Cons ? itemsOf(slot) : [slot];
  if (!(name instanceof Sym))
    return m.programError(`DEFCLASS requires a slot, not ${m.show(slot)}`);
  if (options.length % 2 === 1)
    return m.programError(`DEFCLASS: the slot ${m.show(name)} has an option without a value`);
  const given = pairs(options);
  refuseRepeated(m, "DEFCLASS", given.map(([key]) => key).filter(isOnce));
  for (const [key] of given)
    if (!(key instanceof Sym) || !slotOptions.has(key.name))
      m.programError(`a DEFCLASS slot does not support the option ${m.show(key)}`);
  const all = (name: string): Value[] =>
    given.flatMap(([option, value]) => (isKeyword(option, name) ? [value] : []));
  const [initform] = all("INITFORM");
  const accessors = all("ACCESSOR");
  const readers = [...all("READER"), ...accessors];
  const writers = [...all("WRITER"), ...accessors.map((one) => list(named("SETF"), one))];
  const init = initform === undefined ? NIL : initFunction(initform);
  const [[allocation], [type = T], [documentation]] = [
    all("ALLOCATION"),
    all("TYPE"),
    all("DOCUMENTATION"),
  ];
  return lisp`(list '${name} '${all("INITARG")} ${init} '${allocation} '${readers} '${writers} '${type} '${documentation})`;
}

// ---- definition

export function initargsOf(defaults: Value): LispClass["defaultInitargs"] {
  return itemsOf(defaults).map((entry) => {
    const [key, init] = itemsOf(entry);
    return { key: key as Sym, init: initOf(init as Value) ?? (() => NIL) };
  });
}

export function addAccessors(m: Machine, cls: Sym, slots: Value): void {
  for (const [slot, , , , readers = NIL, writers = NIL] of itemsOf(slots).map(itemsOf)) {
    for (const reader of itemsOf(readers)) addReader(m, reader, cls, slot as Sym);
    for (const writer of itemsOf(writers)) addWriter(m, writer, cls, slot as Sym);
  }
}

export function slotOf(described: readonly Value[]): Slot {
  const [name, initargs = NIL, init = NIL, allocation, , , type = T, documentation] = described;
  return {
    name: name as Sym,
    initargs: itemsOf(initargs) as Sym[],
    init: initOf(init),
    shared: isKeyword(allocation, "CLASS") ? { value: undefined } : null,
    type,
    documentation: documentation instanceof Str ? documentation.toString() : null,
    readOnly: false,
  };
}

function initOf(init: Value): Slot["init"] {
  if (init instanceof Fn) return (m) => m.call0(init);
  return init instanceof Cons ? () => init.car : null;
}

function addReader(m: Machine, reader: Value, cls: Sym, slot: Sym): void {
  // Most objects are of the same class as the last one, so the slot has the same index.
  let last: LispClass | null = null;
  let index = 0;
  const read = (mm: Machine, object: Value): Value => {
    if (object instanceof Instance && object.cls === last) {
      const value = object.slots[index];
      mm.mv = null;
      if (value !== undefined) return value;
    }
    const value = slotValue(mm, object, slot);
    if (object instanceof Instance) {
      last = object.cls;
      index = last.slotIndex.get(slot) ?? 0;
    }
    return value;
  };
  addAccessor(m, reader, [cls], nativeFunction(reader, "object", read, { values: true }));
}

function addWriter(m: Machine, writer: Value, cls: Sym, slot: Sym): void {
  const write = (mm: Machine, value: Value, object: Value) => setSlotValue(mm, object, slot, value);
  addAccessor(m, writer, [T, cls], nativeFunction(writer, "value object", write));
}

function addAccessor(m: Machine, name: Value, classes: readonly Sym[], fn: Fn): void {
  const shape = { ...shapeOf(""), required: classes.length };
  addMethod(openGeneric(m, name, shape), {
    qualifiers: [],
    specializers: classes.map((cls) => ({ kind: "class", name: cls })),
    shape,
    fn,
    usesNext: false,
  });
}
