import { expect, test } from "vitest";
import type { Pending } from "../../src/lisp/function.ts";
import { createLisp, type Lisp } from "../../src/lisp/lisp.ts";
import type { Machine } from "../../src/lisp/machine.ts";
import type { Value } from "../../src/lisp/values.ts";

/** A tool that returns ten times its argument and fails for 13. The host completes the latest call first. */
function withTool(): { lisp: Lisp; most: () => number; cancelled: () => number } {
  const pendings: (Pending & { done: boolean })[] = [];
  const counts = { most: 0, cancelled: 0 };
  const start = (_: Machine, [n]: Value[]): Pending => {
    const pending = {
      done: false,
      take: (m: Machine) => (n === 13 ? m.fail("unlucky") : (n as number) * 10),
      cancel: () => {
        counts.cancelled++;
      },
    };
    pendings.push(pending);
    counts.most = Math.max(counts.most, pendings.length);
    return pending;
  };
  const lisp = createLisp({
    host: {
      waitAny: () => {
        const latest = pendings.pop();
        if (latest !== undefined) latest.done = true;
      },
    },
  });
  lisp.define("TOOL", "TEN", { call: (m, args) => start(m, args).take(m), start });
  return { lisp, most: () => counts.most, cancelled: () => counts.cancelled };
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
])("branches step through %s", (_, text, expected) => {
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

test("a call inside a library function blocks", () => {
  const { lisp } = withTool();
  expect(lisp.evaluate("(pmap (lambda (x) (mapcar #'tool:ten (list x x))) '(1 2))").values).toEqual(
    ["((10 10) (20 20))"],
  );
});
