// Classes of a session. A redefinition makes a new version; the old one points to it, and objects are updated
// on their next access.
import { classNamed, findClass, mergeSlots, plainSlot, sharedClass } from "../classes.ts";
import { conditionSlot, slotName } from "../conditions.ts";
import type { Machine } from "../machine.ts";
import { noteDefinition } from "../packages.ts";
import { keyword, type Sym } from "../symbol.ts";
import { type Instance, LispClass, type Slot, type Value } from "../values.ts";
import { forgetDispatch } from "./generics.ts";

/** The contents of a `defclass` form. */
export interface ClassDefinition {
  readonly name: Sym;
  readonly supers: readonly Sym[];
  /** Own slots only. */
  readonly slots: readonly Slot[];
  readonly defaultInitargs: LispClass["defaultInitargs"];
  readonly documentation: string | null;
}

export function registerClass(m: Machine, cls: LispClass): void {
  m.classes.set(cls.name, cls);
  const isClass = cls.kind === "standard" || cls.kind === "built-in";
  noteDefinition(m, isClass ? "class" : cls.kind, cls.name);
  forgetDispatch(m);
}

export function defineClass(m: Machine, definition: ClassDefinition): LispClass {
  const made = new LispClass(definition.name, "standard", []);
  made.notes.set("definition", definition);
  made.documentation = definition.documentation;
  finalise(m, made, definition);
  const old = m.classes.get(definition.name);
  registerClass(m, made);
  if (old !== undefined) {
    old.notes.set("successor", made);
    old.slotIndex.clear();
    // Objects that are not updated yet are still instances.
    old.precedence = [old, ...made.precedence];
  }
  for (const below of [...m.classes.values()]) {
    const other = definitionOf(below);
    if (below !== made && other?.supers.includes(made.name)) defineClass(m, other);
  }
  return made;
}

const definitionOf = (cls: LispClass): ClassDefinition | undefined =>
  cls.notes.get("definition") as ClassDefinition | undefined;

/** Superclasses may be defined later; until then the class cannot be instantiated. */
function finalise(m: Machine, cls: LispClass, definition: ClassDefinition): void {
  const found = definition.supers.map((name) => findClass(m, name));
  const missing = definition.supers.filter((_, index) => found[index] === undefined);
  cls.notes.set("missing", missing);
  const known = found.filter((one) => one !== undefined);
  cls.supers = known.length === 0 ? [classNamed("STANDARD-OBJECT")] : known;
  if (
    known.some((above) => above.precedence.some(({ name }) => name === cls.name)) ||
    definition.supers.includes(cls.name)
  )
    m.fail(`${m.show(cls.name)} cannot be a superclass of itself`);
  const precedence = precedenceOf(cls);
  if (precedence === undefined)
    m.fail(`the superclasses of ${m.show(cls.name)} have an inconsistent order`);
  cls.precedence = precedence;
  const own = precedence.toReversed().map((one) => definitionOf(one)?.slots ?? []);
  mergeSlots(cls, own.flat());
  cls.defaultInitargs = inheritInitargs(cls);
}

function inheritInitargs(cls: LispClass): LispClass["defaultInitargs"] {
  const all = cls.precedence.flatMap((one) => definitionOf(one)?.defaultInitargs ?? []);
  return all.filter(({ key }, index) => all.findIndex((other) => other.key === key) === index);
}

/** Names of undefined superclasses. */
export const missingSupers = (cls: LispClass): readonly Sym[] =>
  (cls.notes.get("missing") as Sym[] | undefined) ?? [];

/** The newest version of a class. */
export function latestOf(cls: LispClass): LispClass {
  const successor = cls.notes.get("successor") as LispClass | undefined;
  return successor === undefined ? cls : latestOf(successor);
}

/** Slots of the same name keep their values. Returns the names of the new ones. */
export function moveTo(object: Instance, cls: LispClass): Sym[] {
  const held = new Map<Sym, Value | undefined>(
    object.cls.slots.map((slot, index) => [
      slot.name,
      slot.shared === null ? object.slots[index] : slot.shared.value,
    ]),
  );
  object.slots = cls.slots.map((slot) => (slot.shared === null ? held.get(slot.name) : undefined));
  object.cls = cls;
  return cls.slots.map(({ name }) => name).filter((name) => !held.has(name));
}

// The class precedence list of CLOS: subclasses before superclasses, superclasses in the order of each
// definition, and in case of a choice the class whose direct subclass comes latest.

/** Undefined if the orders are inconsistent. */
export function precedenceOf(cls: LispClass): LispClass[] | undefined {
  const left = reachable(cls);
  const before = new Map<LispClass, Set<LispClass>>([...left].map((one) => [one, new Set()]));
  for (const one of left) {
    [one, ...one.supers].reduce((earlier, later) => {
      before.get(later)?.add(earlier);
      return later;
    });
  }
  const ordered: LispClass[] = [];
  while (left.size > 0) {
    const free = [...left].filter((one) =>
      [...(before.get(one) ?? [])].every((earlier) => !left.has(earlier)),
    );
    const next = latestSubclassed(free, ordered);
    if (next === undefined) return undefined;
    ordered.push(next);
    left.delete(next);
  }
  return ordered;
}

function reachable(cls: LispClass, found = new Set<LispClass>()): Set<LispClass> {
  if (found.has(cls)) return found;
  found.add(cls);
  for (const above of cls.supers) reachable(above, found);
  return found;
}

function latestSubclassed(
  free: readonly LispClass[],
  ordered: readonly LispClass[],
): LispClass | undefined {
  if (free.length < 2) return free[0];
  const above = ordered
    .toReversed()
    .flatMap(({ supers }) => free.find((one) => supers.includes(one)) ?? []);
  return above[0] ?? free[0];
}

// Conditions of CLOS without a name in the standard.

export function defineFailures(): void {
  const text = plainSlot(slotName("TEXT"), keyword("TEXT"));
  for (const [name, above] of [
    ["%NO-METHOD", "ERROR"],
    ["%MISSING-SLOT", "CELL-ERROR"],
    ["%MISSING-CLASS", "CELL-ERROR"],
  ] as const)
    sharedClass(name, "condition", [above], [text]).report = (_, condition) =>
      String(conditionSlot(condition, "TEXT"));
}

export function missingClass(m: Machine, name: Value): never {
  return m.error("%MISSING-CLASS", { NAME: name, TEXT: `unknown class ${m.show(name)}` });
}

/** An option, slot or initarg may be given once. */
export function refuseRepeated(m: Machine, what: string, names: readonly Value[]): void {
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) m.programError(`${what}: ${m.show(repeated)} is given twice`);
}
