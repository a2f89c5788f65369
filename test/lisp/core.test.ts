import { expect, test } from "vitest";
import { createLisp, type EvaluateOptions, type Lisp } from "../../src/lisp/lisp.ts";

/** The values of the last form, or the type and message of the condition. */
function answer(text: string, lisp: Lisp = createLisp(), options: EvaluateOptions = {}): string {
  const { values, condition } = lisp.evaluate(text, options);
  return condition === null ? values.join(" ") : `${condition.type}: ${condition.message}`;
}

test("self and mutual tail calls run in constant space", () => {
  const lisp = createLisp({ budgets: { depth: 50 } });
  expect(
    answer(
      "(defun count-down (n) (if (= n 0) :done (count-down (- n 1)))) (count-down 300000)",
      lisp,
    ),
  ).toBe(":DONE");
  expect(
    answer(
      "(defun ev (n) (if (= n 0) t (od (- n 1)))) (defun od (n) (if (= n 0) nil (ev (- n 1)))) (ev 100001)",
      lisp,
    ),
  ).toBe("NIL");
  expect(
    answer(
      "(labels ((f (n &optional (acc 0)) (cond ((= n 0) acc) (t (f (- n 1) (+ acc n)))))) (f 10000))",
      lisp,
    ),
  ).toBe("50005000");
  expect(
    answer(
      "(defun k (n) (block b (when (= n 0) (return-from b :out)) (k (- n 1)))) (k 10000)",
      lisp,
    ),
  ).toBe(":OUT");
  expect(
    answer(
      "(let ((f nil)) (setq f (lambda (n) (if (= n 0) :end (funcall f (- n 1))))) (funcall f 10000))",
      lisp,
    ),
  ).toBe(":END");
});

test("operands are read from left to right, also those that later ones assign", () => {
  const lisp = createLisp();
  answer("(defun all4 (a b c d) (list a b c d)) (defun two (a b) (list a b))", lisp);
  for (const [form, value] of [
    ["(let ((x 1)) (+ x (setq x 5) x))", "11"],
    ["(let ((x 1)) (setq x (+ x (setq x 5))))", "6"],
    ["(let ((x 1)) (setq x (+ (setq x 5) x)))", "10"],
    ["(let ((x 1)) (- x (setq x 5)))", "-4"],
    ["(let ((x 1)) (if (< x (setq x 5)) (cons x (incf x)) :no))", "(5 . 6)"],
    ["(let ((x 1)) (two x (setq x 5)))", "(1 5)"],
    ["(let ((x 1)) (all4 x (setq x 5) x (incf x)))", "(1 5 5 6)"],
    ["(let ((f #'+)) (funcall f 2 (progn (setq f #'*) 3)))", "5"],
    ["(let ((f #'+)) (flet ((g () (funcall f 2 (progn (setq f #'*) 3)))) (g)))", "5"],
    ["(let ((x 9007199254740992) (y 1)) (setq x (+ x y)) (decf x 2) x)", "9007199254740991"],
  ] as const)
    expect.soft(answer(form, lisp), form).toBe(value);
});

test("deeply nested forms are compiled once", () => {
  const nested = (open: string, close: string): string =>
    `(let ((x 1)) ${open.repeat(60)}x${close.repeat(60)})`;
  expect(answer(nested("(+ 1 ", ")"))).toBe("61");
  expect(answer(nested("(* 1 ", ")"))).toBe("1");
  expect(answer(nested("(setq x (+ 1 ", "))"))).toBe("61");
  expect(answer(nested("(if (< ", " 100) 2 3)"))).toBe("2");
  for (const count of [0, 1, 2, 3, 4, 5]) {
    const rest = " 0".repeat(count);
    const parameters = Array.from({ length: count }, (_, index) => `p${index}`).join(" ");
    const define = `(defun f (x ${parameters}) ${parameters} (+ x 1))`;
    expect(answer(`${define} ${nested("(f ", `${rest})`)}`)).toBe("61");
    expect(answer(`${define} ${nested("(funcall #'f ", `${rest})`)}`)).toBe("61");
    expect(answer(`${define} ${nested("(values (funcall 'f ", `${rest}))`)}`)).toBe("61");
    expect(
      answer(`(flet ((f (x ${parameters}) ${parameters} (+ x 1))) ${nested("(f ", `${rest})`)})`),
    ).toBe("61");
  }
});

test("loop variables are fresh in every closure, and shared by closures made together", () => {
  expect(
    answer("(let ((fs nil)) (dolist (x '(1 2 3)) (push (lambda () x) fs)) (mapcar #'funcall fs))"),
  ).toBe("(3 2 1)");
  expect(
    answer(
      "(let* ((n 0) (up (lambda () (incf n))) (get (lambda () n))) (funcall up) (funcall up) (funcall get))",
    ),
  ).toBe("2");
  expect(
    answer(
      "(defun make (x) (lambda () (setq x (+ x 1)))) (let ((a (make 1)) (b (make 10))) (funcall a) (list (funcall a) (funcall b)))",
    ),
  ).toBe("(3 11)");
});

test("multiple values survive every exit, and only as the result", () => {
  expect(
    answer(
      "(multiple-value-list (block b (dolist (x '(1 2)) (when (= x 2) (return-from b (floor 7 2))))))",
    ),
  ).toBe("(3 1)");
  expect(answer("(multiple-value-list (catch 'k (throw 'k (values 1 2))))")).toBe("(1 2)");
  expect(answer("(multiple-value-list (unwind-protect (values 1 2) (floor 9 2)))")).toBe("(1 2)");
  expect(answer("(defun f () (let ((x (floor 7 2))) x)) (multiple-value-list (f))")).toBe("(3)");
  expect(answer("(multiple-value-list (mapcar #'floor '(7.5)))")).toBe("((7))");
  expect(answer("(defun g () (values)) (list (multiple-value-list (g)) (g))")).toBe("(NIL NIL)");
});

test("exits work from closures, but not after the block was left", () => {
  expect(
    answer("(block b (mapc (lambda (x) (when (= x 2) (return-from b (list :at x)))) '(1 2 3)))"),
  ).toBe("(:AT 2)");
  expect(
    answer("(let ((i 0)) (tagbody top (incf i) (funcall (lambda () (when (< i 5) (go top))))) i)"),
  ).toBe("5");
  expect(answer("(let ((f (block b (lambda () (return-from b 1))))) (funcall f))")).toMatch(
    /^CONTROL-ERROR/,
  );
  expect(answer("(throw 'nobody 1)")).toMatch(/^CONTROL-ERROR: no catch for the tag NOBODY/);
});

test("special bindings last for a call and are undone by every exit", () => {
  const lisp = createLisp();
  expect(answer("(defvar *x* 1) (defun x () *x*) (list (let ((*x* 2)) (x)) (x))", lisp)).toBe(
    "(2 1)",
  );
  expect(answer("(catch 'k (let ((*x* 3)) (throw 'k (x))))", lisp)).toBe("3");
  lisp.evaluate('(let ((*x* 4)) (error "no"))');
  expect(answer("(list (x) (progv '(*x*) '(5) (x)))", lisp)).toBe("(1 5)");
});

test("places evaluate their parts once, in order", () => {
  expect(answer("(let ((i 0) (v (vector 1 2 3))) (incf (aref v (incf i)) 10) (list i v))")).toBe(
    "(1 #(1 12 3))",
  );
  expect(
    answer(
      "(let ((l (list 1 2 3))) (rotatef (first l) (third l)) (push 0 (cdr l)) (list (pop l) l))",
    ),
  ).toBe("(3 (0 2 1))");
  expect(answer("(let ((p nil)) (setf (getf p :a) 1) (incf (getf p :a 0)) (remf p :a) p)")).toBe(
    "NIL",
  );
  expect(
    answer(
      "(defun middle (l) (second l)) (defsetf middle (l) (new) `(progn (setf (second ,l) ,new) ,new)) (let ((l (list 1 2 3))) (incf (middle l) 5) l)",
    ),
  ).toBe("(1 7 3)");
  expect(
    answer(
      "(defun (setf top) (new l) (setf (car l) new)) (let ((l (list 1 2))) (setf (top l) 9) l)",
    ),
  ).toBe("(9 2)");
  expect(answer("(let (a b) (setf (values a b) (floor 17 5)) (list a b))")).toBe("(3 2)");
});

test("macros expand in their lexical environment", () => {
  expect(
    answer("(defmacro swap (a b) `(rotatef ,a ,b)) (let ((x 1) (y 2)) (swap x y) (list x y))"),
  ).toBe("(2 1)");
  expect(answer("(macrolet ((twice (x) `(progn ,x ,x))) (let ((n 0)) (twice (incf n)) n))")).toBe(
    "2",
  );
  expect(answer("(symbol-macrolet ((top (car l))) (let ((l (list 1 2))) (setq top 5) l))")).toBe(
    "(5 2)",
  );
  expect(
    answer(
      "(defmacro with ((var &key (start 0)) &body body) `(let ((,var ,start)) ,@body)) (with (x :start 4) (* x x))",
    ),
  ).toBe("16");
  expect(answer("(defmacro bad (a b) (list a b)) (bad 1)")).toMatch(/^PROGRAM-ERROR/);
});

test("forms are read one by one, so each sees the effects of earlier ones", () => {
  expect(answer("(defmacro one () 1) (one)")).toBe("1");
  expect(
    answer("(defpackage :other (:use :cl)) (in-package :other) (package-name (symbol-package 'x))"),
  ).toBe('"OTHER"');
  const lisp = createLisp();
  expect(lisp.evaluate("(defun kept () 1) (car 5) (defun lost () 2)").condition?.type).toBe(
    "TYPE-ERROR",
  );
  expect(answer("(list (kept) (fboundp 'lost))", lisp)).toBe("(1 NIL)");
});

test("callers use a redefined function at once", () => {
  const lisp = createLisp();
  lisp.evaluate("(defun inner () 1) (defun outer () (+ 1 (inner)))");
  expect(answer("(defun inner () 10) (outer)", lisp)).toBe("11");
});

test("the last forms and values are in *, + and /", () => {
  const lisp = createLisp();
  lisp.evaluate("(+ 1 2)");
  lisp.evaluate("(floor 17 5)");
  expect(answer("(list * ** + /)", lisp)).toBe("(3 3 (FLOOR 17 5) (3 2))");
});

test("names of other Lisps get a hint, and absent features name an alternative", () => {
  expect(answer("(define (f x) x)")).toMatch(/^UNDEFINED-FUNCTION: .*use \(defun name/);
  expect(answer("#t")).toMatch(/^READER-ERROR: #t .*true is T/);
  expect(answer('(open "/etc/passwd")')).toMatch(
    /^NOT-AVAILABLE: open is not available: files are not supported/,
  );
  expect(answer("(quit)")).toMatch(/^NOT-AVAILABLE/);
  expect(answer("#.(+ 1 2)")).toMatch(/^READER-ERROR: #\. .*the reader does not evaluate/);
});

test("trace shows calls and results until untrace", () => {
  const lisp = createLisp();
  expect(lisp.evaluate("(defun f (x) (* x 2)) (trace f) (f 3) (untrace f) (f 4)").output).toBe(
    "0: (F 3)\n0: F returned 6\n",
  );
});
