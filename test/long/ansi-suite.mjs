// A worker that runs one chapter of the ANSI test suite (https://gitlab.common-lisp.net/ansi-test/ansi-test) in a
// session of our Lisp. Every top-level form is one evaluation.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";

const { bundle, suite, chapter } = workerData;
const { createLisp } = await import(bundle);
// Steps bound a test; the time is generous, because it passes without them on a busy machine.
const lisp = createLisp({
  budgets: { steps: 2e8, cells: 2e7, timeMs: 120_000, output: 1e7, depth: 20_000 },
});
const failed = new Map();
let passed = 0;
const unread = [];

evaluate(harness());
for (const file of [
  "auxiliary/ansi-aux-macros.lsp",
  "universe.lsp",
  "auxiliary/random-aux.lsp",
  "auxiliary/ansi-aux.lsp",
  "cl-symbol-names.lsp",
  "notes.lsp",
])
  load(file);
load(`${chapter}/load.lsp`);
parentPort.postMessage({ passed, failed: [...failed], unread });

/** Loads a file; a `load` form in it is replaced by the files it names. */
function load(file) {
  if (!existsSync(join(suite, file))) return;
  const text = readFileSync(join(suite, file), "latin1");
  if (file.endsWith("load.lsp")) {
    for (const [, name] of text.matchAll(
      /^[^;\n]*\((?:compile-and-load\*?|load|load-here) "([^"]+)"/gm,
    ))
      load(
        name.startsWith("ANSI-TESTS:AUX;") ? `auxiliary/${name.slice(15)}` : join(chapter, name),
      );
    return;
  }
  const aux = text.match(/\(compile-and-load\*? "ANSI-TESTS:AUX;[^"]+"/g) ?? [];
  for (const one of aux) load(`auxiliary/${one.split(";")[1].slice(0, -1)}`);
  evaluate("(cl:in-package :cl-test)");
  for (const form of formsOf(/universe|ansi-aux/.test(file) ? withoutRefused(text) : text))
    evaluate(form, file);
}

/** Forms that our Lisp refuses by design would leave `*universe*` unbound. */
function withoutRefused(text) {
  return text
    .replace(/#\.\(ash 1 (\d+)\)/g, (_, bits) => String(2n ** BigInt(bits)))
    .replace("#.(1- (ash 1 32))", String(2 ** 32 - 1))
    .replace(/#C\([^)]*\)/g, "")
    .replace(/#\.\(coerce/, "(coerce")
    .replace(/#p"[^"]*"/gi, '"file"')
    .replace("(nconc s s)", "(setf (cdr (last s)) s)");
}

function evaluate(text, file) {
  if (/^\s*\((compile-and-load|load|in-package)\b/.test(text)) {
    if (!/in-package/.test(text)) return;
  }
  const { condition, output } = lisp.evaluate(text);
  for (const [, kind, name, why] of output.matchAll(/^@@([PF]) (\S+)(?: (.*))?$/gm)) {
    if (kind === "P") passed++;
    else failed.set(name, why);
  }
  if (condition !== null) {
    const name = /\(deftest\s+(?::\S+\s+)*(\S+)/i.exec(text)?.[1];
    if (name !== undefined)
      failed.set(name.toUpperCase(), `${condition.type}: ${condition.message}`);
    else
      unread.push(
        `${file}: ${text.trim().slice(0, 100)}: ${condition.message}`.replaceAll("\n", " "),
      );
    if (/package/i.test(text)) lisp.evaluate("(cl:in-package :cl-test)");
  }
}

/** The top-level forms of a text, each with the `#+` and comments before it. */
function* formsOf(text) {
  let depth = 0;
  let start = 0;
  const token =
    /;[^\n]*|#\|[\s\S]*?\|#|"(?:\\[\s\S]|[^"\\])*"|#\\(?:[A-Za-z][\w-]*|[\s\S])|\|(?:\\[\s\S]|[^|\\])*\||\\[\s\S]|[()]/g;
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === "(") depth++;
    if (found !== ")" || --depth > 0) continue;
    depth = 0;
    const form = text.slice(start, index + 1);
    if (/#[+-]\s*\([^)]*\)*$/.test(form) && /^\s*(;[^\n]*\s*)*#[+-]\s*\(/.test(form)) continue;
    start = index + 1;
    yield form;
  }
}

function harness() {
  return `(cl:defpackage :regression-test (:nicknames :rt) (:use :cl)
  (:export deftest disable-note rem-test *compile-tests* *expanded-eval* my-aref my-row-major-aref equalp-with-case defnote has-note))
(cl:defpackage :cl-test (:use :cl :regression-test) (:shadow handler-case handler-bind)
  (:export random-from-seq random-case coin random-permute *universe* *mini-universe* *cl-symbols* signals-error typef))
(cl:in-package :regression-test)
(defvar *compile-tests* nil)
(defvar *expanded-eval* nil)
(defun disable-note (name) name)
(defun rem-test (name) name)
(defmacro defnote (&rest rest) (declare (ignore rest)) nil)
(defun my-aref (a &rest args) (apply #'aref a args))
(defun my-row-major-aref (a index) (row-major-aref a index))
(defun equalp-with-case (x y)
  (cond ((eq x y) t)
        ((consp x) (and (consp y) (equalp-with-case (car x) (car y)) (equalp-with-case (cdr x) (cdr y))))
        ((and (arrayp x) (= (array-rank x) 0)) (and (arrayp y) (equalp-with-case (aref x) (aref y))))
        ((vectorp x) (and (vectorp y) (= (length x) (length y)) (every #'equalp-with-case x y)))
        ((arrayp x)
         (and (arrayp y) (equal (array-dimensions x) (array-dimensions y))
              (loop for i below (array-total-size x)
                    always (equalp-with-case (row-major-aref x i) (row-major-aref y i)))))
        ((and (numberp x) (numberp y) (zerop x) (zerop y)) (eq (class-of x) (class-of y)))
        (t (eql x y))))
(defun line-of (x)
  (let ((text (handler-case (let ((*print-length* 20) (*print-level* 5)) (format nil "~:[~S~;~A~]" (typep x 'condition) x)) (error () "?"))))
    (substitute #\\Space #\\Newline (subseq text 0 (min 200 (length text))))))
(defun run-test (name form vals &aux (out *standard-output*))
  (let* ((failure nil)
         (results (block nil
                    (handler-bind ((style-warning #'muffle-warning)
                                   (error (lambda (c) (setf failure c) (return nil))))
                      (multiple-value-list (eval form))))))
    (cond (failure (format out "~&@@F ~A ~A: ~A~%" name (type-of failure) (line-of failure)))
          ((equalp-with-case results vals) (format out "~&@@P ~A~%" name))
          (t (format out "~&@@F ~A wrong: ~A instead of ~A~%" name (line-of results) (line-of vals))))))
(defmacro deftest (name &rest body)
  (loop while (keywordp (first body)) do (pop body) (pop body))
  \`(run-test ',name ',(first body) ',(rest body)))
(cl:in-package :cl-test)
(defun compile-and-load (&rest rest) rest)
`;
}
