// Parses a `defstruct` form.
import type { Machine } from "../machine.ts";
import { currentPackage, intern } from "../packages.ts";
import { Str } from "../string.ts";
import { NIL, optionOf, Sym, T } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

export interface StructureSlot {
  readonly name: Sym;
  readonly initform: Value;
  readonly type: Value;
  readonly readOnly: boolean;
}

export interface StructurePlan {
  readonly name: Sym;
  readonly concName: string;
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
export function structurePlans(m: Machine): Map<Sym, StructurePlan> {
  let plans = m.kept.get("structures") as Map<Sym, StructurePlan> | undefined;
  if (plans === undefined) {
    plans = new Map();
    m.kept.set("structures", plans);
  }
  return plans;
}

export function planStructure(
  m: Machine,
  definition: Value,
  parts: readonly Value[],
): StructurePlan {
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

function prefixOf(prefix: Value | undefined): string {
  if (prefix === undefined || prefix === NIL) return "";
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
export const internHere = (m: Machine, name: string): Sym => intern(m, currentPackage(m), name);

function nameOf(m: Machine, option: Value): string {
  return option instanceof Sym
    ? option.name
    : m.programError(`DEFSTRUCT does not support the option ${m.show(option)}`);
}
