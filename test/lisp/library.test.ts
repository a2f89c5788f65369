import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLisp, type Evaluation } from "../../src/lisp/lisp.ts";

/** Behaviour beyond the comparison with SBCL: limits, the host's clock and seed, and deliberate differences. */
const evaluate = (source: string): Evaluation =>
  createLisp({ budgets: { cells: 1_000_000 } }).evaluate(source);
const printedBy = (source: string): string => evaluate(source).values.join(" ");
const conditionOf = (source: string): string | undefined => evaluate(source).condition?.type;

describe("values that are too large are refused before they are made", () => {
  test.each([
    ["(make-string 10000000000)", "CELL-BUDGET-EXCEEDED"],
    ["(make-list 1000000000)", "CELL-BUDGET-EXCEEDED"],
    ["(make-array '(100000 100000))", "CELL-BUDGET-EXCEEDED"],
    ["(make-sequence 'list 1000000000)", "CELL-BUDGET-EXCEEDED"],
    ["(expt 3 (expt 10 30))", "CELL-BUDGET-EXCEEDED"],
    ["(expt 7/3 10000000)", "CELL-BUDGET-EXCEEDED"],
    ["(ash 1 (expt 10 50))", "CELL-BUDGET-EXCEEDED"],
    ["(dpb 1 (byte 10 1000000000) 0)", "CELL-BUDGET-EXCEEDED"],
    ["(let ((x 3)) (loop (setf x (* x x))))", "CELL-BUDGET-EXCEEDED"],
    ["(let ((x 3/7)) (loop (setf x (* x x))))", "CELL-BUDGET-EXCEEDED"],
    ['(let ((s "a")) (loop (setf s (concatenate \'string s s))))', "CELL-BUDGET-EXCEEDED"],
    ['(format nil "~1000000000a" 1)', "OUTPUT-BUDGET-EXCEEDED"],
    ['(format nil "~,1000000000f" 1.5)', "OUTPUT-BUDGET-EXCEEDED"],
    ['(format nil "~vd" (expt 10 30) 1)', "OUTPUT-BUDGET-EXCEEDED"],
    ['(format nil "~1000000000<a~;b~>")', "OUTPUT-BUDGET-EXCEEDED"],
  ])("%s", (source, condition) => {
    expect(conditionOf(source)).toBe(condition);
  });
});

describe("a circular structure ends with an error or a budget", () => {
  const ring = (form: string) => `(let ((x (list 1 2))) (setf (cddr x) x) ${form})`;
  test.each([
    [ring("(princ x)"), "OUTPUT-BUDGET-EXCEEDED"],
    [ring("(subseq x 0 5)"), undefined],
    [ring("(equal x (let ((y (list 1 2))) (setf (cddr y) y)))"), "STEP-BUDGET-EXCEEDED"],
    [ring("(member 9 x)"), "STEP-BUDGET-EXCEEDED"],
    [ring("(mapcar #'1+ x)"), "STEP-BUDGET-EXCEEDED"],
    [ring("(equal x (copy-tree '(1 2 1 2)))"), undefined],
    [ring("(setf (gethash x (make-hash-table :test 'equal)) 1)"), "STEP-BUDGET-EXCEEDED"],
    ["(let ((v (vector 1))) (setf (aref v 0) v) (princ v))", "DEPTH-BUDGET-EXCEEDED"],
  ])("%s", (source, condition) => {
    const { condition: reported } = createLisp({
      budgets: { steps: 200_000, output: 20_000 },
    }).evaluate(source);
    expect(reported?.type).toBe(condition);
  });

  test.each([
    "(length x)",
    "(last x)",
    "(butlast x)",
    "(find 9 x)",
    "(position 9 x :key #'1+)",
    "(copy-list x)",
    "(copy-tree x)",
    "(reverse x)",
    "(append x nil)",
    "(nconc x x)",
    "(reduce #'+ x)",
    "(sort x #'<)",
    "(remove 9 x)",
    "(every #'numberp x)",
    "(union x x)",
  ])("%s refuses it at once", (form) => {
    expect(conditionOf(ring(form))).toBe("TYPE-ERROR");
  });

  test("and prints with labels if *print-circle* is set", () => {
    expect(printedBy(ring("(setf *print-circle* t) x"))).toBe("#1=(1 2 . #1#)");
  });
});

test("a long calculation inside one function ends at the time limit", () => {
  let ms = 0;
  const lisp = createLisp({ budgets: { timeMs: 200 }, host: { now: () => (ms += 50) } });
  const { condition } = lisp.evaluate("(gcd (expt 3 200000) (expt 7 200000))");
  expect(condition?.type).toBe("TIME-BUDGET-EXCEEDED");
});

test("every finite double reads back as printed", () => {
  const lisp = createLisp();
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = Object.is(value, -0)
        ? "-0.0"
        : value.toExponential().replace(/^(-?\d)e/, "$1.0e");
      const [printed] = lisp.evaluate(
        `(let ((x ${text})) (list x (eql x (read-from-string (prin1-to-string x)))))`,
      ).values;
      expect(printed).toMatch(/ T\)$/);
    }),
    { numRuns: 300 },
  );
});

test("exact and floating numbers compare by their exact values", () => {
  const lisp = createLisp();
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
      (value) => {
        const text = value.toExponential().replace(/^(-?\d)e/, "$1.0e");
        expect(
          lisp.evaluate(
            `(let ((x ${text})) (list (= x (rational x)) (< (rational x) (+ (rational x) 1/1000000000000000000000000)) (= x (rationalize x))))`,
          ).values[0],
        ).toMatch(/^\(T T (T|NIL)\)$/);
      },
    ),
    { numRuns: 200 },
  );
});

test("the same seed gives the same numbers, another seed different ones", () => {
  const roll = "(loop repeat 5 collect (random 1000000))";
  const seeded = (seed: number) =>
    createLisp({ host: { seed: () => seed } }).evaluate(roll).values[0];
  expect(seeded(1)).toBe(seeded(1));
  expect(seeded(1)).not.toBe(seeded(2));
});

test("the time is that of the host's clock, in UTC", () => {
  const lisp = createLisp({ host: { clock: () => 951_782_400 } });
  expect(lisp.evaluate("(get-universal-time)").values).toEqual(["3160771200"]);
  expect(
    lisp.evaluate("(multiple-value-list (decode-universal-time (get-universal-time)))").values,
  ).toEqual(["(0 0 0 29 2 2000 1 NIL 0)"]);
  expect(
    lisp.evaluate("(= (encode-universal-time 0 0 0 29 2 2000 0) (get-universal-time))").values,
  ).toEqual(["T"]);
});

test("COMMON-LISP exports the 978 names of the standard and no others", () => {
  const count = "(let ((count 0)) (do-external-symbols (name :cl count) (incf count)))";
  expect(printedBy(count)).toBe("978");
});

test("no address is printed", () => {
  expect(
    printedBy(
      "(list (make-hash-table) (lambda (x) x) (find-class 'integer) (make-string-output-stream) (make-random-state t))",
    ),
  ).toBe(
    "(#<HASH-TABLE :TEST EQL :COUNT 0> #<FUNCTION LAMBDA> #<BUILT-IN-CLASS INTEGER> #<STRING-OUTPUT-STREAM> #<RANDOM-STATE>)",
  );
});

test.each(["(sqrt -4)", "(expt -8 1/3)", "(log -1)", "(asin 2)", "(complex 1 2)"])(
  "%s is refused, because its result is complex",
  (source) => {
    const { condition } = evaluate(source);
    expect(condition?.type).toBe("NOT-AVAILABLE");
    expect(condition?.message).toContain("complex");
  },
);

test("print variables of one session do not affect the next", () => {
  expect(createLisp().evaluate("(setf *print-base* 2) 5").values).toEqual(["101"]);
  expect(createLisp().evaluate("5").values).toEqual(["5"]);
});

test("describe, apropos and documentation", () => {
  const lisp = createLisp();
  lisp.evaluate('(defun greet (name) "Greets politely." (list :hello name))');
  expect(lisp.evaluate("(describe 'greet)").output).toBe(
    "GREET\n  [symbol]\n\nGREET names a function:\n  Lambda-list: (NAME)\n  Documentation:\n    Greets politely.\n",
  );
  expect(lisp.evaluate('(apropos "greet")').output).toBe("GREET (fbound)\n");
  expect(lisp.evaluate("(documentation 'greet 'function)").values).toEqual(['"Greets politely."']);
});

test("pretty printing breaks only forms that do not fit", () => {
  const lisp = createLisp();
  expect(lisp.evaluate("(pprint '(let ((a 1)) (list a 'b #'car)))").output).toBe(
    "\n(LET ((A 1)) (LIST A 'B #'CAR))",
  );
  const { output } = lisp.evaluate(
    "(let ((*print-right-margin* 30)) (pprint '(defun area (width height) (let ((result (* width height)) (n 5)) (list width height result n)))))",
  );
  expect(output).toBe(`
(DEFUN AREA (WIDTH HEIGHT)
  (LET ((RESULT
         (* WIDTH HEIGHT))
        (N 5))
    (LIST WIDTH
          HEIGHT
          RESULT
          N)))`);
});
