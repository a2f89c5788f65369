// `defstruct`. Class, accessors, predicate and copier are natives; constructors are ordinary functions, so that
// initforms see the lexical environment. Structures that are lists or vectors use ordinary functions only.
import { findClass, plainSlot, setSlots } from "../classes.ts";
import {
  defineFunction,
  defineMacro,
  form,
  lisp,
  nativeFunction,
  type Template,
} from "../define.ts";
import type { Machine } from "../machine.ts";
import { currentPackage, intern, keywordOf, setFunction } from "../packages.ts";
import { Char, Str } from "../string.ts";
import { bool, NIL, optionOf, Sym, T } from "../symbol.ts";
import { Cons, Instance, itemsOf, LispClass, list, type Value } from "../values.ts";
import { registerClass } from "./class-table.ts";

export function defineStructures(): void {
  defineMacro("DEFSTRUCT", (whole, _, m) => {
    const [definition = NIL, ...parts] = itemsOf(whole.cdr);
    const plan = planStructure(m, definition, parts);
    structurePlans(m).set(plan.name, plan);
    const forms =
      plan.representation === null ? ofItsOwn(m, plan) : asSequence(m, plan, plan.representation);
    return lisp`(progn @${forms} '${plan.name})`;
  });
  defineFunction("%DEFINE-STRUCTURE name", (m, name: Sym) => defineStructure(m, name));
  defineFunction("%MAKE-STRUCTURE name &rest values", (m, name: Sym, values) => {
    m.alloc(values.length + 1);
    return new Instance(structureClass(m, name), values);
  });
  defineFunction("COPY-STRUCTURE structure", (m, structure) => copyStructure(m, structure));
}

// ---- structures with their own class

function ofItsOwn(m: Machine, plan: StructurePlan): Value[] {
  const { name, printer } = plan;
  return [
    lisp`(%define-structure '${name})`,
    ...constructors(m, plan, (values) => lisp`(%make-structure '${name} @${values})`),
    ...(printer === null
      ? []
      : [
          lisp`(defmethod print-object ((%structure ${name}) %stream)
            (funcall #'${printer.fn} %structure %stream @${printer.more}))`,
        ]),
  ];
}

function defineStructure(m: Machine, name: Sym): Value {
  const plan = structurePlans(m).get(name);
  if (plan === undefined) return m.fail(`unknown structure ${m.show(name)}`);
  const above = findClass(m, plan.included?.name ?? (form("STRUCTURE-OBJECT") as Sym));
  const cls = new LispClass(name, "structure", above === undefined ? [] : [above]);
  cls.precedence = [cls, ...(above?.precedence ?? [])];
  setSlots(
    cls,
    plan.slots.map(({ name: slot, type, readOnly }) => ({ ...plainSlot(slot), type, readOnly })),
  );
  if (plan.documentation instanceof Str) cls.documentation = plan.documentation.toString();
  registerClass(m, cls);
  plan.slots.forEach((slot, index) => {
    defineAccessor(m, plan, cls, slot, index);
  });
  if (plan.predicate !== null)
    setFunction(
      m,
      plan.predicate,
      nativeFunction(plan.predicate, "object", (_, object: Value) => bool(isA(object, cls))),
    );
  if (plan.copier !== null)
    setFunction(
      m,
      plan.copier,
      nativeFunction(plan.copier, "structure", (mm, structure: Value) =>
        copyStructure(mm, structure),
      ),
    );
  return name;
}

function defineAccessor(
  m: Machine,
  plan: StructurePlan,
  cls: LispClass,
  slot: StructureSlot,
  index: number,
): void {
  const name = accessorName(m, plan, slot);
  // An included structure with the same prefix has already defined it.
  setFunction(
    m,
    name,
    nativeFunction(name, "structure", (mm, structure: Value) =>
      isA(structure, cls) ? (structure.slots[index] ?? NIL) : mm.typeError(structure, cls.name),
    ),
  );
  if (slot.readOnly) return;
  const setter = nativeFunction(
    list(form("SETF"), name),
    "value structure",
    (mm, value: Value, structure: Value) => {
      if (!isA(structure, cls)) return mm.typeError(structure, cls.name);
      structure.slots[index] = value;
      return value;
    },
  );
  setFunction(m, list(form("SETF"), name), setter);
}

const accessorName = (m: Machine, plan: StructurePlan, slot: StructureSlot): Sym =>
  plan.concName === null ? slot.name : internHere(m, plan.concName + slot.name.name);

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

// ---- constructors

function constructors(
  m: Machine,
  plan: StructurePlan,
  make: (values: Template[]) => Value,
): Value[] {
  return plan.constructors.map(({ name, lambdaList }) =>
    lambdaList === null ? byKeywords(m, plan, name, make) : byOrder(plan, name, lambdaList, make),
  );
}

/** Uses hidden variables, because an initform must not see earlier slots. */
function byKeywords(
  m: Machine,
  plan: StructurePlan,
  name: Sym,
  make: (values: Template[]) => Value,
): Value {
  const variables = plan.slots.map((slot) => new Sym(slot.name.name, null));
  const parameters = plan.slots.map((slot, index) => [
    [keywordOf(m, slot.name.name), variables[index] as Sym],
    slot.initform,
  ]);
  return lisp`(defun ${name} (&key @${parameters}) ${make(variables)})`;
}

function byOrder(
  plan: StructurePlan,
  name: Sym,
  lambdaList: Value,
  make: (values: Template[]) => Value,
): Value {
  const mentioned = new Set<string>();
  let mode = "";
  const parameters = itemsOf(lambdaList).map((parameter): Template => {
    if (parameter instanceof Sym && parameter.name.startsWith("&")) {
      mode = parameter.name;
      return parameter;
    }
    const variable = variableOf(parameter);
    mentioned.add(variable.name);
    const slot = plan.slots.find((one) => one.name.name === variable.name);
    return parameter instanceof Sym &&
      slot !== undefined &&
      (mode === "&OPTIONAL" || mode === "&KEY")
      ? [parameter, slot.initform]
      : parameter;
  });
  const values = plan.slots.map((slot) =>
    mentioned.has(slot.name.name) ? slotVariable(lambdaList, slot) : slot.initform,
  );
  return lisp`(defun ${name} ${parameters} ${make(values)})`;
}

/** The variable of a parameter `(variable default)` or `((:key variable) default)`. */
function variableOf(parameter: Value): Sym {
  const inner = parameter instanceof Cons ? parameter.car : parameter;
  return (inner instanceof Cons && inner.cdr instanceof Cons ? inner.cdr.car : inner) as Sym;
}

/** By name, because an included structure may be from another package. */
const slotVariable = (lambdaList: Value, slot: StructureSlot): Template =>
  itemsOf(lambdaList)
    .map(variableOf)
    .find((variable) => variable.name === slot.name.name) ?? slot.name;

// ---- structures that are lists or vectors

function asSequence(m: Machine, plan: StructurePlan, representation: "list" | "vector"): Value[] {
  const layout = layoutOf(plan);
  const isList = representation === "list";
  const values = (given: Template[]): Value => {
    const items = layout.map((place): Template => {
      if (place === null) return NIL;
      return place instanceof Sym ? ["QUOTE", place] : (given[place.slot] ?? NIL);
    });
    return lisp`(${isList ? "LIST" : "VECTOR"} @${items})`;
  };
  const access = (index: number): Value =>
    isList ? lisp`(nth ${index} %structure)` : lisp`(aref %structure ${index})`;
  const accessors = layout.flatMap((place, index) => {
    if (place === null || place instanceof Sym) return [];
    const slot = plan.slots[place.slot] as StructureSlot;
    const name = accessorName(m, plan, slot);
    const reader = lisp`(defun ${name} (%structure) ${access(index)})`;
    const writer = lisp`(defun (setf ${name}) (%value %structure) (setf ${access(index)} %value))`;
    return slot.readOnly ? [reader] : [reader, writer];
  });
  const { predicate, copier, name } = plan;
  const at = layout.indexOf(name);
  const isLong = isList
    ? lisp`(consp %structure)`
    : lisp`(and (vectorp %structure) (> (length %structure) ${at}))`;
  const isNamed = lisp`(and ${isLong} (eq ${access(Math.max(0, at))} '${name}) t)`;
  return [
    ...constructors(m, plan, values),
    ...accessors,
    ...(predicate === null || at < 0 ? [] : [lisp`(defun ${predicate} (%structure) ${isNamed})`]),
    ...(copier === null ? [] : [lisp`(defun ${copier} (%structure) (copy-seq %structure))`]),
  ];
}

/** The layout: nothing, the structure's name, or a slot at each index. */
function layoutOf(plan: StructurePlan): (null | Sym | { slot: number })[] {
  const inherited = plan.included === null ? [] : layoutOf(plan.included);
  const own = plan.slots.map((_, slot) => ({ slot })).slice(plan.included?.slots.length ?? 0);
  return [
    ...inherited,
    ...new Array<null>(plan.offset).fill(null),
    ...(plan.isNamed ? [plan.name] : []),
    ...own,
  ];
}
// Parses a `defstruct` form.

export interface StructureSlot {
  readonly name: Sym;
  readonly initform: Value;
  readonly type: Value;
  readonly readOnly: boolean;
}

export interface StructurePlan {
  readonly name: Sym;
  /** Null if accessors are named like the slots. */
  readonly concName: string | null;
  /** Each with its lambda list, or null for a keyword constructor. */
  constructors: { readonly name: Sym; readonly lambdaList: Value | null }[];
  copier: Sym | null;
  predicate: Sym | null;
  included: StructurePlan | null;
  /** Inherited ones first. */
  slots: StructureSlot[];
  /** Null for a structure with its own class. */
  representation: "list" | "vector" | null;
  /** True if a list or vector starts with the structure's name. */
  isNamed: boolean;
  offset: number;
  /** A function and its arguments after the structure and the stream. */
  printer: { readonly fn: Value; readonly more: readonly Value[] } | null;
  documentation: Value;
}

/** The session's structures by name; later ones may include them before they are evaluated. */
const structurePlans = (m: Machine) => m.keep("structures", () => new Map<Sym, StructurePlan>());

function planStructure(m: Machine, definition: Value, parts: readonly Value[]): StructurePlan {
  const [name, ...options] = definition instanceof Cons ? itemsOf(definition) : [definition];
  if (!(name instanceof Sym) || name === NIL)
    return m.programError(`DEFSTRUCT requires a name, not ${m.show(definition)}`);
  const given = options.map((option): [string, Value[]] =>
    option instanceof Cons ? [nameOf(m, option.car), itemsOf(option.cdr)] : [nameOf(m, option), []],
  );
  const plan = emptyPlan(m, name, given);
  for (const [option, args] of given) applyOption(m, plan, option, args);
  if (
    plan.constructors.length === 0 &&
    !given.some(([option, args]) => option === "CONSTRUCTOR" && args[0] === NIL)
  ) {
    plan.constructors.push({ name: internHere(m, `MAKE-${name.name}`), lambdaList: null });
  }
  const [first, ...rest] = parts;
  if (first instanceof Str) plan.documentation = first;
  plan.slots.push(...(first instanceof Str ? rest : parts).map((slot) => readSlot(m, slot)));
  return plan;
}

function emptyPlan(m: Machine, name: Sym, given: [string, Value[]][]): StructurePlan {
  const concName = given.find(([option]) => option === "CONC-NAME");
  const type = given.find(([option]) => option === "TYPE")?.[1][0];
  const isNamed = type === undefined || given.some(([option]) => option === "NAMED");
  return {
    name,
    concName: concName === undefined ? `${name.name}-` : prefixOf(concName[1][0]),
    constructors: [],
    copier: internHere(m, `COPY-${name.name}`),
    predicate: isNamed ? internHere(m, `${name.name}-P`) : null,
    included: null,
    slots: [],
    representation: type === undefined ? null : representationOf(m, type),
    isNamed,
    offset: 0,
    printer: null,
    documentation: NIL,
  };
}

function representationOf(m: Machine, type: Value): "list" | "vector" {
  return nameOf(m, type instanceof Cons ? type.car : type) === "LIST" ? "list" : "vector";
}

function prefixOf(prefix: Value | undefined): string | null {
  if (prefix === undefined || prefix === NIL) return null;
  if (prefix instanceof Char) return String.fromCodePoint(prefix.code);
  return prefix instanceof Sym ? prefix.name : String(prefix);
}

function applyOption(m: Machine, plan: StructurePlan, option: string, args: Value[]): void {
  const [first, second] = args;
  switch (option) {
    case "CONSTRUCTOR":
      if (first === NIL) return;
      plan.constructors.push({
        name: first instanceof Sym ? first : internHere(m, `MAKE-${plan.name.name}`),
        lambdaList: second ?? null,
      });
      return;
    case "COPIER":
      if (first !== undefined) plan.copier = first === NIL ? null : (first as Sym);
      return;
    case "PREDICATE":
      if (first !== undefined && first !== NIL && !plan.isNamed)
        m.fail(`${m.show(plan.name)} has no name in its objects, so it cannot have a predicate`);
      if (first !== undefined) plan.predicate = first === NIL ? null : (first as Sym);
      return;
    case "INCLUDE":
      include(m, plan, args);
      return;
    case "INITIAL-OFFSET":
      plan.offset = Number(first ?? 0);
      return;
    case "PRINT-FUNCTION":
      if (first !== undefined) plan.printer = { fn: first, more: [0] };
      return;
    case "PRINT-OBJECT":
      if (first !== undefined) plan.printer = { fn: first, more: [] };
      return;
    case "CONC-NAME":
    case "TYPE":
    case "NAMED":
      return;
    default:
      m.programError(`DEFSTRUCT does not support the option :${option}`);
  }
}

function include(m: Machine, plan: StructurePlan, [name, ...overrides]: Value[]): void {
  const included = structurePlans(m).get(name as Sym);
  if (included === undefined)
    m.fail(`${m.show(name ?? NIL)} is not a structure that ${m.show(plan.name)} could include`);
  plan.included = included;
  const replaced = new Map(
    overrides.map((slot) => readSlot(m, slot)).map((slot) => [slot.name.name, slot]),
  );
  plan.slots.push(
    ...included.slots.map((slot) => ({
      ...slot,
      ...replaced.get(slot.name.name),
      name: slot.name,
    })),
  );
}

function readSlot(m: Machine, slot: Value): StructureSlot {
  const [name, initform = NIL, ...options] = slot instanceof Cons ? itemsOf(slot) : [slot];
  if (!(name instanceof Sym))
    return m.programError(`DEFSTRUCT requires a slot, not ${m.show(slot)}`);
  return {
    name,
    initform,
    type: optionOf(options, "TYPE") ?? T,
    readOnly: (optionOf(options, "READ-ONLY") ?? NIL) !== NIL,
  };
}

/** A symbol of the current package. */
const internHere = (m: Machine, name: string): Sym => intern(m, currentPackage(m), name);

function nameOf(m: Machine, option: Value): string {
  return option instanceof Sym
    ? option.name
    : m.programError(`DEFSTRUCT does not support the option ${m.show(option)}`);
}
