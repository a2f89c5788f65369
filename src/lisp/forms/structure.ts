// `defstruct`. Class, accessors, predicate and copier are natives; constructors are ordinary functions, so that
// initforms see the lexical environment. Structures that are lists or vectors use ordinary functions only.
import { classNamed, findClass, plainSlot, setSlots } from "../classes.ts";
import {
  defineFunction,
  defineMacro,
  form,
  fresh,
  lisp,
  named,
  nativeFunction,
  type Template,
} from "../define.ts";
import type { Machine } from "../machine.ts";
import { currentPackage, intern, keywordOf, setFunction } from "../packages.ts";
import { textOf } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, isKeyword, NIL, Sym, T, words } from "../symbol.ts";
import { Cons, Instance, itemsOf, LispClass, list, Opaque, type Value } from "../values.ts";
import { registerClass } from "./class-table.ts";

interface Slot {
  readonly name: Sym;
  readonly initform: Value;
  readonly type: Value;
  readonly readOnly: boolean;
}

interface Structure {
  readonly name: Sym;
  /** Null if accessors are named like the slots. */
  readonly prefix: string | null;
  /** Each with its lambda list, unless it takes keywords. */
  readonly constructors: readonly (readonly [name: Sym, lambdaList?: Value | undefined])[];
  readonly copier: Sym | null;
  readonly predicate: Sym | null;
  readonly included: Structure | null;
  /** Inherited ones first. */
  readonly slots: readonly Slot[];
  /** Null for a structure with its own class. */
  readonly sequence: "LIST" | "VECTOR" | null;
  /** True if a list or vector has the structure's name in it. */
  readonly isNamed: boolean;
  readonly offset: number;
  readonly documentation: string | null;
}

/** The session's structures by name; later ones may include them before they are evaluated. */
const structures = (m: Machine) => m.keep("structures", () => new Map<Sym, Structure>());

export function defineStructures(): void {
  defineMacro("DEFSTRUCT", (whole, _, m) => {
    const [head = NIL, ...parts] = itemsOf(whole.cdr);
    const [name, ...options] = head instanceof Cons ? itemsOf(head) : [head];
    if (!(name instanceof Sym) || name === NIL)
      return m.programError(`DEFSTRUCT requires a name, not ${m.show(head)}`);
    const given = options.map((option) => readOption(m, option));
    const structure = describe(m, name, given, parts);
    structures(m).set(name, structure);
    const forms =
      structure.sequence === null
        ? [...classForms(m, structure), ...printerForms(name, given)]
        : sequenceForms(m, structure, structure.sequence);
    return lisp`(progn @${forms} '${name})`;
  });
  defineFunction("%DEFINE-STRUCTURE structure", (m, structure: Opaque) =>
    defineStructure(m, structure.content as Structure),
  );
  defineFunction("%MAKE-STRUCTURE name &rest values", (m, name: Sym, values) => {
    m.alloc(values.length + 1);
    const cls = findClass(m, name) ?? m.fail(`unknown structure ${m.show(name)}`);
    return new Instance(cls, values);
  });
  defineFunction("COPY-STRUCTURE structure", copyStructure);
}

// ---- the parts of the form

type Option = readonly [name: string, args: readonly Value[]];

const optionNames = words(`CONC-NAME CONSTRUCTOR COPIER PREDICATE INCLUDE TYPE NAMED INITIAL-OFFSET
  PRINT-FUNCTION PRINT-OBJECT`);

function readOption(m: Machine, option: Value): Option {
  const [name, ...args] = option instanceof Cons ? itemsOf(option) : [option];
  if (!(name instanceof Sym) || !optionNames.includes(name.name))
    return m.programError(`DEFSTRUCT does not support the option ${m.show(name ?? NIL)}`);
  return [name.name, args];
}

function describe(
  m: Machine,
  name: Sym,
  given: readonly Option[],
  parts: readonly Value[],
): Structure {
  const option = (key: string) => given.find(([one]) => one === key)?.[1];
  const chosen = (key: string, usual: string): Sym | null => {
    const choice = option(key)?.[0] ?? internHere(m, usual);
    return choice === NIL ? null : (choice as Sym);
  };
  const type = option("TYPE");
  const isNamed = type === undefined || option("NAMED") !== undefined;
  if (!isNamed && (option("PREDICATE")?.[0] ?? NIL) !== NIL)
    m.fail(`${m.show(name)} has no name in its objects, so it cannot have a predicate`);
  const [prefix = NIL] = option("CONC-NAME") ?? [new Str(`${name.name}-`)];
  const [above, ...overrides] = option("INCLUDE") ?? [];
  const included = above === undefined ? null : (structures(m).get(above as Sym) ?? null);
  if (above !== undefined && included === null)
    m.fail(`${m.show(above)} is not a structure that ${m.show(name)} could include`);
  const constructors = given.flatMap(([key, args]) => (key === "CONSTRUCTOR" ? [args] : []));
  const documentation = parts[0] instanceof Str ? parts[0] : null;
  const own = (documentation === null ? parts : parts.slice(1)).map((slot) => readSlot(m, slot));
  const replaced = new Map(
    overrides.map((slot) => readSlot(m, slot)).map((slot) => [slot.name.name, slot]),
  );
  const inherited = (included?.slots ?? []).map((slot) => ({
    ...(replaced.get(slot.name.name) ?? slot),
    name: slot.name,
  }));
  return {
    name,
    prefix: prefix === NIL ? null : textOf(m, prefix),
    constructors: (constructors.length === 0 ? [[]] : constructors)
      .filter(([made]) => made !== NIL)
      .map(([made = internHere(m, `MAKE-${name.name}`), lambdaList]) => [made as Sym, lambdaList]),
    copier: chosen("COPIER", `COPY-${name.name}`),
    predicate: isNamed ? chosen("PREDICATE", `${name.name}-P`) : null,
    included,
    slots: [...inherited, ...own],
    sequence: type === undefined ? null : sequenceType(m, type[0] ?? NIL),
    isNamed,
    offset: Number(option("INITIAL-OFFSET")?.[0] ?? 0),
    documentation: documentation?.toString() ?? null,
  };
}

function readSlot(m: Machine, slot: Value): Slot {
  const [name, initform = NIL, ...options] = slot instanceof Cons ? itemsOf(slot) : [slot];
  if (!(name instanceof Sym))
    return m.programError(`DEFSTRUCT requires a slot, not ${m.show(slot)}`);
  const option = (key: string) =>
    options.find((_, at) => at % 2 === 1 && isKeyword(options[at - 1], key));
  const readOnly = (option("READ-ONLY") ?? NIL) !== NIL;
  return { name, initform, type: option("TYPE") ?? T, readOnly };
}

function sequenceType(m: Machine, type: Value): "LIST" | "VECTOR" {
  const name = type instanceof Cons ? type.car : type;
  if (!(name instanceof Sym))
    return m.programError(`DEFSTRUCT does not support the type ${m.show(type)}`);
  return name.name === "LIST" ? "LIST" : "VECTOR";
}

const internHere = (m: Machine, name: string): Sym => intern(m, currentPackage(m), name);

const accessorName = (m: Machine, { prefix }: Structure, { name }: Slot): Sym =>
  prefix === null ? name : internHere(m, prefix + name.name);

// ---- constructors

type Make = (values: readonly Template[]) => Value;

const constructors = (m: Machine, structure: Structure, make: Make): Value[] =>
  structure.constructors.map(([name, lambdaList]) =>
    lambdaList === undefined
      ? byKeywords(m, name, structure.slots, make)
      : byOrder(name, lambdaList, structure.slots, make),
  );

/** Uses hidden variables, because an initform must not see earlier slots. */
function byKeywords(m: Machine, name: Sym, slots: readonly Slot[], make: Make): Value {
  const variables = slots.map((slot) => fresh(slot.name.name));
  const parameters = slots.map((slot, index) => [
    [keywordOf(m, slot.name.name), variables[index] as Sym],
    slot.initform,
  ]);
  return lisp`(defun ${name} (&key @${parameters}) ${make(variables)})`;
}

/** Slots and variables fit by name, because an included structure may be from another package. */
function byOrder(name: Sym, lambdaList: Value, slots: readonly Slot[], make: Make): Value {
  const variables = new Map<string, Sym>();
  let section = "";
  const parameters = itemsOf(lambdaList).map((parameter): Template => {
    const variable = variableOf(parameter);
    if (variable.name.startsWith("&")) {
      section = variable.name;
      return parameter;
    }
    variables.set(variable.name, variable);
    const slot = slots.find((one) => one.name.name === variable.name);
    const isDefaulted = parameter === variable && (section === "&OPTIONAL" || section === "&KEY");
    return isDefaulted && slot !== undefined ? [parameter, slot.initform] : parameter;
  });
  const values = slots.map((slot) => variables.get(slot.name.name) ?? slot.initform);
  return lisp`(defun ${name} ${parameters} ${make(values)})`;
}

/** The variable of a parameter `variable`, `(variable default)` or `((:key variable) default)`. */
function variableOf(parameter: Value): Sym {
  const head = parameter instanceof Cons ? parameter.car : parameter;
  return (head instanceof Cons ? itemsOf(head)[1] : head) as Sym;
}

// ---- structures with their own class

const classForms = (m: Machine, structure: Structure): Value[] => [
  lisp`(%define-structure '${new Opaque("STRUCTURE", structure)})`,
  ...constructors(m, structure, (values) => lisp`(%make-structure '${structure.name} @${values})`),
];

function printerForms(name: Sym, given: readonly Option[]): Value[] {
  const printer = given.find(([option, args]) => option.startsWith("PRINT-") && args.length > 0);
  if (printer === undefined) return [];
  const [option, [fn]] = printer;
  const depth = option === "PRINT-FUNCTION" ? [0] : [];
  return [
    lisp`(defmethod print-object ((%object ${name}) %stream)
      (funcall #'${fn} %object %stream @${depth}))`,
  ];
}

function defineStructure(m: Machine, structure: Structure): Value {
  const { name, included, slots, predicate, copier } = structure;
  const above =
    (included === null ? undefined : findClass(m, included.name)) ?? classNamed("STRUCTURE-OBJECT");
  const cls = new LispClass(name, "structure", [above]);
  cls.precedence = [cls, ...above.precedence];
  setSlots(
    cls,
    slots.map(({ name: slot, type, readOnly }) => ({ ...plainSlot(slot), type, readOnly })),
  );
  cls.documentation = structure.documentation;
  registerClass(m, cls);
  for (const index of slots.keys()) defineAccessor(m, cls, structure, index);
  const isObject = (_: Machine, object: Value): Value => bool(isA(object, cls));
  if (predicate !== null) setFunction(m, predicate, nativeFunction(predicate, "object", isObject));
  if (copier !== null) setFunction(m, copier, nativeFunction(copier, "structure", copyStructure));
  return name;
}

function defineAccessor(m: Machine, cls: LispClass, structure: Structure, index: number): void {
  const slot = structure.slots[index] as Slot;
  const name = accessorName(m, structure, slot);
  const reader = (mm: Machine, object: Value): Value =>
    isA(object, cls) ? (object.slots[index] ?? NIL) : mm.typeError(object, cls.name);
  setFunction(m, name, nativeFunction(name, "structure", reader));
  if (slot.readOnly) return;
  const setterName = list(named("SETF"), name);
  const setter = (mm: Machine, value: Value, object: Value): Value => {
    if (!isA(object, cls)) return mm.typeError(object, cls.name);
    object.slots[index] = value;
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

// ---- structures that are lists or vectors

function sequenceForms(m: Machine, structure: Structure, type: "LIST" | "VECTOR"): Value[] {
  const { name, slots, predicate, copier } = structure;
  const layout = layoutOf(structure);
  const make: Make = (values) =>
    form([
      type,
      ...layout.map((part) => (part instanceof Sym ? ["QUOTE", part] : (values[part] ?? NIL))),
    ]);
  const access = (index: number): Value =>
    type === "LIST" ? lisp`(nth ${index} %object)` : lisp`(aref %object ${index})`;
  const accessors = layout.flatMap((part, index) => {
    if (part instanceof Sym) return [];
    const slot = slots[part] as Slot;
    const accessor = accessorName(m, structure, slot);
    const place = access(index);
    const reader = lisp`(defun ${accessor} (%object) ${place})`;
    const writer = lisp`(defun (setf ${accessor}) (%value %object) (setf ${place} %value))`;
    return slot.readOnly ? [reader] : [reader, writer];
  });
  const at = layout.indexOf(name);
  const isLong =
    type === "LIST"
      ? lisp`(consp %object)`
      : lisp`(and (vectorp %object) (> (length %object) ${at}))`;
  const isNamed = lisp`(and ${isLong} (eq ${access(at)} '${name}) t)`;
  return [
    ...constructors(m, structure, make),
    ...accessors,
    ...(predicate === null ? [] : [lisp`(defun ${predicate} (%object) ${isNamed})`]),
    ...(copier === null ? [] : [lisp`(defun ${copier} (%object) (copy-seq %object))`]),
  ];
}

/** The elements of a list or vector: NIL, the name of a structure, or the index of a slot. */
function layoutOf({ included, slots, offset, isNamed, name }: Structure): (Sym | number)[] {
  const inherited = included?.slots.length ?? 0;
  return [
    ...(included === null ? [] : layoutOf(included)),
    ...new Array<Sym>(offset).fill(NIL),
    ...(isNamed ? [name] : []),
    ...slots.slice(inherited).map((_, index) => inherited + index),
  ];
}
