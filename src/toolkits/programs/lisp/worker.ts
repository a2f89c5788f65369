/** The thread of one session: carries out one order at a time, and asks the hall for everything else. */
import { parentPort, workerData } from "node:worker_threads";
import { defaultBudgets } from "../../../lisp/budgets.ts";
import type { ConditionReport } from "../../../lisp/core/handling.ts";
import { checkSyntax, createLisp } from "../../../lisp/lisp.ts";
import type { Machine } from "../../../lisp/machine.ts";
import type { DefinitionKind } from "../../../lisp/packages.ts";
import { Sym } from "../../../lisp/symbol.ts";
import type { Value } from "../../../lisp/values.ts";
import { ClockRecorder, HallPort } from "../hall-port.ts";
import type {
  ConditionSummary,
  DefinitionSummary,
  DefinitionType,
  EvaluationResult,
  ThreadOrder,
  ThreadReport,
  ThreadStart,
} from "../protocol.ts";
import { toJson } from "./json.ts";
import { defineToolFunctions } from "./tool-functions.ts";

const start = workerData as ThreadStart;
const post = (report: ThreadReport): void => parentPort?.postMessage(report);
const clock = new ClockRecorder();
const hall = new HallPort(start, post, () => clock.markRefusal());
/** Each request for a seed gets the next number, so that replays draw the same ones. */
let seeds = start.seed;
const lisp = createLisp({
  brief: true,
  host: {
    seed: () => seeds++,
    clock: () => clock.read("clock", () => Date.now() / 1_000),
    timer: () => clock.read("timer", () => performance.now()),
    isInterrupted: () => hall.isStopped,
    wait: (pending) => hall.wait(pending, lisp.machine.deadline - lisp.machine.host.now()),
    sleep: (ms) => hall.wait(undefined, ms),
  },
});
const tools = defineToolFunctions(hall);
/** Live cells of this number fit into the thread's heap. */
const cells = Math.floor((start.heapMbMax / 512) * 5_000_000);
/** Per evaluation, because a model reads the answer. */
const definitionsMax = 200;
/** Forms that most programs use: the first use of a form costs a hundred times the next. */
const warmUp = `(defun doubled (numbers &key (by 2)) "Each times two." (mapcar (lambda (n) (* n by)) numbers))
(let ((table (make-hash-table :test 'equal)) (rows '(("a" 1) ("b" nil))))
  (dolist (row rows) (setf (gethash (first row) table) (second row)))
  (list (loop for n below 2 for (name value) in rows when value collect (format nil "~a: ~d ~s" name (+ n value) value))
        (handler-case (error "no ~a" (gethash "a" table)) (error (e) (princ-to-string e)))
        (sort (remove-if-not #'evenp (append (doubled '(3 1)) (list (length (string-upcase "text"))))) #'<)
        (cond ((and (stringp "a") (not (null rows))) (reduce #'+ '(1 2))) (t (search "b" "abc")))
        table))`;
let lastPackage = "COMMON-LISP-USER";

// Most programs work on JSON, so tables print their contents. Set through an evaluation, which also loads the compiler.
evaluate({
  kind: "evaluate",
  code: "(setf *print-tables* t)",
  mode: "explore",
  limits: { timeoutMs: 10_000, outputCharacters: 1_000, calls: 0 },
  tools: [],
});
parentPort?.on("message", (order: ThreadOrder) => post(carryOut(order)));

function carryOut(order: ThreadOrder): ThreadReport {
  switch (order.kind) {
    case "evaluate":
      clock.begin(order.readings);
      return { kind: "evaluated", evaluation: evaluate(order), clock: clock.end() };
    case "definitions":
      return {
        kind: "definitions",
        definitions: summarizeDefinitions(listDefined(), order.type),
        package: lastPackage,
      };
    case "syntax":
      return { kind: "syntax", syntax: checkSyntax(order.code) };
    case "warm-up":
      createLisp({ brief: true }).evaluate(warmUp);
      return { kind: "warm-up" };
  }
}

function evaluate({
  code,
  package: name,
  limits,
  input,
  tools: changed,
}: Extract<ThreadOrder, { kind: "evaluate" }>): EvaluationResult {
  if (changed) tools.bind(lisp.machine, changed);
  tools.setInput(input ?? {});
  hall.begin();
  const known = new Set(listDefined());
  const { values, results, output, errorOutput, warnings, condition, steps, elapsedMs, ...ended } =
    lisp.evaluate(code, {
      budgets: {
        timeMs: limits.timeoutMs,
        output: limits.outputCharacters,
        cells,
        steps: limits.steps ?? Number.MAX_SAFE_INTEGER,
      },
      package: name?.toUpperCase(),
    });
  lastPackage = ended.package;
  hall.reportHeap();
  // A redefinition is a new object, too.
  const defined = listDefined().filter((one) => !known.has(one));
  const leftOut = defined.length - definitionsMax;
  return {
    values,
    stdout: output,
    stderr: errorOutput,
    warnings,
    condition: condition ? summarizeCondition(condition) : undefined,
    definitions: summarizeDefinitions(defined.slice(0, definitionsMax)),
    definitionsLeftOut: leftOut > 0 ? leftOut : undefined,
    json: input && !condition ? jsonOf(results.at(-1)) : undefined,
    package: ended.package,
    steps,
    ms: Math.round(elapsedMs * 1_000) / 1_000,
  };
}

/** Undefined for a value without a form in JSON: it is shown as Lisp prints it. */
function jsonOf(value: Value | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    const { machine } = lisp;
    // NIL at the top is more likely nothing than false.
    const convert = (): unknown => toJson(machine, value, { type: "null" });
    return JSON.stringify(machine.enter({ ...defaultBudgets, cells }, convert));
  } catch {
    return undefined;
  }
}

function summarizeCondition(condition: ConditionReport): ConditionSummary {
  const { type, types, message, restarts, backtrace, position } = condition;
  return {
    // Internal classes start with %; programs can name the class above.
    type: types.find((name) => !name.startsWith("%")) ?? type,
    message,
    restarts,
    backtrace: backtrace.map(({ call }) => call),
    position: position ?? undefined,
  };
}

type Defined = Machine["definitions"] extends Map<unknown, infer D> ? D : never;

const kinds: Readonly<Record<Exclude<DefinitionType, "all">, readonly DefinitionKind[]>> = {
  functions: ["function", "generic"],
  variables: ["variable"],
  macros: ["macro"],
  classes: ["class", "structure", "condition"],
};
const documentationMax = 300;

/** In the order of definition. */
function listDefined(): readonly Defined[] {
  return [...lisp.machine.definitions.values()];
}

function summarizeDefinitions(
  defined: readonly Defined[],
  type: DefinitionType = "all",
): readonly DefinitionSummary[] {
  const wanted =
    type === "all" ? defined : defined.filter(({ kind }) => kinds[type].includes(kind));
  return wanted.map(({ kind, name }) => {
    const documentation = documentationOf(kind, name);
    return {
      type: kind,
      name: lisp.machine.show(name),
      ...(documentation ? { documentation: shorten(documentation) } : {}),
    };
  });
}

function shorten(text: string): string {
  return text.length <= documentationMax ? text : `${text.slice(0, documentationMax - 1)}…`;
}

function documentationOf(kind: DefinitionKind, name: Value): string | null | undefined {
  if (!(name instanceof Sym)) return undefined;
  if (kind === "function" || kind === "generic") return name.fn?.code.documentation;
  return kind === "macro"
    ? name.macro?.documentation
    : lisp.machine.classes.get(name)?.documentation;
}
