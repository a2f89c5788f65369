// Condition classes and signalling. Handlers run from the innermost outwards, each with only the outer ones
// in effect. An unhandled condition leaves the evaluation as `Unhandled`.

import type { Backtrace } from "./backtrace.ts";
import { classNamed, plainSlot, sharedClass } from "./classes.ts";
import { named } from "./define.ts";
import type { Machine } from "./machine.ts";
import type { Transfer } from "./restarts.ts";
import { Str } from "./string.ts";
import { keyword, NIL, Sym, words } from "./symbol.ts";
import { Instance, type Value } from "./values.ts";

/** The handlers of one form. */
export interface HandlerCluster {
  readonly outer: HandlerCluster | null;
  /** Runs those that match. Returns the exit that one of them wants, or null if all declined. */
  readonly handle: (m: Machine, condition: Instance) => Transfer | null;
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

/** Slots by name; a JS string stands for a Lisp string. */
export type ConditionSlots = Readonly<Record<string, Value | string>>;

/** Makes a condition of a standard class. */
export function makeCondition(className: string, slots: ConditionSlots = {}): Instance {
  const cls = classNamed(className);
  const made = new Instance(cls, new Array(cls.slots.length).fill(undefined));
  for (const [name, value] of Object.entries(slots)) {
    const index = cls.slotIndex.get(slotName(name));
    if (index === undefined) throw new Error(`${cls.name.name} has no slot ${name}`);
    made.slots[index] = typeof value === "string" ? new Str(value) : value;
  }
  const format = cls.slotIndex.get(slotName("FORMAT-ARGUMENTS"));
  if (format !== undefined) made.slots[format] ??= NIL;
  return made;
}

/** Slot names are internal symbols, so they do not clash with a program's names. */
export function slotName(name: string): Sym {
  let found = slotNames.get(name);
  if (found === undefined) {
    found = named(`%${name}`);
    slotNames.set(name, found);
  }
  return found;
}

const slotNames = new Map<string, Sym>();

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
  const exit = runHandlers(m, condition);
  if (exit !== null) throw exit;
}

/** The exit that a handler wants. The caller throws it: V8 never optimises functions that do not return. */
export function runHandlers(m: Machine, condition: Instance): Transfer | null {
  const outside = m.handlers;
  // A non-local exit restores the handlers at its target, which spares a `finally` here.
  for (let cluster = outside; cluster !== null; cluster = cluster.outer) {
    m.handlers = cluster.outer;
    const exit = cluster.handle(m, condition);
    if (exit !== null) return exit;
  }
  m.handlers = outside;
  return null;
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

/** A sentence with the names of slots in braces. */
const saying =
  (sentence: string): Report =>
  (m, condition) =>
    sentence.replace(/\{([A-Z-]+)\}/g, (_, slot) => shown(m, condition, slot));

const plainText = (m: Machine, condition: Instance): string => {
  const text = conditionSlot(condition, "TEXT");
  return text instanceof Str ? text.toString() : simpleReport(m, condition);
};

const fellThrough = "{DATUM} fell through {NAME}. Wanted one of {POSSIBILITIES}.";

/** A report, or its sentence with the names of slots in braces. */
type Row = readonly [name: string, supers: string, slots: string, report?: Report | string];

const table: readonly Row[] = [
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
      `arithmetic error ${c.cls.name.name}${saying(" signalled by {OPERATION} on {OPERANDS}")(m, c)}`,
  ],
  ["DIVISION-BY-ZERO", "ARITHMETIC-ERROR", ""],
  ...words("OVERFLOW UNDERFLOW INVALID-OPERATION INEXACT").map(
    (kind) => [`FLOATING-POINT-${kind}`, "ARITHMETIC-ERROR", ""] as const,
  ),
  ["CELL-ERROR", "ERROR", "NAME"],
  ["UNBOUND-VARIABLE", "CELL-ERROR", "", hinting("The variable {NAME} is unbound.", "variable")],
  [
    "UNDEFINED-FUNCTION",
    "CELL-ERROR",
    "",
    hinting("The function {NAME} is undefined.", "function"),
  ],
  [
    "UNBOUND-SLOT",
    "CELL-ERROR",
    "INSTANCE",
    "The slot {NAME} is unbound in the object {INSTANCE}.",
  ],
  [
    "TYPE-ERROR",
    "ERROR",
    "DATUM EXPECTED-TYPE",
    "The value {DATUM} is not of type {EXPECTED-TYPE}.",
  ],
  ["SIMPLE-TYPE-ERROR", "SIMPLE-CONDITION TYPE-ERROR", ""],
  ["%CASE-FAILURE", "TYPE-ERROR", "NAME POSSIBILITIES", fellThrough],
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
    (_, c) => String(conditionSlot(c, "TEXT") ?? "end of file"),
  ],
  ["PARSE-ERROR", "ERROR", "TEXT", plainText],
  ["READER-ERROR", "PARSE-ERROR STREAM-ERROR", ""],
  ["%READER-END-OF-FILE", "END-OF-FILE READER-ERROR", ""],
  ["FILE-ERROR", "ERROR", "PATHNAME TEXT", plainText],
  ["GUILDHALL:FORMAT-ERROR", "ERROR", "TEXT", plainText],
  ["PRINT-NOT-READABLE", "ERROR", "OBJECT", "{OBJECT} cannot be printed readably."],
  ["GUILDHALL:NOT-AVAILABLE", "ERROR", "NAME TEXT", plainText],
  ["GUILDHALL:BUDGET-EXCEEDED", "STORAGE-CONDITION", "TEXT", plainText],
  ["GUILDHALL:INTERRUPTED", "GUILDHALL:BUDGET-EXCEEDED", ""],
  ...words("STEP CELL DEPTH OUTPUT TIME").map(
    (kind) => [`GUILDHALL:${kind}-BUDGET-EXCEEDED`, "GUILDHALL:BUDGET-EXCEEDED", ""] as const,
  ),
];

export function defineConditions(): void {
  for (const [name, supers, slots, report] of table) {
    const own = slots
      .split(" ")
      .filter(Boolean)
      .map((slot) => plainSlot(slotName(slot), keyword(slot)));
    const made = sharedClass(name, "condition", supers.split(" "), own);
    made.report = typeof report === "string" ? saying(report) : (report ?? null);
  }
}

// Hints for users of Scheme, Emacs Lisp and Clojure, by the name they tried.

/** The sentence, and the hint for the name if there is one. */
function hinting(sentence: string, kind: "variable" | "function"): Report {
  return (m, condition) => {
    const name = conditionSlot(condition, "NAME");
    const hint = name instanceof Sym ? hintFor(name.name, kind) : undefined;
    return saying(sentence)(m, condition) + (hint === undefined ? "" : ` ${hint}`);
  };
}

function hintFor(name: string, kind: "variable" | "function"): string | undefined {
  return kind === "function"
    ? (functionHints.get(name) ?? packageHint(name))
    : variableHints.get(name);
}

/** Tools are listed as `github.list_issues` or `github__list_issues`; here they are `github:list-issues`. */
function packageHint(name: string): string | undefined {
  const [, toolkit, tool] = /^(\w[\w-]*?)(?:\.|__)(\w.*)$/.exec(name) ?? [];
  if (toolkit === undefined || tool === undefined) return undefined;
  const spelled = `${toolkit}:${tool}`.toLowerCase().replaceAll("_", "-");
  return `For a tool, write (${spelled} :argument value).`;
}

const ofCommonLisp = (entries: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(entries).map(([name, use]) => [name, `This is Common Lisp: ${use}`]);

const leaveEarly = "use block and return-from, or catch and throw, to leave early.";

export const functionHints: ReadonlyMap<string, string> = new Map([
  ...ofCommonLisp({
    DEFINE:
      "use (defun name (args) body) for functions and (defparameter *name* value) for variables.",
    DEFN: "use (defun name (args) body).",
    FN: "use (lambda (args) body).",
    DEF: "use (defparameter *name* value).",
    BEGIN: "use (progn form …).",
    "SET!": "use (setf place value).",
    LETREC: "use labels for local recursive functions.",
    "CALL/CC": leaveEarly,
    "CALL-WITH-CURRENT-CONTINUATION": leaveEarly,
    DISPLAY: 'use (princ x) or (format t "~a" x).',
    NEWLINE: "use (terpri).",
    "NULL?": "predicates end in P; use (null x).",
    "PAIR?": "predicates end in P; use (consp x).",
    "EQUAL?": "use (equal a b).",
    "STRING-APPEND": "use (concatenate 'string a b).",
    "HASH-REF": "use (gethash key table).",
    "FOR-EACH": "use (dolist (x list) …) or mapc.",
    FILTER: "use (remove-if-not test list).",
    FOLDL: "use (reduce function list :initial-value x).",
    PRINTLN: 'use (format t "~a~%" x).',
  }),
  ["STRING-JOIN", 'Use (format nil "~{~a~^, ~}" list).'],
  ["REQUIRE", "Modules cannot be loaded; the tools of this session already are packages."],
]);

const variableHints: ReadonlyMap<string, string> = new Map(
  ofCommonLisp({
    "#T": "true is T, false is NIL.",
    TRUE: "true is T.",
    FALSE: "false is NIL.",
    NULL: "the empty list is NIL, JSON's null is :NULL.",
    ELSE: "the last clause of cond begins with T; case takes OTHERWISE.",
  }),
);
