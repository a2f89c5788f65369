// How objects print themselves. The printer asks this only in sessions that have methods for `print-object`.

import { defineFunction, defineMacro, form, named } from "../define.ts";
import type { Fn } from "../function.ts";
import { outputOf } from "../library/streams.ts";
import type { Machine } from "../machine.ts";
import { write } from "../output.ts";
import { type ObjectPrinter, objectPrinter, printText } from "../printer.ts";
import { NIL } from "../symbol.ts";
import { itemsOf, type Stream, type Value } from "../values.ts";
import { applicableMethods, findGeneric } from "./generics.ts";
import { optionOf } from "./keywords.ts";
import { defineStandardGeneric } from "./standard-generics.ts";

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
  defineFunction("%PRINT-UNREADABLE", "object stream type body", printUnreadable);
}

const printByMethod: ObjectPrinter = (m, object, stream) => {
  const generic = findGeneric(m, named("PRINT-OBJECT"));
  if (generic === undefined || applicableMethods(generic, [object, stream]).length < 2)
    return false;
  m.call2(generic.fn, object, stream);
  return true;
};

/** The way the object prints without methods; what it holds may still have its own. */
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

/** Identity is left out: the same program prints the same text each time. */
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
