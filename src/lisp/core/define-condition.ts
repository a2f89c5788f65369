// define-condition.
import { classNamed, findClass, setSlots } from "../classes.ts";
import { reportOf } from "../conditions.ts";
import { defineFunction, defineMacro, form, named, type Template } from "../define.ts";
import { precedenceOf, registerClass } from "../forms/class-table.ts";
import { addReader, addWriter } from "../forms/defclass.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { refuseLocked } from "../packages.ts";
import { Str } from "../string.ts";
import { keyword, NIL, Sym, T } from "../symbol.ts";
import {
  Cons,
  type Instance,
  itemsOf,
  LispClass,
  list,
  type Opaque,
  type Slot,
  Stream,
  type Value,
} from "../values.ts";

export function defineConditionForms(): void {
  defineMacro("DEFINE-CONDITION", expand);
  defineFunction("%DEFINE-CONDITION name supers slots report initargs documentation", define);
  defineFunction(
    "GUILDHALL:CONDITION-REPORT condition",
    (m, condition) => m.string(reportOf(m, condition as Instance)),
    "What a condition says, as a string.",
  );
}

function expand(whole: Cons, _: Opaque, m: Machine): Value {
  const [name, supers = NIL, slots = NIL, ...options] = itemsOf(whole.cdr);
  if (!(name instanceof Sym)) return m.programError("define-condition needs a name");
  const option = (key: string): Value[] =>
    itemsOf(
      (options.find((one) => one instanceof Cons && one.car === keyword(key)) as Cons | undefined)
        ?.cdr ?? NIL,
    );
  const [report] = option("REPORT");
  const defaults = option("DEFAULT-INITARGS");
  const initargs = defaults.flatMap((item, index): Template[] =>
    index % 2 === 0
      ? [
          ["QUOTE", item],
          ["LAMBDA", [], defaults[index + 1] ?? NIL],
        ]
      : [],
  );
  return form([
    "%DEFINE-CONDITION",
    ["QUOTE", name],
    ["QUOTE", supers],
    ["LIST", ...itemsOf(slots).map(slotForm)],
    reportForm(report),
    ["LIST", ...initargs],
    option("DOCUMENTATION")[0] ?? "NIL",
  ]);
}

function reportForm(report: Value | undefined): Template {
  if (report === undefined) return "NIL";
  return report instanceof Str ? report : ["FUNCTION", report];
}

/** `(name initargs init-function readers writers)`. */
function slotForm(slot: Value): Template {
  const [name, ...options] = slot instanceof Cons ? itemsOf(slot) : [slot];
  const all = (...keys: string[]): Value[] =>
    options.flatMap((item, index) =>
      index % 2 === 1 && keys.some((key) => options[index - 1] === keyword(key)) ? [item] : [],
    );
  const [initform] = all("INITFORM");
  const writers = [
    ...all("WRITER"),
    ...all("ACCESSOR").map((accessor) => list(named("SETF"), accessor)),
  ];
  return [
    "LIST",
    ["QUOTE", name as Value],
    ["QUOTE", form(all("INITARG"))],
    initform === undefined ? "NIL" : ["LAMBDA", [], initform],
    ["QUOTE", form(all("READER", "ACCESSOR"))],
    ["QUOTE", form(writers)],
  ];
}

function define(
  m: Machine,
  name: Value,
  supers: Value,
  slots: Value,
  report: Value,
  initargs: Value,
  documentation: Value,
): Value {
  const sym = name as Sym;
  refuseLocked(m, sym, "define");
  const above = itemsOf(supers).map(
    (one) => findClass(m, one as Sym) ?? m.fail(`unknown condition ${m.show(one)}`),
  );
  const cls = new LispClass(
    sym,
    "condition",
    above.length === 0 ? [classNamed("CONDITION")] : above,
  );
  const precedence = precedenceOf(cls);
  if (precedence === undefined)
    return m.fail(`the supertypes of ${m.show(sym)} have an inconsistent order`);
  cls.precedence = precedence;
  setSlots(cls, itemsOf(slots).map(slotOf));
  cls.report = reporter(report);
  cls.defaultInitargs = [
    ...initargsOf(itemsOf(initargs)),
    ...above.flatMap((one) => one.defaultInitargs),
  ];
  cls.documentation = documentation instanceof Str ? documentation.toString() : null;
  registerClass(m, cls);
  for (const slot of itemsOf(slots)) {
    const [slotName, , , readers = NIL, writers = NIL] = itemsOf(slot);
    for (const reader of itemsOf(readers)) addReader(m, reader, sym, slotName as Sym);
    for (const writer of itemsOf(writers)) addWriter(m, writer, sym, slotName as Sym);
  }
  return sym;
}

function slotOf(slot: Value): Slot {
  const [name, initargs = NIL, init] = itemsOf(slot);
  return {
    name: name as Sym,
    initargs: itemsOf(initargs) as Sym[],
    init: init instanceof Fn ? (m) => m.call0(init) : null,
    shared: null,
    type: T,
    documentation: null,
    readOnly: false,
  };
}

function initargsOf(items: readonly Value[]): LispClass["defaultInitargs"] {
  return items.flatMap((item, index) =>
    index % 2 === 0 ? [{ key: item as Sym, init: (m) => m.call0(items[index + 1] as Fn) }] : [],
  );
}

function reporter(report: Value): LispClass["report"] {
  if (report instanceof Str) return () => report.toString();
  if (report === NIL) return null;
  return (m, condition) => {
    const stream = new Stream();
    let text = "";
    stream.sink = (more) => {
      text += more;
    };
    m.call2(m.fn(report), condition, stream);
    return text;
  };
}
