// What to say to those who come from Scheme, Emacs Lisp or Clojure, by the name they tried.

import { Sym } from "./symbol.ts";
import type { Value } from "./values.ts";

/** A sentence for those who come from elsewhere, with a space before it, or nothing. */
export function hintFor(name: Value | null, kind: "variable" | "function"): string {
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
  [
    "REQUIRE",
    "There are no modules to load here; the tools bound to this session are packages already.",
  ],
]);

const variableHints: ReadonlyMap<string, string> = new Map([
  ["#T", "This is Common Lisp: true is T, false is NIL."],
  ["TRUE", "This is Common Lisp: true is T."],
  ["FALSE", "This is Common Lisp: false is NIL."],
  ["NULL", "This is Common Lisp: the empty list is NIL, JSON's null is :NULL."],
  ["ELSE", "This is Common Lisp: the last clause of cond begins with T; case takes OTHERWISE."],
]);
