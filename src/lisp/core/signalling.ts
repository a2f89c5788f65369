// signal, error, cerror, warn, and making the conditions they take; restarts.
import { keepWarning, write } from "../budgets.ts";
import { classNamed, designatedClass } from "../classes.ts";
import { conditionSlot, isCondition, reportOf, signalCondition, slotName } from "../conditions.ts";
import { defineFunction, defineValues, named } from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import {
  activeRestarts,
  dynamicState,
  findRestart,
  offering,
  type Restart,
  type RestartSpec,
  restoreState,
  Transfer,
  transferOut,
  withRestarts,
} from "../restarts.ts";
import { Str } from "../string.ts";
import { NIL, type Sym } from "../symbol.ts";
import {
  findKeyword,
  gatheringStream,
  Instance,
  itemsOf,
  Opaque,
  Stream,
  type Value,
} from "../values.ts";

export function defineSignalling(): void {
  defineFunction("MAKE-CONDITION type &rest initargs", (m, type, initargs) =>
    conditionOf(m, type, initargs),
  );
  defineFunction("%CONDITION class datum &rest arguments", (m, simple: Sym, datum, args) =>
    designated(m, datum, args, simple.name),
  );
  defineFunction("SIGNAL datum &rest arguments", (m, datum, args) => {
    signalCondition(m, designated(m, datum, args, "SIMPLE-CONDITION"));
    return NIL;
  });
  defineFunction("ERROR datum &rest arguments", (m, datum, args) =>
    m.raise(designated(m, datum, args, "SIMPLE-ERROR")),
  );
  defineFunction(
    "CERROR continue-format-control datum &rest arguments",
    (m, control, datum, args) => {
      const condition = designated(m, datum, args, "SIMPLE-ERROR");
      const report = (inner: Machine) => inner.formatted(control, inner.list(args));
      return transferOut(m, (leave) =>
        withRestarts(m, [{ name: named("CONTINUE"), report, invoke: () => leave(NIL) }], () =>
          m.raise(condition),
        ),
      );
    },
  );
  defineFunction("WARN datum &rest arguments", (m, datum, args) => {
    if (isCondition(datum) && args.length > 0) return m.typeError(m.list(args), "NULL");
    return warn(m, designated(m, datum, args, "SIMPLE-WARNING"));
  });
  defineFunction("BREAK &optional format-control &rest arguments", (m) =>
    m.unavailable(
      named("BREAK"),
      "break is not available: there is no debugger; signal an error instead",
    ),
  );
  defineFunction("INVOKE-DEBUGGER condition", (m, condition) => {
    if (!isCondition(condition)) return m.typeError(condition, "CONDITION");
    const hook = named("*DEBUGGER-HOOK*");
    const { value } = hook;
    if (value !== undefined && value !== NIL) {
      m.bind(hook, NIL);
      m.call2(m.fn(value), condition, value);
    }
    return m.raise(condition);
  });
  defineFunction("%ASSERT-FAILED form datum arguments", (m, test, given, args) => {
    const [datum = NIL, ...more] =
      given === NIL ? [m.string("The assertion ~s failed."), test] : [given, ...itemsOf(args)];
    const condition = designated(m, datum, more, "SIMPLE-ERROR");
    return offering(m, "CONTINUE", "Try the assertion again.", () => m.raise(condition));
  });
  defineFunction("%CHECK-FAILED place datum type text", (m, place, datum, type, text) => {
    const expected = text instanceof Str ? text.toString() : `of type ${m.show(type)}`;
    const texts = [m.show(place), m.show(datum), expected].map((one) => m.string(one));
    return offering(m, "STORE-VALUE", `Give ${m.show(place)} a new value.`, () =>
      m.typeError(datum, type, "The value of ~a is ~a, which is not ~a.", ...texts),
    );
  });
  for (const [reader, slot] of readers)
    defineFunction(`${reader} condition`, (m, condition) => readSlot(m, condition, slot));
  defineFunction("SIMPLE-CONDITION-FORMAT-ARGUMENTS condition", (m, condition) =>
    condition instanceof Instance
      ? (conditionSlot(condition, "FORMAT-ARGUMENTS") ?? NIL)
      : m.typeError(condition, "SIMPLE-CONDITION"),
  );
}

const readers = [
  ["SIMPLE-CONDITION-FORMAT-CONTROL", "FORMAT-CONTROL"],
  ["TYPE-ERROR-DATUM", "DATUM"],
  ["TYPE-ERROR-EXPECTED-TYPE", "EXPECTED-TYPE"],
  ["CELL-ERROR-NAME", "NAME"],
  ["UNBOUND-SLOT-INSTANCE", "INSTANCE"],
  ["ARITHMETIC-ERROR-OPERATION", "OPERATION"],
  ["ARITHMETIC-ERROR-OPERANDS", "OPERANDS"],
  ["PACKAGE-ERROR-PACKAGE", "PACKAGE"],
  ["STREAM-ERROR-STREAM", "STREAM"],
  ["FILE-ERROR-PATHNAME", "PATHNAME"],
  ["PRINT-NOT-READABLE-OBJECT", "OBJECT"],
] as const;

function readSlot(m: Machine, condition: Value, slot: string): Value {
  if (!isCondition(condition)) return m.typeError(condition, "CONDITION");
  return (
    conditionSlot(condition, slot) ??
    m.error("UNBOUND-SLOT", { NAME: slotName(slot), INSTANCE: condition })
  );
}

/** A condition designator: a condition, a class name with initargs, or a format control with arguments. */
export function designated(
  m: Machine,
  datum: Value,
  args: readonly Value[],
  simple: string,
): Instance {
  if (isCondition(datum)) return datum;
  if (datum instanceof Str || datum instanceof Fn)
    return new Instance(classNamed(simple), [datum, m.list(args)]);
  return conditionOf(m, datum, args);
}

function conditionOf(m: Machine, type: Value, initargs: readonly Value[]): Instance {
  const cls = designatedClass(m, type);
  if (cls?.kind !== "condition")
    return m.typeError(type, "CONDITION", "~s does not name a condition", type);
  const made = new Instance(cls, new Array(cls.slots.length).fill(undefined));
  const given = [...initargs];
  for (const { key, init } of cls.defaultInitargs)
    if (findKeyword(initargs, 0, key) < 0) given.push(key, init(m));
  cls.slots.forEach((slot, index) => {
    const at = given.findIndex(
      (item, position) => position % 2 === 0 && slot.initargs.includes(item as Sym),
    );
    const value = at >= 0 ? given[at + 1] : slot.init?.(m);
    if (slot.shared === null) made.slots[index] = value;
    else if (at >= 0 || slot.shared.value === undefined) slot.shared.value = value;
  });
  const format = cls.slotIndex.get(slotName("FORMAT-ARGUMENTS"));
  if (format !== undefined) made.slots[format] ??= NIL;
  return made;
}

export function warn(m: Machine, condition: Instance): Value {
  if (!isCondition(condition, "WARNING")) return m.typeError(condition, "WARNING");
  return offering(m, "MUFFLE-WARNING", "Skip the warning.", () => {
    signalCondition(m, condition);
    keepWarning(m, reportOf(m, condition));
    writeWarning(m, condition);
    return NIL;
  });
}

/** Warnings are recorded separately, unless the program has redirected the error output. */
function writeWarning(m: Machine, condition: Instance): void {
  const stream = named("*ERROR-OUTPUT*").value;
  if (!(stream instanceof Stream) || stream === m.errorStream) return;
  const kind = isCondition(condition, "STYLE-WARNING") ? "STYLE-WARNING" : "WARNING";
  write(m, stream, `${stream.column > 0 ? "\n" : ""}${kind}: ${reportOf(m, condition)}\n`);
}

// restart-case, restart-bind, and finding and invoking restarts.

export function defineRestarting(): void {
  defineValues("%RESTART-CASE specs thunk", restartCase);
  defineValues("%RESTART-BIND specs thunk", (m, specs, body: Fn) => {
    const restarts = itemsOf(specs).map((spec) => specOf(m, spec, (fn, args) => m.apply(fn, args)));
    return withRestarts(m, restarts, () => m.call0(body));
  });
  defineValues("%WITH-CONDITION-RESTARTS condition restarts thunk", (m, ...args) => {
    const [condition, restarts, body] = args;
    const all = itemsOf(restarts).map((restart) => restartIn(m, restart));
    return associate(m, all, condition, body as Fn);
  });
  defineValues("%ASSOCIATE count condition thunk", (m, count: number, condition, body: Fn) => {
    const innermost: Restart[] = [];
    for (let at = m.restarts; at !== null && innermost.length < count; at = at.outer)
      innermost.push(at);
    return associate(m, innermost, condition, body);
  });
  defineFunction("COMPUTE-RESTARTS &optional condition", (m, condition) =>
    m.list(activeRestarts(m, conditionIn(condition)).map(({ handle }) => handle)),
  );
  defineFunction(
    "FIND-RESTART name &optional condition",
    (m, name, condition) => findRestart(m, name, conditionIn(condition))?.handle ?? NIL,
  );
  defineFunction("RESTART-NAME restart", (m, restart) => restartIn(m, restart).name);
  defineValues("INVOKE-RESTART restart &rest arguments", (m, restart, args) =>
    found(m, restart).invoke(m, args),
  );
  defineValues("INVOKE-RESTART-INTERACTIVELY restart", (m, designator) => {
    const restart = found(m, designator);
    return restart.invoke(m, restart.interactive?.(m) ?? []);
  });
}

function specOf(m: Machine, spec: Value, invokeIt: (fn: Fn, args: Value[]) => Value): RestartSpec {
  const [name, fn, report, interactive, test] = itemsOf(spec) as [Sym, ...Value[]];
  const callee = m.fn(fn as Value);
  const ifGiven = <Part>(part: Value | undefined, make: (part: Value) => Part): Part | null =>
    part === undefined || part === NIL ? null : make(part);
  return {
    name,
    invoke: (_, args) => invokeIt(callee, args),
    report: ifGiven(
      report,
      (by) => (inner) => (by instanceof Str ? by.toString() : written(inner, by)),
    ),
    interactive: ifGiven(interactive, (by) => (inner) => itemsOf(inner.call0(inner.fn(by)))),
    test: ifGiven(
      test,
      (by) => (inner, condition) => inner.call1(inner.fn(by), condition ?? NIL) !== NIL,
    ),
  };
}

function written(m: Machine, report: Value): string {
  const stream = gatheringStream();
  m.call1(m.fn(report), stream);
  return stream.gathered;
}

/** Its restarts first exit to here and then run their function. */
function restartCase(m: Machine, specs: Value, body: Fn): Value {
  const target: { run: () => Value } = { run: () => NIL };
  const leave = (fn: Fn, args: Value[]): never => {
    target.run = () => m.apply(fn, args);
    throw new Transfer(target, NIL, null);
  };
  const restarts = itemsOf(specs).map((spec) => specOf(m, spec, leave));
  const state = dynamicState(m);
  try {
    return withRestarts(m, restarts, () => m.call0(body));
  } catch (thrown) {
    if (!(thrown instanceof Transfer) || thrown.target !== target) throw thrown;
    restoreState(m, state);
    return target.run();
  }
}

function associate(m: Machine, restarts: readonly Restart[], condition: Value, body: Fn): Value {
  const associated = restarts.map(({ conditions }) => conditions);
  for (const conditions of associated) conditions.push(condition as Instance);
  try {
    return m.call0(body);
  } finally {
    for (const conditions of associated)
      conditions.splice(conditions.indexOf(condition as Instance), 1);
  }
}

const conditionIn = (value: Value | undefined): Instance | null =>
  value !== undefined && isCondition(value) ? value : null;

function restartIn(m: Machine, value: Value): Restart {
  if (value instanceof Opaque && value.label === "RESTART")
    return (value.content as { restart: Restart }).restart;
  return m.typeError(value, "RESTART");
}

function found(m: Machine, designator: Value): Restart {
  return (
    findRestart(m, designator, null) ??
    m.error("CONTROL-ERROR", { TEXT: `no restart ${m.show(designator)} is active` })
  );
}
