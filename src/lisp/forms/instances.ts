// Creation and initialisation of objects, and access to slots.
import { designatedClass } from "../classes.ts";
import { defineFunction, defineSetter, defineValues, named } from "../define.ts";
import type { Machine } from "../machine.ts";
import { bool, NIL, Sym, T } from "../symbol.ts";
import {
  findKeyword,
  Instance,
  itemsOf,
  type LispClass,
  type Slot,
  unknownKeyword,
  type Value,
} from "../values.ts";
import { latestOf, missingClass, missingSupers, moveTo } from "./class-table.ts";
import { applicableMethods, findGeneric } from "./generics.ts";
import { defineStandardGeneric, isExtended } from "./standard-generics.ts";

const makeInstance = named("MAKE-INSTANCE");
const allocateInstance = named("ALLOCATE-INSTANCE");
const initializeInstance = named("INITIALIZE-INSTANCE");
const reinitializeInstance = named("REINITIALIZE-INSTANCE");
const sharedInitialize = named("SHARED-INITIALIZE");
const updateDifferent = named("UPDATE-INSTANCE-FOR-DIFFERENT-CLASS");
const updateRedefined = named("UPDATE-INSTANCE-FOR-REDEFINED-CLASS");

export function defineInstances(): void {
  defineStandardGeneric("MAKE-INSTANCE class &rest initargs", (m, designator, initargs) => {
    const cls = instantiable(m, designator);
    return designator instanceof Sym && isExtended(m, makeInstance)
      ? m.apply(m.fn(makeInstance), [cls, ...initargs])
      : newInstance(m, cls, initargs);
  });
  defineStandardGeneric("ALLOCATE-INSTANCE class &rest initargs", (m, cls) =>
    allocate(m, instantiable(m, cls, "structure")),
  );
  defineStandardGeneric("CHANGE-CLASS object class &rest initargs", (m, object, cls, initargs) =>
    changeClass(m, object, instantiable(m, cls), initargs),
  );
  defineStandardGeneric("MAKE-INSTANCES-OBSOLETE class", (m, cls) => {
    instantiable(m, cls);
    return cls;
  });
  defineStandardGeneric("MAKE-LOAD-FORM object &optional environment", (m, object) =>
    m.fail(`no load form is defined for ${m.show(object)}`),
  );
  defineStandardGeneric("DESCRIBE-OBJECT object stream", (m, object, stream) =>
    m.call2(m.fn(named("%DESCRIBE")), object, stream),
  );
  defineStandardGeneric("INITIALIZE-INSTANCE object &rest initargs", (m, object, initargs) =>
    share(m, object, T, initargs),
  );
  defineStandardGeneric("REINITIALIZE-INSTANCE object &rest initargs", (m, object, initargs) => {
    if (!(object instanceof Instance)) return m.typeError(object, "STANDARD-OBJECT");
    update(m, object);
    refuseUnknown(m, object, initargs, [reinitializeInstance, sharedInitialize]);
    return share(m, object, NIL, initargs);
  });
  defineStandardGeneric(
    "UPDATE-INSTANCE-FOR-DIFFERENT-CLASS previous current &rest initargs",
    (m, previous: Instance, current: Instance, initargs) => {
      const names = current.cls.slots.map(({ name }) => name);
      const added = names.filter((name) => !previous.cls.slotIndex.has(name));
      return share(m, current, m.list(added), initargs);
    },
  );
  defineStandardGeneric(
    "UPDATE-INSTANCE-FOR-REDEFINED-CLASS object added discarded plist &rest initargs",
    (m, object, added, _discarded, _plist, initargs) => share(m, object, added, initargs),
  );
  defineStandardGeneric("SHARED-INITIALIZE object names &rest initargs", fillSlots);
}

function instantiable(
  m: Machine,
  designator: Value,
  also: LispClass["kind"] = "standard",
): LispClass {
  const cls = designatedClass(m, designator);
  if (cls === undefined) return missingClass(m, designator);
  const [missing] = missingSupers(cls);
  if (missing !== undefined)
    m.fail(
      `${m.show(cls.name)} cannot be instantiated: its superclass ${m.show(missing)} is not defined`,
    );
  if ((cls.kind !== "standard" && cls.kind !== also) || cls.precedence[0] !== cls)
    return m.fail(
      `${m.show(cls.name)} is a ${cls.kind} class; MAKE-INSTANCE makes objects of classes defined by DEFCLASS`,
    );
  return latestOf(cls);
}

function newInstance(m: Machine, cls: LispClass, given: Value[]): Value {
  const initargs = withDefaults(m, cls, given);
  const object = isExtended(m, allocateInstance)
    ? (m.apply(m.fn(allocateInstance), [cls, ...initargs]) as Instance)
    : allocate(m, cls);
  refuseUnknown(m, object, initargs, creation);
  if (isExtended(m, initializeInstance, sharedInitialize))
    m.apply(m.fn(initializeInstance), [object, ...initargs]);
  else fillSlots(m, object, T, initargs);
  return object;
}

function allocate(m: Machine, cls: LispClass): Instance {
  m.alloc(cls.slots.length + 1);
  return new Instance(cls, new Array<Value | undefined>(cls.slots.length).fill(undefined));
}

function withDefaults(m: Machine, cls: LispClass, given: Value[]): Value[] {
  if (cls.defaultInitargs.length === 0) return given;
  const missing = cls.defaultInitargs.filter(({ key }) => findKeyword(given, 0, key) < 0);
  return [...given, ...missing.flatMap(({ key, init }) => [key, init(m)])];
}

/** Those of `make-instance` take the class, the others the object. */
const creation = [makeInstance, allocateInstance, initializeInstance, sharedInitialize];

/** A keyword is valid if it fills a slot or an applicable method accepts it. */
function refuseUnknown(
  m: Machine,
  object: Instance,
  initargs: Value[],
  generics: readonly Sym[],
): void {
  if (initargs.length % 2 === 1)
    m.programError(`odd number of initialization arguments for ${m.show(object.cls.name)}`);
  const isKnown = (key: Value): boolean =>
    object.cls.slots.some((slot) => slot.initargs.includes(key as Sym)) ||
    generics.some((name) => isTakenBy(m, name, object, key as Sym));
  const unknown = unknownKeyword(initargs, 0, isKnown);
  if (unknown !== undefined)
    m.programError(
      `${m.show(object.cls.name)} has no slot for the initialization argument ${m.show(unknown)}`,
    );
}

function isTakenBy(m: Machine, name: Sym, object: Instance, key: Sym): boolean {
  const generic = findGeneric(m, name);
  if (generic === undefined) return false;
  const first = name === makeInstance || name === allocateInstance ? object.cls : object;
  return applicableMethods(generic, [first, T]).some(
    ({ handle, shape: { keys, allowOthers } }) =>
      handle.content !== null && keys !== null && (allowOthers || keys.includes(key)),
  );
}

/** Runs `shared-initialize`: the session's methods if there are any, else the native directly. */
function share(m: Machine, object: Value, names: Value, initargs: Value[]): Value {
  if (isExtended(m, sharedInitialize))
    m.apply(m.fn(sharedInitialize), [object, names, ...initargs]);
  else fillSlots(m, object, names, initargs);
  m.mv = null;
  return object;
}

/** The native `shared-initialize`. `names` are the slots to fill from initforms: T for all, or a list. */
function fillSlots(m: Machine, object: Value, names: Value, initargs: Value[]): Value {
  if (!(object instanceof Instance)) return m.typeError(object, "STANDARD-OBJECT");
  if (initargs.length % 2 === 1)
    m.programError(`odd number of initialization arguments for ${m.show(object.cls.name)}`);
  const { slots } = object.cls;
  for (let index = 0; index < slots.length; index++) {
    const slot = slots[index] as Slot;
    const given = slot.initargs.length === 0 ? undefined : initargOf(slot, initargs);
    if (given !== undefined) write(object, slot, index, given);
    else if (
      slot.init !== null &&
      isListed(names, slot.name) &&
      read(object, slot, index) === undefined
    )
      write(object, slot, index, slot.init(m));
  }
  m.mv = null;
  return object;
}

function initargOf({ initargs: keys }: Slot, initargs: readonly Value[]): Value | undefined {
  for (let at = 0; at < initargs.length; at += 2)
    if (keys.includes(initargs[at] as Sym)) return initargs[at + 1];
  return undefined;
}

const isListed = (names: Value, name: Sym): boolean => names === T || itemsOf(names).includes(name);

const read = (object: Instance, slot: Slot, index: number): Value | undefined =>
  slot.shared === null ? object.slots[index] : slot.shared.value;

function write(object: Instance, slot: Slot, index: number, value: Value | undefined): void {
  if (slot.shared === null) object.slots[index] = value;
  else slot.shared.value = value;
}

function changeClass(m: Machine, object: Value, cls: LispClass, initargs: Value[]): Value {
  if (!(object instanceof Instance) || object.cls.kind !== "standard")
    return m.typeError(object, "STANDARD-OBJECT");
  update(m, object);
  const previous = new Instance(object.cls, [...object.slots]);
  const added = moveTo(object, cls);
  refuseUnknown(m, object, initargs, [sharedInitialize, updateDifferent]);
  if (!isExtended(m, updateDifferent)) return share(m, object, m.list(added), initargs);
  m.apply(m.fn(updateDifferent), [previous, object, ...initargs]);
  m.mv = null;
  return object;
}

/** Brings an object of a redefined class up to date: new slots get the values of their initforms. */
function update(m: Machine, object: Instance): boolean {
  const latest = latestOf(object.cls);
  if (latest === object.cls) return false;
  const { cls, slots: values } = object;
  const added = m.list(moveTo(object, latest));
  const gone = cls.slots.flatMap(({ name, shared }, index) =>
    shared !== null || latest.slotIndex.has(name) ? [] : [{ name, value: values[index] }],
  );
  const names = m.list(gone.map(({ name }) => name));
  const plist = gone.flatMap(({ name, value }) => (value === undefined ? [] : [name, value]));
  if (!isExtended(m, updateRedefined)) share(m, object, added, []);
  else m.apply(m.fn(updateRedefined), [object, added, names, m.list(plist)]);
  return true;
}

// Slots of objects, structures and conditions.

export function defineSlots(): void {
  defineValues("SLOT-VALUE object slot-name", slotValue);
  defineSetter("SLOT-VALUE value object slot-name", (m, value, object, name: Sym) =>
    setSlotValue(m, object, name, value),
  );
  defineFunction("SLOT-BOUNDP object slot-name", (m, object, name: Sym) => {
    const found = placeOf(m, object, name);
    return found === undefined
      ? bool(slotMissing(m, object, name, "SLOT-BOUNDP") !== NIL)
      : bool(read(...found) !== undefined);
  });
  defineFunction("SLOT-MAKUNBOUND object slot-name", (m, object, name: Sym) => {
    const found = placeOf(m, object, name);
    if (found === undefined) slotMissing(m, object, name, "SLOT-MAKUNBOUND");
    else write(...found, undefined);
    return object;
  });
  defineFunction("SLOT-EXISTS-P object slot-name", (m, object, name: Sym) =>
    bool(placeOf(m, object, name) !== undefined),
  );
  defineStandardGeneric("SLOT-UNBOUND class object name", (m, _, object, name) =>
    m.error("UNBOUND-SLOT", { NAME: name, INSTANCE: object }),
  );
  defineStandardGeneric(
    "SLOT-MISSING class object name operation &optional value",
    (m, _, object, name) =>
      m.error("%MISSING-SLOT", {
        NAME: name,
        TEXT: `no slot ${m.show(name)} in ${m.show(object)}`,
      }),
  );
}

type Place = readonly [object: Instance, slot: Slot, index: number];

function placeOf(m: Machine, object: Value, name: Sym): Place | undefined {
  if (!(object instanceof Instance)) return undefined;
  const index = object.cls.slotIndex.get(name);
  if (index !== undefined) return [object, object.cls.slots[index] as Slot, index];
  return update(m, object) ? placeOf(m, object, name) : undefined;
}

export function slotValue(m: Machine, object: Value, name: Sym): Value {
  m.mv = null;
  if (object instanceof Instance) {
    const index = object.cls.slotIndex.get(name);
    const value = index === undefined ? undefined : object.slots[index];
    if (value !== undefined) return value;
  }
  const found = placeOf(m, object, name);
  if (found === undefined) return slotMissing(m, object, name, "SLOT-VALUE");
  const value =
    read(...found) ?? m.apply(m.fn(named("SLOT-UNBOUND")), [found[0].cls, object, name]);
  m.mv = null;
  return value;
}

export function setSlotValue(m: Machine, object: Value, name: Sym, value: Value): Value {
  const found = placeOf(m, object, name);
  if (found === undefined) slotMissing(m, object, name, "SETF", value);
  else write(found[0], found[1], found[2], value);
  return value;
}

function slotMissing(
  m: Machine,
  object: Value,
  name: Value,
  operation: string,
  ...value: Value[]
): Value {
  const cls = m.call1(m.fn(named("CLASS-OF")), object);
  return m.apply(m.fn(named("SLOT-MISSING")), [cls, object, name, named(operation), ...value]);
}
