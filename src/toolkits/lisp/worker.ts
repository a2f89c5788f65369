/** The thread of one session: it does what it is told, one order at a time, and asks the hall for everything else. */
import { parentPort, workerData } from "node:worker_threads";
import { createLisp, type ConditionReport as LispCondition } from "../../lisp/lisp.ts";
import { listDefined, newlyDefined, tellDefined } from "./definition-list.ts";
import { createHallLine } from "./hall-line.ts";
import { definePowers } from "./powers.ts";
import type { ConditionReport, Evaluation, Order, Report, ThreadStart } from "./protocol.ts";
import { createReadings } from "./readings.ts";
import { readForms } from "./syntax.ts";

const start = workerData as ThreadStart;
const post = (report: Report): void => parentPort?.postMessage(report);
const readings = createReadings();
const line = createHallLine(start, post, readings.refuse);
/** As many seeds as are asked for, and the same ones each time the session is run. */
let seeds = start.seed;
const lisp = createLisp({
  brief: true,
  host: {
    seed: () => seeds++,
    clock: () => readings.read("clock", () => Date.now() / 1_000),
    timer: () => readings.read("timer", () => performance.now()),
    isInterrupted: () => line.isStopped,
    waitAny: (pendings) => {
      const { machine } = lisp;
      line.wait(pendings, machine.deadline - machine.host.now());
      // Stopped, or out of time: says so itself.
      if (!pendings.some(({ done }) => done)) machine.refuel();
    },
    sleep: (ms) => line.wait([], ms),
  },
});
const powers = definePowers(line);
/** All of them alive at once take less than the thread's heap. */
const cells = 5_000_000;
/** Of one evaluation: the answer is read by a model. */
const definitionsTold = 200;
/** What many programs are made of: the first time a form is used costs a hundred times the next. */
const rehearsal = `(defun doubled (numbers &key (by 2)) "Each times two." (mapcar (lambda (n) (* n by)) numbers))
(let ((table (make-hash-table :test 'equal)) (rows '(("a" 1) ("b" nil))))
  (dolist (row rows) (setf (gethash (first row) table) (second row)))
  (list (loop for n below 2 for (name value) in rows when value collect (format nil "~a: ~d ~s" name (+ n value) value))
        (handler-case (error "no ~a" (gethash "a" table)) (error (e) (princ-to-string e)))
        (sort (remove-if-not #'evenp (append (doubled '(3 1)) (list (length (string-upcase "text"))))) #'<)
        (cond ((and (stringp "a") (not (null rows))) (reduce #'+ '(1 2))) (t (search "b" "abc")))
        table))`;
let lastPackage = "COMMON-LISP-USER";
// JSON is what most programs look at: it shows what it holds, printed or returned. Said as a program would say it, so that the first
// program finds everything loaded.
evaluate({
  kind: "evaluate",
  code: "(setf *print-tables* t)",
  mode: "explore",
  limits: { timeoutMs: 10_000, outputCharacters: 1_000, calls: 0 },
  tools: [],
});
parentPort?.on("message", (order: Order) => post(carryOut(order)));

function carryOut(order: Order): Report {
  switch (order.kind) {
    case "evaluate":
      readings.begin(order.readings);
      return { kind: "evaluated", evaluation: evaluate(order), clock: readings.end() };
    case "definitions":
      return {
        kind: "definitions",
        definitions: tellDefined(lisp.machine, listDefined(lisp.machine), order.type),
        package: lastPackage,
      };
    case "syntax":
      return { kind: "syntax", syntax: readForms(order.code) };
    case "rehearsal":
      createLisp({ brief: true }).evaluate(rehearsal);
      return { kind: "rehearsal" };
  }
}

function evaluate({
  code,
  package: name,
  limits,
  tools,
}: Extract<Order, { kind: "evaluate" }>): Evaluation {
  const { machine } = lisp;
  if (tools) powers.bind(machine, tools);
  const before = listDefined(machine);
  const {
    values,
    output,
    errorOutput,
    warnings,
    condition,
    package: ended,
    steps,
    elapsedMs,
  } = lisp.evaluate(code, {
    // Callers set a time; a count of steps would end what they allowed.
    budgets: {
      timeMs: limits.timeoutMs,
      output: limits.outputCharacters,
      cells,
      steps: Number.MAX_SAFE_INTEGER,
    },
    ...(name === undefined ? {} : { package: name.toUpperCase() }),
  });
  lastPackage = ended;
  const defined = newlyDefined(before, listDefined(machine));
  return {
    values,
    stdout: output,
    stderr: errorOutput,
    warnings,
    condition: condition ? tellCondition(condition) : undefined,
    definitions: tellDefined(machine, defined.slice(0, definitionsTold)),
    definitionsLeftOut:
      defined.length > definitionsTold ? defined.length - definitionsTold : undefined,
    package: ended,
    steps,
    ms: Math.round(elapsedMs * 1_000) / 1_000,
  };
}

function tellCondition({
  type,
  types,
  message,
  restarts,
  backtrace,
  position,
}: LispCondition): ConditionReport {
  return {
    // Some are of a class of the system's own: what a program can name is the one above it.
    type: types.find((name) => !name.startsWith("%")) ?? type,
    message,
    restarts,
    backtrace: backtrace.map(({ call }) => call),
    position: position ?? undefined,
  };
}
