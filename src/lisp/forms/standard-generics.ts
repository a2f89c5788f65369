// The standard generic functions. They are plain natives until a session defines a method; then it gets its own
// generic function, with the native as the least specific method.

import { write } from "../budgets.ts";
import {
  defineFunction,
  defineMacro,
  defineValues,
  form,
  named,
  nativeFunction,
} from "../define.ts";
import type { Fn } from "../function.ts";
import { outputOf } from "../library/streams.ts";
import type { Machine } from "../machine.ts";
import { type ObjectPrinter, objectPrinter, printText } from "../printer.ts";
import { NIL, optionOf, type Sym } from "../symbol.ts";
import { itemsOf, Opaque, type Stream, type Value } from "../values.ts";
import {
  applicableMethods,
  findGeneric,
  Generic,
  type Method,
  registerGeneric,
  type Shape,
} from "./generics.ts";

export type Default = (m: Machine, ...args: Value[]) => Value;

interface Standard {
  readonly shape: Shape;
  readonly native: Default;
  /** Called when a session adds its first method. */
  readonly onOpen: ((m: Machine) => void) | null;
}

const standards = new Map<Sym, Standard>();

const shape = (required: number, more: Partial<Shape> = {}): Shape => ({
  required,
  optional: 0,
  rest: false,
  keys: null,
  allowOthers: false,
  ...more,
});

/** With fixed arguments, and with `takesKeys` also initargs. */
export function defineStandardGeneric(
  name: string,
  required: number,
  native: Default,
  more: Partial<Shape> = {},
  onOpen: Standard["onOpen"] = null,
): void {
  const sym = named(name);
  standards.set(sym, { shape: shape(required, more), native, onOpen });
  defineValues(`${name} &rest arguments`, (m, args) => callStandard(m, sym, args));
  if (sym.fn !== null) sym.fn.code.generic = sym;
}

export const initargsShape: Partial<Shape> = { rest: true, keys: [], allowOthers: true };

function callStandard(m: Machine, sym: Sym, args: Value[]): Value {
  const generic = findGeneric(m, sym);
  if (generic !== undefined) return m.apply(generic.fn, args);
  const { native, shape: expected } = standards.get(sym) as Standard;
  const { required, optional, rest } = expected;
  if (args.length < required || (!rest && args.length > required + optional))
    return m.programError(
      `${m.show(sym)} was called with ${args.length} arguments; it takes ${required}${rest || optional > 0 ? " or more" : ""}`,
    );
  m.mv = null;
  return native(m, ...args);
}

/** The session's generic function for a standard one, or undefined. */
export function openStandard(m: Machine, name: Value): Generic | undefined {
  const standard = standards.get(name as Sym);
  if (standard === undefined) return undefined;
  const known = findGeneric(m, name);
  if (known !== undefined) return known;
  const generic = new Generic(name, standard.shape);
  generic.add(defaultMethod(name, standard));
  registerGeneric(m, generic, true);
  standard.onOpen?.(m);
  return generic;
}

function defaultMethod(name: Value, { shape: taken, native }: Standard): Method {
  const specializers = Array.from(
    { length: taken.required },
    () => ({ kind: "class", name: named("T") }) as const,
  );
  const fn = nativeFunction(name, "&rest arguments", (m, args: Value[]) => native(m, ...args), {
    values: true,
  });
  const made: Method = {
    qualifiers: [],
    specializers,
    shape: taken,
    fn,
    usesNext: false,
    handle: new Opaque("METHOD", null),
  };
  return made;
}

/** True if the session has methods on one of these. */
export const isExtended = (m: Machine, ...names: readonly Sym[]): boolean =>
  names.some((name) => findGeneric(m, name) !== undefined);

// `print-object`. The printer uses it only in sessions with methods on it.

export function definePrintObject(): void {
  defineStandardGeneric(
    "PRINT-OBJECT",
    2,
    (m, object, stream) => printPlainly(m, object as Value, outputOf(m, stream)),
    {},
    (m) => m.kept.set(objectPrinter, printByMethod),
  );
  defineMacro("PRINT-UNREADABLE-OBJECT", (whole) => {
    const [head = NIL, ...body] = itemsOf(whole.cdr);
    const [object = NIL, stream = NIL, ...options] = itemsOf(head);
    const type = optionOf(options, "TYPE") ?? NIL;
    return form([
      "%PRINT-UNREADABLE",
      object,
      stream,
      type,
      body.length === 0 ? NIL : ["FUNCTION", ["LAMBDA", [], ...body]],
    ]);
  });
  defineFunction("%PRINT-UNREADABLE object stream type body", printUnreadable);
}

const printByMethod: ObjectPrinter = (m, object, stream) => {
  const generic = findGeneric(m, named("PRINT-OBJECT"));
  if (generic === undefined || applicableMethods(generic, [object, stream]).length < 2)
    return false;
  m.call2(generic.fn, object, stream);
  return true;
};

/** The default printing; the object's parts may still have methods. */
function printPlainly(m: Machine, object: Value, stream: Stream): Value {
  const outside = m.kept.get(objectPrinter) as ObjectPrinter | undefined;
  const others: ObjectPrinter = (mm, other, to) =>
    other !== object && (outside?.(mm, other, to) ?? false);
  m.kept.set(objectPrinter, others);
  try {
    write(m, stream, printText(m, object));
  } finally {
    if (outside === undefined) m.kept.delete(objectPrinter);
    else m.kept.set(objectPrinter, outside);
  }
  return object;
}

/** Without the identity, so that output is repeatable. */
function printUnreadable(
  m: Machine,
  object: Value,
  stream: Value,
  type: Value,
  body: Value,
): Value {
  const to = outputOf(m, stream);
  const name = type === NIL ? "" : m.show(m.call1(m.fn(named("TYPE-OF")), object));
  write(m, to, `#<${name}`);
  if (body !== NIL) {
    if (name !== "") write(m, to, " ");
    m.call0(body as Fn);
  }
  write(m, to, ">");
  return NIL;
}
