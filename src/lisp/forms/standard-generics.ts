// The generic functions that Common Lisp defines, such as `make-instance` and `print-object`. Each is a plain native
// until a session defines a method on it. The session then gets a generic function of its own ("opens" the standard
// one), with the native as the least specific method.

import { write } from "../budgets.ts";
import {
  defineFunction,
  defineValues,
  type Native,
  type NativeOf,
  named,
  nativeFunction,
  parseSignature,
  type Shape,
  shapeOf,
} from "../define.ts";
import type { Fn } from "../function.ts";
import { outputOf } from "../library/streams.ts";
import type { Machine } from "../machine.ts";
import { type ObjectPrinter, objectPrinter, printText } from "../printer.ts";
import { NIL, type Sym } from "../symbol.ts";
import { Opaque, type Stream, type Value } from "../values.ts";
import {
  applicableMethods,
  findGeneric,
  Generic,
  type Method,
  registerGeneric,
} from "./generics.ts";

interface Standard {
  readonly shape: Shape;
  readonly native: Native;
  /** Called when a session adds its first method. */
  readonly onOpen: ((m: Machine) => void) | null;
}

const standards = new Map<Sym, Standard>();

/**
 * As in `defineStandardGeneric("CHANGE-CLASS object class &rest initargs", …)`; the native gets
 * `&rest` as an array.
 */
export function defineStandardGeneric<const Signature extends string>(
  signature: Signature,
  native: NativeOf<Signature>["call"],
  onOpen: Standard["onOpen"] = null,
): void {
  const { sym, lambdaList } = parseSignature(signature);
  const plain = shapeOf(lambdaList);
  const shape = plain.rest ? { ...plain, keys: [], allowOthers: true } : plain;
  standards.set(sym, { shape, native: native as Native, onOpen });
  defineValues(`${signature.split(" ")[0]} &rest arguments`, (m, args) =>
    callStandard(m, sym, args as Value[]),
  );
  if (sym.fn !== null) sym.fn.code.generic = sym;
}

function callStandard(m: Machine, sym: Sym, args: Value[]): Value {
  const generic = findGeneric(m, sym);
  if (generic !== undefined) return m.apply(generic.fn, args);
  const standard = standards.get(sym) as Standard;
  const { required, optional, rest } = standard.shape;
  if (args.length < required || (!rest && args.length > required + optional))
    return m.programError(
      `${m.show(sym)} was called with ${args.length} arguments; it takes ${required}${rest || optional > 0 ? " or more" : ""}`,
    );
  m.mv = null;
  return runDefault(m, standard, args);
}

function runDefault(m: Machine, { shape, native }: Standard, args: Value[]): Value {
  const plain = native as (m: Machine, ...args: unknown[]) => Value;
  const { required, rest } = shape;
  return rest ? plain(m, ...args.slice(0, required), args.slice(required)) : plain(m, ...args);
}

/** The session's own generic function for a standard one, created if needed; undefined if the name is not standard. */
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

function defaultMethod(name: Value, standard: Standard): Method {
  const any = { kind: "class", name: named("T") } as const;
  const run = (m: Machine, args: Value[]) => runDefault(m, standard, args);
  return {
    qualifiers: [],
    specializers: new Array<typeof any>(standard.shape.required).fill(any),
    shape: standard.shape,
    fn: nativeFunction(name, "&rest arguments", run, { values: true }),
    usesNext: false,
    handle: new Opaque("METHOD", null),
  };
}

/** True if the session has defined methods on one of these. */
export const isExtended = (m: Machine, ...names: readonly Sym[]): boolean =>
  names.some((name) => findGeneric(m, name) !== undefined);

// `print-object`. The printer uses it only in sessions with methods on it.

export function definePrintObject(): void {
  defineStandardGeneric(
    "PRINT-OBJECT object stream",
    (m, object, stream) => printPlainly(m, object, outputOf(m, stream)),
    (m) => m.kept.set(objectPrinter, printByMethod),
  );
  // Without the identity, so that output is repeatable.
  defineFunction("%PRINT-UNREADABLE object stream type body", (m, object, stream, type, body) => {
    const to = outputOf(m, stream);
    const name = type === NIL ? "" : m.show(m.call1(m.fn(named("TYPE-OF")), object));
    write(m, to, `#<${name}`);
    if (body !== NIL) {
      if (name !== "") write(m, to, " ");
      m.call0(body as Fn);
    }
    write(m, to, ">");
    return NIL;
  });
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
