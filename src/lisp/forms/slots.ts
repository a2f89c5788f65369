// Slots of objects, structures and conditions.
import {
  defineFunction,
  defineMacro,
  defineSetter,
  form,
  named,
  type Template,
} from "../define.ts";
import type { Machine } from "../machine.ts";
import { Instance, type Slot } from "../object.ts";
import { Str } from "../string.ts";
import { bool, NIL, Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import { bringUpToDate } from "./class-table.ts";
import { defineStandardGeneric } from "./standard-generics.ts";

export function defineSlots(): void {
  defineFunction("SLOT-VALUE", "object slot-name", slotValue, { values: true });
  defineSetter(
    "SLOT-VALUE",
    "value object slot-name",
    (m, value: Value, object: Value, name: Sym) => setSlotValue(m, object, name, value),
  );
  defineFunction("SLOT-BOUNDP", "object slot-name", (m, object: Value, name: Sym) => {
    const found = placeOf(object, name);
    return found === undefined
      ? slotMissing(m, object, name, "SLOT-BOUNDP")
      : bool(readPlace(found) !== undefined);
  });
  defineFunction("SLOT-MAKUNBOUND", "object slot-name", (m, object: Value, name: Sym) => {
    const found = placeOf(object, name);
    if (found === undefined) return slotMissing(m, object, name, "SLOT-MAKUNBOUND");
    writePlace(found, undefined);
    return object;
  });
  defineFunction("SLOT-EXISTS-P", "object slot-name", (_, object: Value, name: Sym) =>
    bool(placeOf(object, name) !== undefined),
  );
  defineStandardGeneric("SLOT-UNBOUND", 3, (m, _, object, name) =>
    m.error("UNBOUND-SLOT", { NAME: name as Value, INSTANCE: object as Value }),
  );
  defineStandardGeneric("SLOT-MISSING", 4, noSuchSlot, { optional: 1 });
  defineMacro("WITH-SLOTS", (whole, _, m) =>
    withPlaces(m, whole, (object, slot) => ["SLOT-VALUE", object, ["QUOTE", slot]]),
  );
  defineMacro("WITH-ACCESSORS", (whole, _, m) =>
    withPlaces(m, whole, (object, accessor) => [accessor, object]),
  );
}

interface Place {
  readonly object: Instance;
  readonly slot: Slot;
  readonly index: number;
}

function placeOf(object: Value, name: Sym): Place | undefined {
  if (!(object instanceof Instance)) return undefined;
  const index = object.cls.slotIndex.get(name);
  if (index !== undefined) return { object, index, slot: object.cls.slots[index] as Slot };
  return bringUpToDate(object) ? placeOf(object, name) : undefined;
}

const readPlace = ({ object, slot, index }: Place): Value | undefined =>
  slot.shared === null ? object.slots[index] : slot.shared.value;

function writePlace({ object, slot, index }: Place, value: Value | undefined): void {
  if (slot.shared === null) object.slots[index] = value;
  else slot.shared.value = value;
}

export function slotValue(m: Machine, object: Value, name: Sym): Value {
  m.mv = null;
  if (object instanceof Instance) {
    const index = object.cls.slotIndex.get(name);
    const value = index === undefined ? undefined : object.slots[index];
    if (value !== undefined) return value;
  }
  const found = placeOf(object, name);
  if (found === undefined) return slotMissing(m, object, name, "SLOT-VALUE");
  return readPlace(found) ?? m.apply(m.fn(named("SLOT-UNBOUND")), [found.object.cls, object, name]);
}

export function setSlotValue(m: Machine, object: Value, name: Sym, value: Value): Value {
  const found = placeOf(object, name);
  if (found === undefined) return slotMissing(m, object, name, "SETF", value);
  writePlace(found, value);
  return value;
}

function slotMissing(
  m: Machine,
  object: Value,
  name: Value,
  operation: string,
  ...value: Value[]
): Value {
  return m.apply(m.fn(named("SLOT-MISSING")), [
    m.call1(m.fn(named("CLASS-OF")), object),
    object,
    name,
    named(operation),
    ...value,
  ]);
}

function noSuchSlot(
  m: Machine,
  _: Value | undefined,
  object: Value = NIL,
  name: Value = NIL,
): Value {
  return m.error("%MISSING-SLOT", {
    NAME: name,
    TEXT: new Str(`there is no slot ${m.show(name)} in ${m.show(object)}`),
  });
}

/** `(with-… (variable | (variable name) …) object body)`: each variable stands for a place of the object. */
function withPlaces(m: Machine, whole: Cons, place: (object: Sym, name: Value) => Template): Value {
  const [entries = NIL, object = NIL, ...body] = itemsOf(whole.cdr);
  const holder = new Sym("OBJECT", null);
  const macros = itemsOf(entries).map((entry): Template => {
    const [variable, name] = entry instanceof Cons ? itemsOf(entry) : [entry, entry];
    if (!(variable instanceof Sym) || name === undefined)
      return m.programError(`${m.show(whole.car)} cannot bind ${m.show(entry)}`);
    return [variable, place(holder, name)];
  });
  return form(["LET", [[holder, object]], ["SYMBOL-MACROLET", macros, ...body]]);
}
