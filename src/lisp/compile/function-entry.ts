// The code of a compiled function.
import { enterAll, frameAt, runBody } from "../calls.ts";
import { Box, Code, type Fn, type Frame } from "../function.ts";
import type { Machine } from "../machine.ts";
import { NIL, T } from "../symbol.ts";
import { findKeyword, unknownKeyword, type Value } from "../values.ts";
import { Emitter, isSingle } from "./emit.ts";
import { bindVariable } from "./emit-variables.ts";
import type { Lambda, Run, Variable } from "./nodes.ts";

export function makeCode(m: Machine, lambda: Lambda): Code {
  const single = isSingle(lambda.body);
  const code = new Code(lambda.name, false, single);
  code.lambdaList = lambda.lambdaList;
  code.documentation = lambda.documentation;
  code.lambda = lambda;
  code.max = lambda.required.length + lambda.optional.length;
  const emitter = new Emitter(m, lambda, makeCode);
  const isDynamic = lambda.dynamic.size > 0;
  const many = isDynamic ? "values" : "tail";
  const body = emitter.run(lambda.body, single ? "single" : many);
  if (isDynamic) setDynamicEntry(code, emitter, body);
  else if (lambda.optional.length > 0 || lambda.rest !== null || lambda.hasKeys)
    setGeneralEntry(code, emitter, body);
  else {
    code.arity = lambda.required.length;
    code.size = lambda.frameSize;
    code.body = boxing(lambda.required, body);
    code.cn = enterAll;
  }
  return code;
}

/** Moves parameters that closures share and assign into boxes. */
function boxing(parameters: readonly Variable[], body: Run): Run {
  const slots = parameters.filter(({ boxed }) => boxed).map(({ slot }) => slot);
  if (slots.length === 0) return body;
  return (f) => {
    for (const slot of slots) f[slot] = new Box(f[slot] as Value) as unknown as Value;
    return body(f);
  };
}

/** Binds optional, rest and keyword parameters one by one, because an init form may use earlier ones. */
function setGeneralEntry(code: Code, e: Emitter, body: Run): void {
  const { lambda } = e;
  const { required } = lambda;
  const bindRequired = required.map((variable) => binderOf(e, variable));
  const bindRest = bindOptional(e);
  const max = lambda.rest !== null || lambda.hasKeys ? Number.POSITIVE_INFINITY : code.max;
  code.cn = (m, fn, args) => {
    if (args.length < required.length || args.length > max) return m.wrongCount(fn, args.length);
    const frame = frameAt(m, fn, lambda.frameSize);
    // For the backtrace of an error in an init form.
    frame.fill(NIL, 1, code.max + 1);
    for (let at = 0; at < bindRequired.length; at++)
      (bindRequired[at] as Binder)(frame, args[at] as Value);
    bindRest(m, frame, fn, args);
    return runBody(m, frame, body);
  };
}

/** The general entry inside dynamic bindings. */
function setDynamicEntry(code: Code, e: Emitter, body: Run): void {
  setGeneralEntry(code, e, body);
  const general = code.cn;
  code.cn = (m, fn, args) => {
    const mark = m.bindings.length;
    try {
      return general(m, fn, args);
    } finally {
      m.unbindTo(mark);
    }
  };
}

type Binder = (f: Frame, value: Value) => void;

/** Binds special parameters as soon as they have their value, because the next init form may use it. */
function binderOf(e: Emitter, variable: Variable): Binder {
  const { m } = e;
  const sym = e.lambda.dynamic.get(variable);
  return sym === undefined ? bindVariable(variable) : (_, value) => m.bind(sym, value);
}

function bindOptional(e: Emitter): (m: Machine, f: Frame, fn: Fn, args: Value[]) => void {
  const { lambda } = e;
  const parameter = (one: {
    variable: Variable;
    init: Parameters<Emitter["run"]>[0];
    supplied: Variable | null;
  }) => ({
    bind: binderOf(e, one.variable),
    init: e.run(one.init),
    supplied: one.supplied === null ? null : binderOf(e, one.supplied),
  });
  const optional = lambda.optional.map(parameter);
  const rest = lambda.rest === null ? null : binderOf(e, lambda.rest);
  const keys = lambda.keys.map((one) => ({ key: one.key, ...parameter(one) }));
  const first = lambda.required.length;
  return (m, f, fn, args) => {
    let at = first;
    for (const { bind, init, supplied } of optional) {
      const given = at < args.length;
      bind(f, given ? (args[at] as Value) : init(f));
      supplied?.(f, given ? T : NIL);
      at++;
    }
    if (rest !== null) rest(f, at < args.length ? m.list(args.slice(at)) : NIL);
    if (!lambda.hasKeys) return;
    checkKeywords(m, fn, lambda, args, at);
    for (const { key, bind, init, supplied } of keys) {
      const found = findKeyword(args, at, key);
      bind(f, found < 0 ? init(f) : (args[found + 1] as Value));
      supplied?.(f, found < 0 ? NIL : T);
    }
  };
}

function checkKeywords(
  m: Machine,
  fn: Fn,
  lambda: Lambda,
  args: readonly Value[],
  from: number,
): void {
  if (from < args.length && (args.length - from) % 2 === 1)
    m.programError(`odd number of keyword arguments in a call of ${m.show(fn.code.name)}`);
  if (lambda.allowOtherKeys) return;
  const unknown = unknownKeyword(args, from, (key) => lambda.keys.some((one) => one.key === key));
  if (unknown !== undefined)
    m.programError(
      `${m.show(fn.code.name)} does not accept the keyword argument ${m.show(unknown)}`,
    );
}
