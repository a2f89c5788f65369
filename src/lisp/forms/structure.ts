// `defstruct`. Class, accessors, predicate and copier are natives; constructors are ordinary functions, so that
// initforms see the lexical environment. Structures that are lists or vectors use ordinary functions only.
import { findClass, plainSlot, setSlots } from "../classes.ts";
import { defineFunction, defineMacro, form, nativeFunction, type Template } from "../define.ts";
import type { Machine } from "../machine.ts";
import { keywordOf, setFunction } from "../packages.ts";
import { Str } from "../string.ts";
import { bool, NIL, Sym } from "../symbol.ts";
import { Cons, Instance, itemsOf, LispClass, list, type Value } from "../values.ts";
import { registerClass } from "./class-table.ts";
import {
  internHere,
  planStructure,
  type StructurePlan,
  type StructureSlot,
  structurePlans,
} from "./structure-options.ts";

export function defineStructures(): void {
  defineMacro("DEFSTRUCT", (whole, _, m) => {
    const [definition = NIL, ...parts] = itemsOf(whole.cdr);
    const plan = planStructure(m, definition, parts);
    structurePlans(m).set(plan.name, plan);
    return form([
      "PROGN",
      ...(plan.representation === null
        ? ofItsOwn(m, plan)
        : asSequence(m, plan, plan.representation)),
      ["QUOTE", plan.name],
    ]);
  });
  defineFunction("%DEFINE-STRUCTURE name", (m, name: Sym) => defineStructure(m, name));
  defineFunction("%MAKE-STRUCTURE name &rest values", (m, name: Sym, values) => {
    m.alloc(values.length + 1);
    return new Instance(structureClass(m, name), values);
  });
  defineFunction("COPY-STRUCTURE structure", (m, structure) => copyStructure(m, structure));
}

// ---- structures with their own class

function ofItsOwn(m: Machine, plan: StructurePlan): Template[] {
  const printing: Template[] = plan.printer === null ? [] : [printMethod(plan.name, plan.printer)];
  return [
    ["%DEFINE-STRUCTURE", ["QUOTE", plan.name]],
    ...constructors(m, plan, (values) => ["%MAKE-STRUCTURE", ["QUOTE", plan.name], ...values]),
    ...printing,
  ];
}

function printMethod(name: Sym, { fn, more }: NonNullable<StructurePlan["printer"]>): Template {
  const [structure, stream] = [new Sym("STRUCTURE", null), new Sym("STREAM", null)];
  return [
    "DEFMETHOD",
    "PRINT-OBJECT",
    [[structure, name], stream],
    ["FUNCALL", ["FUNCTION", fn], structure, stream, ...more],
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
  internHere(m, plan.concName + slot.name.name);

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
  make: (values: Template[]) => Template,
): Template[] {
  return plan.constructors.map(({ name, lambdaList }) =>
    lambdaList === null ? byKeywords(m, plan, name, make) : byOrder(plan, name, lambdaList, make),
  );
}

/** Uses hidden variables, because an initform must not see earlier slots. */
function byKeywords(
  m: Machine,
  plan: StructurePlan,
  name: Sym,
  make: (values: Template[]) => Template,
): Template {
  const variables = plan.slots.map((slot) => new Sym(slot.name.name, null));
  const parameters = plan.slots.map((slot, index) => [
    [keywordOf(m, slot.name.name), variables[index] as Sym],
    slot.initform,
  ]);
  return ["DEFUN", name, ["&KEY", ...parameters], make(variables)];
}

function byOrder(
  plan: StructurePlan,
  name: Sym,
  lambdaList: Value,
  make: (values: Template[]) => Template,
): Template {
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
  return ["DEFUN", name, parameters, make(values)];
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

function asSequence(
  m: Machine,
  plan: StructurePlan,
  representation: "list" | "vector",
): Template[] {
  const layout = layoutOf(plan);
  const values = (given: Template[]): Template => [
    representation === "list" ? "LIST" : "VECTOR",
    ...layout.map((place): Template => {
      if (place === null) return NIL;
      return place instanceof Sym ? ["QUOTE", place] : (given[place.slot] ?? NIL);
    }),
  ];
  const access = (structure: Template, index: number): Template =>
    representation === "list" ? ["NTH", index, structure] : ["AREF", structure, index];
  const [structure, value] = [new Sym("STRUCTURE", null), new Sym("VALUE", null)];
  const accessors = layout.flatMap((place, index): Template[] => {
    if (place === null || place instanceof Sym) return [];
    const slot = plan.slots[place.slot] as StructureSlot;
    const name = accessorName(m, plan, slot);
    const reader: Template = ["DEFUN", name, [structure], access(structure, index)];
    return slot.readOnly
      ? [reader]
      : [
          reader,
          ["DEFUN", ["SETF", name], [value, structure], ["SETF", access(structure, index), value]],
        ];
  });
  return [
    ...constructors(m, plan, values),
    ...accessors,
    ...sequencePredicate(plan, representation, layout.indexOf(plan.name), structure),
    ...sequenceCopier(plan, structure),
  ];
}

function sequencePredicate(
  plan: StructurePlan,
  representation: string,
  at: number,
  structure: Sym,
): Template[] {
  if (plan.predicate === null || at < 0) return [];
  const isThere: Template =
    representation === "list"
      ? ["EQ", ["NTH", at, structure], ["QUOTE", plan.name]]
      : ["EQ", ["AREF", structure, at], ["QUOTE", plan.name]];
  const isLong: Template =
    representation === "list"
      ? ["CONSP", structure]
      : ["AND", ["VECTORP", structure], [">", ["LENGTH", structure], at]];
  return [["DEFUN", plan.predicate, [structure], ["AND", isLong, isThere, "T"]]];
}

function sequenceCopier(plan: StructurePlan, structure: Sym): Template[] {
  return plan.copier === null ? [] : [["DEFUN", plan.copier, [structure], ["COPY-SEQ", structure]]];
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
