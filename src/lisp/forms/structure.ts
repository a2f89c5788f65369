// Structures with a class of their own; `defstruct` of the prelude expands into these.
import { classNamed, findClass, plainSlot, setSlots } from "../classes.ts";
import { defineFunction, named, nativeFunction } from "../define.ts";
import type { Machine } from "../machine.ts";
import { setFunction } from "../packages.ts";
import { Str } from "../string.ts";
import { bool, NIL, type Sym } from "../symbol.ts";
import { Instance, itemsOf, LispClass, list, type Value } from "../values.ts";
import { registerClass } from "./class-table.ts";

export function defineStructures(): void {
  defineFunction(
    "%DEFINE-STRUCTURE name included slots predicate copier documentation",
    defineStructure,
  );
  defineFunction("%MAKE-STRUCTURE name &rest values", (m, name: Sym, values) => {
    m.alloc(values.length + 1);
    return new Instance(structureClass(m, name), values);
  });
  defineFunction("COPY-STRUCTURE structure", copyStructure);
}

/** Each slot is `(name type read-only accessor)`. */
function defineStructure(
  m: Machine,
  name: Sym,
  included: Sym,
  slots: Value,
  predicate: Value,
  copier: Value,
  documentation: Value,
): Value {
  const described = itemsOf(slots).map((slot) => itemsOf(slot) as [Sym, Value, Value, Sym]);
  const above = findClass(m, included) ?? classNamed("STRUCTURE-OBJECT");
  const cls = new LispClass(name, "structure", [above]);
  cls.precedence = [cls, ...above.precedence];
  setSlots(
    cls,
    described.map(([slot, type, readOnly]) => ({
      ...plainSlot(slot),
      type,
      readOnly: readOnly !== NIL,
    })),
  );
  if (documentation instanceof Str) cls.documentation = documentation.toString();
  registerClass(m, cls);
  described.forEach(([, , readOnly, accessor], index) => {
    defineAccessor(m, cls, accessor, index, readOnly !== NIL);
  });
  if (predicate !== NIL)
    setFunction(
      m,
      predicate,
      nativeFunction(predicate, "object", (_, object: Value) => bool(isA(object, cls))),
    );
  if (copier !== NIL) setFunction(m, copier, nativeFunction(copier, "structure", copyStructure));
  return name;
}

function defineAccessor(
  m: Machine,
  cls: LispClass,
  name: Sym,
  index: number,
  isReadOnly: boolean,
): void {
  setFunction(
    m,
    name,
    nativeFunction(name, "structure", (mm, structure: Value) =>
      isA(structure, cls) ? (structure.slots[index] ?? NIL) : mm.typeError(structure, cls.name),
    ),
  );
  if (isReadOnly) return;
  const setterName = list(named("SETF"), name);
  const setter = (mm: Machine, value: Value, structure: Value): Value => {
    if (!isA(structure, cls)) return mm.typeError(structure, cls.name);
    structure.slots[index] = value;
    return value;
  };
  setFunction(m, setterName, nativeFunction(setterName, "value structure", setter));
}

const isA = (object: Value, cls: LispClass): object is Instance =>
  object instanceof Instance && (object.cls === cls || object.cls.precedence.includes(cls));

function copyStructure(m: Machine, structure: Value): Value {
  if (!(structure instanceof Instance) || structure.cls.kind !== "structure")
    return m.typeError(structure, "STRUCTURE-OBJECT");
  m.alloc(structure.slots.length + 1);
  return new Instance(structure.cls, [...structure.slots]);
}

function structureClass(m: Machine, name: Sym): LispClass {
  return findClass(m, name) ?? m.fail(`unknown structure ${m.show(name)}`);
}
