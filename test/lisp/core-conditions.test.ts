import { expect, test } from "vitest";
import { createLisp } from "../../src/lisp/lisp.ts";

function answer(text: string): string {
  const { values, condition } = createLisp().evaluate(text);
  return condition === null ? values.join(" ") : `${condition.type}: ${condition.message}`;
}

test.each([
  ["(car 5)", "TYPE-ERROR"],
  ["nowhere", "UNBOUND-VARIABLE"],
  ["(nowhere)", "UNDEFINED-FUNCTION"],
  ["(/ 1 0)", "DIVISION-BY-ZERO"],
  ["((lambda (x) x))", "PROGRAM-ERROR"],
  ["(funcall (lambda (&key a) a) :b 1)", "PROGRAM-ERROR"],
  ["(ecase 3 (1 2))", "TYPE-ERROR"],
  ["(let ((x 3)) (check-type x string))", "TYPE-ERROR"],
  ['(error "plain")', "SIMPLE-ERROR"],
  ["(assert (= 1 2))", "SIMPLE-ERROR"],
  ["(aref #(1 2) 5)", "TYPE-ERROR"],
  ["(go nowhere)", "PROGRAM-ERROR"],
  ["(let ((1 2)) 3)", "PROGRAM-ERROR"],
  ["(defun car (x) x)", "PACKAGE-ERROR"],
  ["(make-array 1e9)", "TYPE-ERROR"],
])("%s signals %s", (text, type) => {
  expect(createLisp().evaluate(text).condition?.types).toContain(type);
});

test("handlers run at the signal, clauses after unwinding", () => {
  expect(
    answer(
      '(let ((log nil)) (handler-bind ((error (lambda (c) (push :handler log)))) (ignore-errors (unwind-protect (error "x") (push :cleanup log)))) (reverse log))',
    ),
  ).toBe("(:CLEANUP)");
  expect(
    answer(
      '(let ((log nil)) (handler-case (handler-bind ((error (lambda (c) (push :inner log)))) (unwind-protect (error "x") (push :cleanup log))) (error () (push :outer log))) (reverse log))',
    ),
  ).toBe("(:INNER :CLEANUP :OUTER)");
  expect(answer("(handler-case (values 1 2) (:no-error (a b) (list a b)))")).toBe("(1 2)");
  expect(answer('(handler-case (warn "w") (warning () :warned))')).toBe(":WARNED");
});

test("a handler does not see what it signals itself", () => {
  expect(
    answer(
      '(handler-case (handler-bind ((error (lambda (c) (error "second")))) (error "first")) (error (c) (princ-to-string c)))',
    ),
  ).toBe('"second"');
});

test("restarts continue from the failed form", () => {
  expect(
    answer("(handler-bind ((unbound-variable (lambda (c) (use-value 41)))) (+ 1 missing))"),
  ).toBe("42");
  expect(
    answer("(handler-bind ((undefined-function (lambda (c) (use-value #'list)))) (missing 1 2))"),
  ).toBe("(1 2)");
  expect(
    answer(
      "(handler-bind ((unbound-variable (lambda (c) (store-value 7)))) (list missing missing))",
    ),
  ).toBe("(7 7)");
  expect(
    answer(
      '(restart-case (handler-bind ((error (lambda (c) (invoke-restart \'twice 4)))) (error "x")) (twice (n) (* 2 n)))',
    ),
  ).toBe("8");
  expect(answer('(handler-bind ((error #\'continue)) (cerror "go on" "x") :went-on)')).toBe(
    ":WENT-ON",
  );
  expect(
    answer(
      '(let ((x 3)) (handler-bind ((type-error (lambda (c) (store-value "s")))) (check-type x string)) x)',
    ),
  ).toBe('"s"');
  expect(
    answer('(multiple-value-list (with-simple-restart (skip "Skip.") (invoke-restart \'skip)))'),
  ).toBe("(NIL T)");
  expect(
    answer("(restart-case (mapcar #'restart-name (compute-restarts)) (a () 1) (b () 2))"),
  ).toMatch(/^\(A B/);
});

test("a warning is recorded, unless it is muffled", () => {
  const lisp = createLisp();
  const warned = lisp.evaluate('(warn "careful with ~a" 3) :after');
  expect(warned).toMatchObject({
    values: [":AFTER"],
    warnings: ["careful with 3"],
    errorOutput: "",
    condition: null,
  });
  expect(
    lisp.evaluate('(handler-bind ((warning #\'muffle-warning)) (warn "hush")) 1'),
  ).toMatchObject({ warnings: [], errorOutput: "" });
});

test("conditions of a program have slots, defaults and a report", () => {
  const define =
    '(define-condition lost (error) ((what :initarg :what :reader what :initform "it")) (:report (lambda (c s) (format s "lost ~a" (what c)))))';
  expect(answer(`${define} (error 'lost :what "keys")`)).toBe("LOST: lost keys");
  expect(answer(`${define} (handler-case (error 'lost) (lost (c) (what c)))`)).toBe('"it"');
  expect(
    answer(`${define} (define-condition gone (lost) ()) (typep (make-condition 'gone) 'error)`),
  ).toBe("T");
});

test("an unhandled condition reports its restarts and backtrace", () => {
  const lisp = createLisp();
  const { condition } = lisp.evaluate(
    '(defun inner (x y) (+ 1 (error "bad ~a" x))) (defun outer (n) (list (inner n "two"))) (restart-case (outer 1) (mine () 0))',
  );
  expect(condition).toMatchObject({ type: "SIMPLE-ERROR", message: "bad 1", restarts: ["MINE"] });
  expect(condition?.backtrace.map(({ call }) => call).slice(0, 2)).toEqual([
    '(INNER 1 "two")',
    "(OUTER 1)",
  ]);
});

test("the message of a condition shows a circular value with labels", () => {
  const { condition } = createLisp().evaluate(
    "(let ((x (list 1 2 3))) (setf (cdddr x) x) (length x))",
  );
  expect(condition?.type).toBe("TYPE-ERROR");
  expect(condition?.message).toContain("#1=(1 2 3 . #1#)");
});
