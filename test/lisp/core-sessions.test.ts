import { expect, test } from "vitest";
import { createLisp } from "../../src/lisp/lisp.ts";

test("sessions share nothing a program can change", () => {
  const one = createLisp();
  const other = createLisp();
  one.evaluate(
    "(defun mine () 1) (defvar *mine* 2) (setf (get 'car 'note) 3) (setq *print-base* 2) (defmethod print-object ((x hash-table) s) (princ \"table\" s))",
  );
  one.evaluate(
    "(defstruct point x) (defmacro m () 1) (defpackage :p) (define-condition c (error) ()) (deftype small () 'integer) (defsetf foo set-foo)",
  );
  expect(
    other.evaluate(
      "(list (fboundp 'mine) (boundp '*mine*) (get 'car 'note) *print-base* (find-package :p) (find-class 'point nil) (find-class 'c nil))",
    ).values,
  ).toEqual(["(NIL NIL NIL 10 NIL NIL NIL)"]);
  expect(other.evaluate("(princ-to-string (make-hash-table))").values[0]).not.toContain('table"');
  expect(one.evaluate("(list (mine) *mine*)").values).toEqual(["(1 10)"]);
  expect(other.evaluate("*").values).not.toEqual(["(1 10)"]);
});

test("sessions entered from inside each other keep their own variables", () => {
  const inner = createLisp();
  inner.evaluate("(setq *print-base* 2)");
  const outer = createLisp();
  outer.define("HOST", "ASK", { call: (m) => m.string(inner.evaluate("5").values[0] ?? "") });
  expect(
    outer.evaluate("(let ((*print-base* 16)) (list (host:ask) (princ-to-string 255)))").values,
  ).toEqual(['("101" "FF")']);
});

test("names of the language cannot be redefined, but can be shadowed", () => {
  const lisp = createLisp();
  for (const text of [
    "(defun car (x) x)",
    "(defmacro when (x) x)",
    "(setf (symbol-function 'car) #'cdr)",
    "(defvar list 1)",
    "(setq list 1)",
    "(defstruct list a)",
    "(defclass string () ())",
  ]) {
    expect(lisp.evaluate(text).condition?.type, text).toBe("PACKAGE-LOCK-VIOLATION");
  }
  expect(lisp.evaluate("(flet ((car (x) (list :mine x))) (car 1))").values).toEqual(["(:MINE 1)"]);
  expect(
    lisp.evaluate(
      "(defpackage :own (:use :cl) (:shadow #:car)) (in-package :own) (defun car (x) (list :mine x)) (car 1)",
    ).values,
  ).toEqual(["(:MINE 1)"]);
});

test("programs cannot reach objects of the host", () => {
  const lisp = createLisp();
  for (const name of [
    "constructor",
    "__proto__",
    "process",
    "globalThis",
    "|constructor|",
    "|__proto__|",
  ]) {
    expect(lisp.evaluate(name).condition?.type, name).toBe("UNBOUND-VARIABLE");
    expect(lisp.evaluate(`(${name})`).condition?.type, name).toBe("UNDEFINED-FUNCTION");
    expect(
      lisp.evaluate(
        `(let ((table (make-hash-table :test 'equal))) (list (gethash "${name}" table) (getf '(:a 1) '${name}) (get 'x '${name}) (find-class '${name} nil)))`,
      ).values,
    ).toEqual(["(NIL NIL NIL NIL)"]);
  }
  expect(
    lisp.evaluate(
      "(let ((constructor 1)) (list constructor (funcall (lambda (&key __proto__) __proto__) :__proto__ 2)))",
    ).values,
  ).toEqual(["(1 2)"]);
});

test("the library is made once and shared by all sessions", () => {
  const [first, second] = [createLisp(), createLisp()].map(
    ({ machine }) => machine.packages.get("COMMON-LISP")?.symbols.get("CAR")?.fn,
  );
  expect(first).toBeDefined();
  expect(second).toBe(first);
});

test("definitions are listed, and errors report positions", () => {
  const lisp = createLisp();
  lisp.evaluate(
    "(defun f (x)\n  (car x)) (defvar *v* 1) (defmacro m () 1) (defstruct point x) (defclass c () ()) (define-condition oops (error) ()) (defpackage :p) (deftype small () 'bit)",
  );
  expect(lisp.definitions().map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "function F",
    "variable *V*",
    "macro M",
    "structure POINT",
    "function MAKE-POINT",
    "class C",
    "condition OOPS",
    "package :P",
    "type SMALL",
  ]);
  const { condition } = lisp.evaluate("(list 1)\n  (list (f 5))");
  expect(condition).toMatchObject({
    type: "TYPE-ERROR",
    position: { line: 2, column: 3 },
    backtrace: [{ call: "(F 5)", position: { line: 1, column: 1 } }],
  });
  expect(lisp.evaluate("(defun f () 2)")).toMatchObject({
    values: ["F"],
    warnings: ["redefining F"],
  });
});

test("a session runs one evaluation at a time", () => {
  const lisp = createLisp();
  lisp.define("HOST", "AGAIN", { call: (m) => m.string(lisp.evaluate("1").values[0] ?? "") });
  expect(lisp.evaluate("(host:again)").condition?.message).toContain("already evaluating");
  expect(lisp.evaluate("(+ 1 2)").values).toEqual(["3"]);
});

test("names of extensions belong to the program once it defines them; ours stay reachable", () => {
  const lisp = createLisp();
  const other = createLisp();
  expect(lisp.evaluate("(defun pmap (x) (list :mine x)) (pmap 1)").values).toEqual(["(:MINE 1)"]);
  expect(lisp.evaluate("(list (pmap 2) (guildhall:pmap #'1+ '(1 2)))").values).toEqual([
    "((:MINE 2) (2 3))",
  ]);
  expect(other.evaluate("(pmap #'1+ '(1 2))").values).toEqual(["(2 3)"]);
  expect(lisp.evaluate("(defun car (x) x)").condition?.type).toBe("PACKAGE-LOCK-VIOLATION");
});

test("returned values have labels only where a part contains itself", () => {
  const lisp = createLisp({ brief: true });
  const shown = (text: string) => lisp.evaluate(text).values;
  expect(shown("(loop for x on '(1 2 3) collect x)")).toEqual(["((1 2 3) (2 3) (3))"]);
  expect(shown("(let ((x (list 1))) (vector x x (list x)))")).toEqual(["#((1) (1) ((1)))"]);
  expect(shown("(let ((x (list 1 2))) (nconc x x))")).toEqual(["#1=(1 2 . #1#)"]);
  expect(shown("(let ((x (list 1 2))) (setf (car x) x) x)")).toEqual(["#1=(#1# 2)"]);
  expect(shown("(let ((v (vector 1 nil))) (setf (aref v 1) (list v)) v)")).toEqual([
    "#1=#(1 (#1#))",
  ]);
});

test("a print-object method that prints its object ends with a condition, and the session continues", () => {
  const lisp = createLisp();
  const { condition } = lisp.evaluate(
    "(defclass k () ()) (defmethod print-object ((k k) s) (print k s)) (defun f (k) (print k) 1) (f (make-instance 'k))",
  );
  expect(condition?.type).toBe("DEPTH-BUDGET-EXCEEDED");
  expect(lisp.evaluate("(+ 1 2)").values).toEqual(["3"]);
});
