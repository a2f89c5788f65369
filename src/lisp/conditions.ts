// Condition classes and signalling. Handlers run from the innermost outwards, each with only the outer ones
// in effect. An unhandled condition leaves the evaluation as `Unhandled`.

import type { Backtrace } from "./backtrace.ts";
import { classNamed, plainSlot, sharedClass } from "./classes.ts";
import { named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";
import { keyword, NIL, Sym } from "./symbol.ts";
import { Instance, type LispClass, type Value } from "./values.ts";

export interface Handler {
  readonly matches: (m: Machine, condition: Instance) => boolean;
  readonly run: (m: Machine, condition: Instance) => void;
}

export interface HandlerCluster {
  readonly handlers: readonly Handler[];
  readonly outer: HandlerCluster | null;
}

/** Thrown out of the evaluation with an unhandled condition. */
export class Unhandled {
  readonly condition: Instance;
  readonly backtrace: Backtrace;
  readonly restarts: readonly string[];
  constructor(condition: Instance, backtrace: Backtrace, restarts: readonly string[]) {
    this.condition = condition;
    this.backtrace = backtrace;
    this.restarts = restarts;
  }
}

/** Makes a condition of a standard class; slots are given by name. */
export function makeCondition(
  className: string,
  slots: Readonly<Record<string, Value>> = {},
): Instance {
  return fillCondition(classNamed(className), slots);
}

function fillCondition(cls: LispClass, slots: Readonly<Record<string, Value>>): Instance {
  const made = new Instance(cls, new Array(cls.slots.length).fill(undefined));
  for (const [name, value] of Object.entries(slots)) {
    const index = cls.slotIndex.get(slotName(name));
    if (index === undefined) throw new Error(`${cls.name.name} has no slot ${name}`);
    made.slots[index] = value;
  }
  const format = cls.slotIndex.get(slotName("FORMAT-ARGUMENTS"));
  if (format !== undefined) made.slots[format] ??= NIL;
  return made;
}

/** Slot names are internal symbols, so they do not clash with a program's names. */
export const slotName = (name: string): Sym => named(`%${name}`);

/** Null if the slot is missing or unbound. */
export function conditionSlot(condition: Instance, name: string): Value | null {
  const index = condition.cls.slotIndex.get(slotName(name));
  return (index === undefined ? undefined : condition.slots[index]) ?? null;
}

export function isCondition(value: Value, className = "CONDITION"): value is Instance {
  return value instanceof Instance && value.cls.precedence.includes(classNamed(className));
}

/** Returns if every handler declined. */
export function signalCondition(m: Machine, condition: Instance): void {
  const outside = m.handlers;
  try {
    for (let cluster = outside; cluster !== null; cluster = cluster.outer) {
      m.handlers = cluster.outer;
      for (const handler of cluster.handlers)
        if (handler.matches(m, condition)) handler.run(m, condition);
    }
  } finally {
    m.handlers = outside;
  }
}

/** The report of a condition, as `princ` prints it. */
export function reportOf(m: Machine, condition: Instance): string {
  for (const cls of condition.cls.precedence)
    if (cls.report !== null) return cls.report(m, condition);
  return `Condition ${m.show(condition.cls.name)} was signalled.`;
}

function simpleReport(m: Machine, condition: Instance): string {
  const control = conditionSlot(condition, "FORMAT-CONTROL");
  if (control === null) return `Condition ${m.show(condition.cls.name)} was signalled.`;
  return m.formatted(control, conditionSlot(condition, "FORMAT-ARGUMENTS") ?? NIL);
}

type Report = (m: Machine, condition: Instance) => string;

const shown = (m: Machine, condition: Instance, slot: string): string => {
  const value = conditionSlot(condition, slot);
  return value === null ? "#<unbound>" : m.show(value);
};

const plainText = (m: Machine, condition: Instance): string => {
  const text = conditionSlot(condition, "TEXT");
  return text instanceof Str ? text.toString() : simpleReport(m, condition);
};

const table: readonly [name: string, supers: string, slots: string, report?: Report][] = [
  ["CONDITION", "T", ""],
  ["SERIOUS-CONDITION", "CONDITION", ""],
  ["ERROR", "SERIOUS-CONDITION", ""],
  ["WARNING", "CONDITION", ""],
  ["STYLE-WARNING", "WARNING", ""],
  ["SIMPLE-CONDITION", "CONDITION", "FORMAT-CONTROL FORMAT-ARGUMENTS", simpleReport],
  ["SIMPLE-ERROR", "SIMPLE-CONDITION ERROR", ""],
  ["SIMPLE-WARNING", "SIMPLE-CONDITION WARNING", ""],
  ["%SIMPLE-STYLE-WARNING", "SIMPLE-CONDITION STYLE-WARNING", ""],
  ["STORAGE-CONDITION", "SERIOUS-CONDITION", ""],
  [
    "ARITHMETIC-ERROR",
    "ERROR",
    "OPERATION OPERANDS",
    (m, c) =>
      `arithmetic error ${c.cls.name.name} signalled by ${shown(m, c, "OPERATION")} on ${shown(m, c, "OPERANDS")}`,
  ],
  ["DIVISION-BY-ZERO", "ARITHMETIC-ERROR", ""],
  ["FLOATING-POINT-OVERFLOW", "ARITHMETIC-ERROR", ""],
  ["FLOATING-POINT-UNDERFLOW", "ARITHMETIC-ERROR", ""],
  ["FLOATING-POINT-INVALID-OPERATION", "ARITHMETIC-ERROR", ""],
  ["FLOATING-POINT-INEXACT", "ARITHMETIC-ERROR", ""],
  ["CELL-ERROR", "ERROR", "NAME"],
  [
    "UNBOUND-VARIABLE",
    "CELL-ERROR",
    "",
    (m, c) =>
      `The variable ${shown(m, c, "NAME")} is unbound.${hintFor(conditionSlot(c, "NAME"), "variable")}`,
  ],
  [
    "UNDEFINED-FUNCTION",
    "CELL-ERROR",
    "",
    (m, c) =>
      `The function ${shown(m, c, "NAME")} is undefined.${hintFor(conditionSlot(c, "NAME"), "function")}`,
  ],
  [
    "UNBOUND-SLOT",
    "CELL-ERROR",
    "INSTANCE",
    (m, c) =>
      `The slot ${shown(m, c, "NAME")} is unbound in the object ${shown(m, c, "INSTANCE")}.`,
  ],
  [
    "TYPE-ERROR",
    "ERROR",
    "DATUM EXPECTED-TYPE",
    (m, c) => `The value ${shown(m, c, "DATUM")} is not of type ${shown(m, c, "EXPECTED-TYPE")}.`,
  ],
  ["SIMPLE-TYPE-ERROR", "SIMPLE-CONDITION TYPE-ERROR", ""],
  [
    "%CASE-FAILURE",
    "TYPE-ERROR",
    "NAME POSSIBILITIES",
    (m, c) =>
      `${shown(m, c, "DATUM")} fell through ${shown(m, c, "NAME")}. Wanted one of ${shown(m, c, "POSSIBILITIES")}.`,
  ],
  ["%INDEX-ERROR", "TYPE-ERROR", "TEXT", plainText],
  ["CONTROL-ERROR", "ERROR", "TEXT", plainText],
  ["PROGRAM-ERROR", "ERROR", "TEXT", plainText],
  ["%SIMPLE-PROGRAM-ERROR", "SIMPLE-CONDITION PROGRAM-ERROR", ""],
  ["%PATTERN-MISMATCH", "ERROR", "TEXT", plainText],
  ["PACKAGE-ERROR", "ERROR", "PACKAGE TEXT", plainText],
  ["GUILDHALL:PACKAGE-LOCK-VIOLATION", "PACKAGE-ERROR PROGRAM-ERROR", ""],
  ["STREAM-ERROR", "ERROR", "STREAM"],
  [
    "END-OF-FILE",
    "STREAM-ERROR",
    "TEXT",
    (_, c) => conditionSlot(c, "TEXT")?.toString() ?? "end of file",
  ],
  ["PARSE-ERROR", "ERROR", "TEXT", plainText],
  ["READER-ERROR", "PARSE-ERROR STREAM-ERROR", ""],
  ["%READER-END-OF-FILE", "END-OF-FILE READER-ERROR", ""],
  ["FILE-ERROR", "ERROR", "PATHNAME TEXT", plainText],
  ["GUILDHALL:FORMAT-ERROR", "ERROR", "TEXT", plainText],
  [
    "PRINT-NOT-READABLE",
    "ERROR",
    "OBJECT",
    (m, c) => `${shown(m, c, "OBJECT")} cannot be printed readably.`,
  ],
  ["GUILDHALL:NOT-AVAILABLE", "ERROR", "NAME TEXT", plainText],
  ["GUILDHALL:BUDGET-EXCEEDED", "STORAGE-CONDITION", "TEXT", plainText],
  ["GUILDHALL:STEP-BUDGET-EXCEEDED", "GUILDHALL:BUDGET-EXCEEDED", ""],
  ["GUILDHALL:CELL-BUDGET-EXCEEDED", "GUILDHALL:BUDGET-EXCEEDED", ""],
  ["GUILDHALL:DEPTH-BUDGET-EXCEEDED", "GUILDHALL:BUDGET-EXCEEDED", ""],
  ["GUILDHALL:OUTPUT-BUDGET-EXCEEDED", "GUILDHALL:BUDGET-EXCEEDED", ""],
  ["GUILDHALL:TIME-BUDGET-EXCEEDED", "GUILDHALL:BUDGET-EXCEEDED", ""],
  ["GUILDHALL:INTERRUPTED", "GUILDHALL:BUDGET-EXCEEDED", ""],
];

export function defineConditions(): void {
  for (const [name, supers, slots, report] of table) {
    const own = slots
      .split(" ")
      .filter(Boolean)
      .map((slot) => plainSlot(slotName(slot), keyword(slot)));
    const made = sharedClass(name, "condition", supers.split(" "), own);
    made.report = report ?? null;
  }
}

// Hints for users of Scheme, Emacs Lisp and Clojure, by the name they tried.

/** A sentence with a leading space, or "". */
function hintFor(name: Value | null, kind: "variable" | "function"): string {
  const hint =
    name instanceof Sym
      ? (kind === "function" ? functionHints : variableHints).get(name.name)
      : undefined;
  return hint === undefined ? "" : ` ${hint}`;
}

export const functionHints: ReadonlyMap<string, string> = new Map([
  [
    "DEFINE",
    "This is Common Lisp: use (defun name (args) body) for functions and (defparameter *name* value) for variables.",
  ],
  ["DEFN", "This is Common Lisp: use (defun name (args) body)."],
  ["FN", "This is Common Lisp: use (lambda (args) body)."],
  ["DEF", "This is Common Lisp: use (defparameter *name* value)."],
  ["BEGIN", "This is Common Lisp: use (progn form …)."],
  ["SET!", "This is Common Lisp: use (setf place value)."],
  ["LETREC", "This is Common Lisp: use labels for local recursive functions."],
  [
    "CALL/CC",
    "This is Common Lisp: use block and return-from, or catch and throw, to leave early.",
  ],
  [
    "CALL-WITH-CURRENT-CONTINUATION",
    "This is Common Lisp: use block and return-from, or catch and throw, to leave early.",
  ],
  ["DISPLAY", 'This is Common Lisp: use (princ x) or (format t "~a" x).'],
  ["NEWLINE", "This is Common Lisp: use (terpri)."],
  ["NULL?", "This is Common Lisp: predicates end in P; use (null x)."],
  ["PAIR?", "This is Common Lisp: predicates end in P; use (consp x)."],
  ["EQUAL?", "This is Common Lisp: use (equal a b)."],
  ["STRING-APPEND", "This is Common Lisp: use (concatenate 'string a b)."],
  ["STRING-JOIN", 'Use (format nil "~{~a~^, ~}" list).'],
  ["HASH-REF", "This is Common Lisp: use (gethash key table)."],
  ["FOR-EACH", "This is Common Lisp: use (dolist (x list) …) or mapc."],
  ["FILTER", "This is Common Lisp: use (remove-if-not test list)."],
  ["FOLDL", "This is Common Lisp: use (reduce function list :initial-value x)."],
  ["PRINTLN", 'This is Common Lisp: use (format t "~a~%" x).'],
  ["REQUIRE", "Modules cannot be loaded; the tools of this session already are packages."],
]);

const variableHints: ReadonlyMap<string, string> = new Map([
  ["#T", "This is Common Lisp: true is T, false is NIL."],
  ["TRUE", "This is Common Lisp: true is T."],
  ["FALSE", "This is Common Lisp: false is NIL."],
  ["NULL", "This is Common Lisp: the empty list is NIL, JSON's null is :NULL."],
  ["ELSE", "This is Common Lisp: the last clause of cond begins with T; case takes OTHERWISE."],
]);
