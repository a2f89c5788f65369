import { expect, test } from "vitest";
import { createLisp, type Lisp } from "../../src/lisp/lisp.ts";
import type { Machine } from "../../src/lisp/machine.ts";
import type { Value } from "../../src/lisp/values.ts";

/** A tool that returns ten times its argument and fails for 13. Counts the calls that wait at once. */
function withTool(): { lisp: Lisp; most: () => number; cancelled: () => number } {
  let waiting = 0;
  let most = 0;
  let cancelled = 0;
  const lisp = createLisp({
    host: {
      wait: (pending) => {
        (pending as { done: boolean }).done = true;
      },
    },
  });
  const call = (m: Machine, [n]: Value[]): Value => {
    const pending = { done: false };
    most = Math.max(most, ++waiting);
    try {
      m.waitFor(pending);
      return n === 13 ? m.fail("unlucky") : (n as number) * 10;
    } finally {
      waiting--;
      if (!pending.done) cancelled++;
    }
  };
  lisp.define("TOOL", "TEN", { call });
  return { lisp, most: () => most, cancelled: () => cancelled };
}

test("pmap keeps the order and runs at most eight calls at once", () => {
  const { lisp, most } = withTool();
  expect(lisp.evaluate("(pmap #'tool:ten '(1 2 3 4 5 6 7 8 9 10 11 12))").values).toEqual([
    "(10 20 30 40 50 60 70 80 90 100 110 120)",
  ]);
  expect(most()).toBe(8);
});

test.each([
  [
    "let and arithmetic",
    "(pmap (lambda (x) (let ((a (tool:ten x))) (+ a (tool:ten a)))) '(1 2 3))",
    "(110 220 330)",
  ],
  [
    "handler-case",
    "(pmap (lambda (x) (handler-case (tool:ten x) (error (c) (princ-to-string c)))) '(12 13 14))",
    '(120 "unlucky" 140)',
  ],
  [
    "restarts",
    "(pmap (lambda (x) (restart-case (if (= x 2) (invoke-restart 'mine x) (tool:ten x)) (mine (n) (list n)))) '(1 2 3))",
    "(10 (2) 30)",
  ],
  [
    "loops and exits",
    "(pmap (lambda (x) (dolist (i '(1 2 3) :none) (when (> (tool:ten (* i x)) 25) (return i)))) '(1 2 9))",
    "(3 2 1)",
  ],
  [
    "extended loop",
    "(pmap (lambda (x) (loop for i from 1 to 3 sum (tool:ten (* x i)))) '(1 2))",
    "(60 120)",
  ],
  [
    "functions with all kinds of parameters",
    "(defun f (a &optional (b (tool:ten a)) &rest r &key (c (tool:ten b)) &allow-other-keys) (list a b c)) (pmap #'f '(1 2))",
    "((1 10 100) (2 20 200))",
  ],
  [
    "tail calls",
    "(defun down (n) (if (= n 0) :end (progn (tool:ten 1) (down (- n 1))))) (pmap #'down '(1 500 3))",
    "(:END :END :END)",
  ],
  [
    "local functions and closures",
    "(pmap (lambda (x) (let ((n 0)) (flet ((more () (incf n (tool:ten x)))) (more) (more) n))) '(1 2))",
    "(20 40)",
  ],
  [
    "several values",
    "(pmap (lambda (x) (multiple-value-bind (q r) (floor (tool:ten x) 3) (list q r))) '(1 2))",
    "((3 1) (6 2))",
  ],
  ["catch and throw", "(pmap (lambda (x) (catch 'k (throw 'k (tool:ten x)) 1)) '(1 2))", "(10 20)"],
  ["apply", "(pmap (lambda (x) (apply #'tool:ten (list x))) '(1 2))", "(10 20)"],
  ["in-parallel", "(in-parallel (tool:ten 1) (+ 1 2) (tool:ten 2))", "(10 3 20)"],
])("calls wait together in branches with %s", (_, text, expected) => {
  const { lisp, most } = withTool();
  const { values, condition } = lisp.evaluate(text);
  expect(condition).toBeNull();
  expect(values).toEqual([expected]);
  expect(most()).toBeGreaterThan(1);
});

test("dynamic bindings belong to their branch", () => {
  const { lisp } = withTool();
  expect(
    lisp.evaluate(
      "(defvar *x* 0) (pmap (lambda (x) (let ((*x* x)) (tool:ten 1) (incf *x*) (tool:ten 1) *x*)) '(1 2 3))",
    ).values,
  ).toEqual(["(2 3 4)"]);
  expect(lisp.evaluate("*x*").values).toEqual(["0"]);
});

test("an error in one branch ends the others, runs their cleanup, and reaches the caller", () => {
  const { lisp, cancelled } = withTool();
  const ended = lisp.evaluate(
    '(pmap (lambda (x) (unwind-protect (tool:ten x) (princ "c"))) \'(1 2 13))',
  );
  expect(ended.condition?.message).toBe("unlucky");
  expect(ended.output).toBe("ccc");
  expect(cancelled()).toBe(2);
  expect(
    lisp.evaluate("(handler-case (pmap #'tool:ten '(13 1)) (error () :handled))").values,
  ).toEqual([":HANDLED"]);
});

test("calls inside library functions wait together, too", () => {
  const { lisp, most } = withTool();
  expect(lisp.evaluate("(pmap (lambda (x) (mapcar #'tool:ten (list x x))) '(1 2))").values).toEqual(
    ["((10 10) (20 20))"],
  );
  expect(most()).toBe(2);
});

test("a branch sees neither the handlers nor the catches of one that waits below it", () => {
  const { lisp } = withTool();
  expect(
    lisp.evaluate(
      "(handler-case (pmap (lambda (x) (if (= x 1) (catch 'k (handler-case (tool:ten x) (error () :mine))) (throw 'k x))) '(1 2)) (control-error () :none))",
    ).values,
  ).toEqual([":NONE"]);
  expect(
    lisp.evaluate(
      "(handler-case (pmap (lambda (x) (handler-case (tool:ten x) (division-by-zero () :mine)) (if (= x 2) (/ x 0) x)) '(1 2)) (error () :outer))",
    ).values,
  ).toEqual([":OUTER"]);
});

test("nested pmaps keep their results apart", () => {
  const { lisp } = withTool();
  expect(
    lisp.evaluate("(pmap (lambda (x) (pmap (lambda (y) (tool:ten (+ x y))) '(1 2))) '(10 20 30))")
      .values,
  ).toEqual(["((110 120) (210 220) (310 320))"]);
});
