// The entries of a compiled function. A call takes one step, one level of depth and a frame, which stays on the
// machine's stack during the call, for backtraces.
import { exceed } from "../budgets.ts";
import { Box, Code, type Fn, type Frame } from "../function.ts";
import type { Machine } from "../machine.ts";
import { AGAIN, NIL, T } from "../symbol.ts";
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
  else setFixedEntries(code, lambda, boxing(lambda.required, body));
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

function setFixedEntries(code: Code, { required, frameSize }: Lambda, body: Run): void {
  const count = required.length;
  code.c0 = count === 0 ? entry0(body, frameSize) : (m, fn) => m.wrongCount(fn, 0);
  code.c1 = count === 1 ? entry1(body, frameSize) : (m, fn) => m.wrongCount(fn, 1);
  code.c2 = count === 2 ? entry2(body, frameSize) : (m, fn) => m.wrongCount(fn, 2);
  code.c3 = count === 3 ? entry3(body, frameSize) : (m, fn) => m.wrongCount(fn, 3);
  code.cn = (m, fn, args) => {
    if (args.length !== count) return m.wrongCount(fn, args.length);
    const frame: Frame = new Array(frameSize);
    frame[0] = fn;
    for (let at = 0; at < count; at++) frame[at + 1] = args[at] as Value;
    return enter(m, frame, body);
  };
}

/** Array literals for frames of common sizes, the fastest to make. */
function entry0(body: Run, size: number): Code["c0"] {
  if (size <= 4) return (m, fn) => enter(m, [fn, NIL, NIL, NIL], body);
  if (size <= 8) return (m, fn) => enter(m, [fn, NIL, NIL, NIL, NIL, NIL, NIL, NIL], body);
  return (m, fn) => enter(m, wideFrame(size, fn), body);
}

function entry1(body: Run, size: number): Code["c1"] {
  if (size <= 4) return (m, fn, a) => enter(m, [fn, a, NIL, NIL], body);
  if (size <= 8) return (m, fn, a) => enter(m, [fn, a, NIL, NIL, NIL, NIL, NIL, NIL], body);
  return (m, fn, a) => {
    const frame = wideFrame(size, fn);
    frame[1] = a;
    return enter(m, frame, body);
  };
}

function entry2(body: Run, size: number): Code["c2"] {
  if (size <= 4) return (m, fn, a, b) => enter(m, [fn, a, b, NIL], body);
  if (size <= 8) return (m, fn, a, b) => enter(m, [fn, a, b, NIL, NIL, NIL, NIL, NIL], body);
  return (m, fn, a, b) => {
    const frame = wideFrame(size, fn);
    frame[1] = a;
    frame[2] = b;
    return enter(m, frame, body);
  };
}

function entry3(body: Run, size: number): Code["c3"] {
  if (size <= 4) return (m, fn, a, b, c) => enter(m, [fn, a, b, c], body);
  if (size <= 8) return (m, fn, a, b, c) => enter(m, [fn, a, b, c, NIL, NIL, NIL, NIL], body);
  return (m, fn, a, b, c) => {
    const frame = wideFrame(size, fn);
    frame[1] = a;
    frame[2] = b;
    frame[3] = c;
    return enter(m, frame, body);
  };
}

function wideFrame(size: number, fn: Fn): Frame {
  const frame: Frame = new Array(size);
  frame[0] = fn;
  return frame;
}

function enter(m: Machine, frame: Frame, body: Run): Value {
  if (--m.fuel < 0) m.refuel();
  const depth = m.depth + 1;
  if (depth > m.depthMax) exceed(m, "DEPTH");
  m.depth = depth;
  m.stack[depth] = frame;
  let answer = body(frame);
  while (answer === AGAIN) {
    if (--m.fuel < 0) m.refuel();
    answer = body(frame);
  }
  m.depth = depth - 1;
  return answer;
}

/** Binds optional, rest and keyword parameters one by one, because an init form may use earlier ones. */
function setGeneralEntry(code: Code, e: Emitter, body: Run): void {
  const { lambda } = e;
  const { required } = lambda;
  const bindRequired = required.map((variable) => binderOf(e, variable));
  const bindRest = bindOptional(e);
  const max =
    lambda.rest !== null || lambda.hasKeys
      ? Number.POSITIVE_INFINITY
      : required.length + lambda.optional.length;
  code.cn = (m, fn, args) => {
    if (args.length < required.length || args.length > max) return m.wrongCount(fn, args.length);
    const frame: Frame = new Array(lambda.frameSize);
    frame[0] = fn;
    for (let at = 0; at < bindRequired.length; at++)
      (bindRequired[at] as Binder)(frame, args[at] as Value);
    return enter(m, frame, (f) => {
      bindRest(m, f, fn, args);
      return body(f);
    });
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
