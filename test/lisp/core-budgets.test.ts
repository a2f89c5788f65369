import { expect, test } from "vitest";
import { createLisp } from "../../src/lisp/lisp.ts";

const small = { steps: 300_000, cells: 50_000, depth: 500, output: 1_000, timeMs: 60_000 };

test.each([
  ["(loop)", "STEP-BUDGET-EXCEEDED"],
  ["(dotimes (i 10000000))", "STEP-BUDGET-EXCEEDED"],
  ["(labels ((f () (g)) (g () (f))) (f))", "STEP-BUDGET-EXCEEDED"],
  ["(defmacro again () '(again)) (again)", "STEP-BUDGET-EXCEEDED"],
  ["(let ((l (list 1))) (setf (cdr l) l) (member 9 l))", "STEP-BUDGET-EXCEEDED"],
  ["(let ((l nil)) (loop (push 1 l)))", "CELL-BUDGET-EXCEEDED"],
  ["(make-list 1000000000)", "CELL-BUDGET-EXCEEDED"],
  ["(make-string 1000000000)", "CELL-BUDGET-EXCEEDED"],
  ["(make-array '(100000 100000))", "CELL-BUDGET-EXCEEDED"],
  ["(expt 7 (expt 7 20))", "CELL-BUDGET-EXCEEDED"],
  ["(let ((x 3)) (loop (setq x (* x x))))", "CELL-BUDGET-EXCEEDED"],
  ['(let ((s "ab")) (loop (setq s (concatenate \'string s s))))', "CELL-BUDGET-EXCEEDED"],
  ["(defun deep (n) (+ 1 (deep n))) (deep 1)", "DEPTH-BUDGET-EXCEEDED"],
  ['(loop (princ "0123456789"))', "OUTPUT-BUDGET-EXCEEDED"],
  ['(format t "~1000000000a" 1)', "OUTPUT-BUDGET-EXCEEDED"],
])("%s ends with %s, and the session stays usable", (text, type) => {
  const lisp = createLisp({ budgets: small });
  expect(lisp.evaluate(text).condition?.type).toBe(type);
  expect(lisp.evaluate("(+ 1 2)").values).toEqual(["3"]);
});

test("the time limit ends every kind of long evaluation", () => {
  const lisp = createLisp({ budgets: { steps: 2_000_000_000, cells: 100_000_000 } });
  for (const text of [
    "(loop)",
    '(loop (ignore-errors (error "x")))',
    "(reduce #'+ (make-list 3000000 :initial-element 1))",
    "(loop (sort (list 3 1 2) #'<))",
    "(sleep 100)",
  ]) {
    const { condition } = lisp.evaluate(`(princ "before") (loop ${text})`, {
      budgets: { timeMs: 100 },
    });
    expect(condition?.type).toBe("TIME-BUDGET-EXCEEDED");
  }
  expect(lisp.evaluate('(princ "kept") (loop)', { budgets: { timeMs: 50 } }).output).toBe("kept");
});

test("a budget can be handled once, with a grace for cleanup, but not repeatedly", () => {
  const lisp = createLisp({ budgets: small });
  expect(lisp.evaluate("(handler-case (loop) (serious-condition (c) (type-of c)))").values).toEqual(
    ["STEP-BUDGET-EXCEEDED"],
  );
  expect(lisp.evaluate('(unwind-protect (loop) (princ "cleaned"))').output).toBe("cleaned");
  expect(
    lisp.evaluate("(loop (handler-case (loop) (serious-condition () nil)))").condition?.type,
  ).toBe("STEP-BUDGET-EXCEEDED");
  expect(lisp.evaluate("(unwind-protect (loop) (loop))").condition?.type).toBe(
    "STEP-BUDGET-EXCEEDED",
  );
  expect(
    lisp.evaluate("(loop (handler-case (make-list 1000000000) (storage-condition () nil)))")
      .condition?.type,
  ).toBe("CELL-BUDGET-EXCEEDED");
  expect(lisp.evaluate("(ignore-errors (loop))").condition?.type).toBe("STEP-BUDGET-EXCEEDED");
});

test("a stack overflow of the host becomes the depth condition, and bindings are restored", () => {
  const lisp = createLisp({ budgets: { depth: 10_000_000 } });
  lisp.evaluate("(defvar *level* 0) (defun down (n) (let ((*level* n)) (+ 1 (down (+ n 1)))))");
  expect(lisp.evaluate("(down 1)").condition?.type).toBe("DEPTH-BUDGET-EXCEEDED");
  expect(lisp.evaluate("*level*").values).toEqual(["0"]);
  expect(
    lisp.evaluate("(handler-case (down 1) (storage-condition () (list :caught *level*)))").values,
  ).toEqual(["(:CAUGHT 0)"]);
  expect(
    lisp.evaluate("(let ((l nil)) (dotimes (i 100000) (setq l (list l))) (equal l (copy-tree l)))")
      .condition?.type,
  ).toBe("DEPTH-BUDGET-EXCEEDED");
  expect(
    lisp.evaluate("(let ((l nil)) (dotimes (i 100000) (setq l (list '+ 1 l))) (eval l))").condition
      ?.type,
  ).toBe("DEPTH-BUDGET-EXCEEDED");
});

test("an interrupt ends the evaluation but not the next one", () => {
  const lisp = createLisp();
  lisp.define("HOST", "STOP", {
    call: () => {
      lisp.interrupt();
      return 0;
    },
  });
  expect(lisp.evaluate("(host:stop) (loop)").condition?.type).toBe("INTERRUPTED");
  expect(lisp.evaluate("(+ 1 2)").values).toEqual(["3"]);
});

test("an evaluation reports the steps and cells it used", () => {
  const lisp = createLisp();
  lisp.evaluate("(defun f (n) (if (= n 0) nil (cons n (f (- n 1)))))");
  const { steps, cells } = lisp.evaluate("(f 1000)");
  expect(steps).toBeGreaterThanOrEqual(1000);
  expect(steps).toBeLessThan(2000);
  expect(cells).toBeGreaterThanOrEqual(1000);
});

test.each([
  ["a long value", "(make-string 100000 :initial-element #\\x)"],
  ["many values", "(values-list (make-list 20000 :initial-element 12345678))"],
  ["endless warnings", '(loop (warn "careful"))'],
  ["empty warnings", '(loop (warn ""))'],
  ["a long error message", '(error "~a" (make-string 100000 :initial-element #\\x))'],
])("%s counts as output", (_, text) => {
  const { values, warnings, output, condition } = createLisp({
    budgets: { output: 3_000 },
  }).evaluate(`(princ "before") ${text}`);
  const total = [output, ...values, ...warnings, condition?.message ?? ""].join("\n");
  expect(output).toBe("before");
  // The budget, its grace, and the marks where something was cut.
  expect(total.length).toBeLessThan(3_000 + 2_000 + 200);
});

test("values that do not fit are cut visibly, and the output stays", () => {
  const lisp = createLisp({ budgets: { output: 2_500 } });
  const { values, output } = lisp.evaluate(
    '(princ "1234") (let ((long (make-string 2000 :initial-element #\\x))) (values 1 long long))',
  );
  expect(output).toBe("1234");
  expect(values.map((value) => value.length)).toEqual([1, 2_002, expect.any(Number)]);
  expect(values[2]).toMatch(/^"x{480,500}… \(15\d\d more characters\)$/);
  expect(lisp.evaluate("(make-string 3000)").values).toEqual([
    "#<unprintable: OUTPUT-BUDGET-EXCEEDED>",
  ]);
});
