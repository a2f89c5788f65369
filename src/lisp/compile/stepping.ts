// Interprets nodes as generators, for parallel branches. Only nodes that may wait are stepped; all others run as
// closures on the same frames.
import { exceed } from "../budgets.ts";
import type { Box, Fn, Frame, Pending } from "../function.ts";
import type { Machine } from "../machine.ts";
import {
  dynamicState,
  restoreState,
  Transfer,
  undefinedFunction,
  undefinedSetter,
} from "../restarts.ts";
import { NIL, Sym, T, TAIL } from "../symbol.ts";
import { Opaque, type Value } from "../values.ts";
import { Emitter } from "./emit.ts";
import type { Token } from "./emit-control.ts";
import { bindVariable, readVariable } from "./emit-variables.ts";
import { checkKeywords, makeCode } from "./function-entry.ts";
import { type Lambda, mayWait, type Node, type Run } from "./nodes.ts";
import type { Target, Variable } from "./scope.ts";

export type Stepping = Generator<Pending, Value, void>;

/** Calls a function step by step. Sets `m.mv`. */
export function* stepCall(m: Machine, fn: Fn, args: Value[]): Stepping {
  let [callee, given] = [fn, args];
  for (;;) {
    const answer = yield* stepOnce(m, callee, given);
    if (answer !== TAIL) return answer;
    callee = m.tailFn as Fn;
    given = m.tailArgs;
  }
}

function* stepOnce(m: Machine, fn: Fn, args: Value[]): Stepping {
  const { code } = fn;
  if (code.start !== null) return yield* waitFor(m, code.start(m, args));
  if (code.step !== null) return yield* code.step(m, args);
  const lambda = code.lambda as Lambda | null;
  if (lambda === null || !mayWait(lambda.body)) return m.apply(fn, args);
  return yield* stepBody(m, fn, lambda, args);
}

function* waitFor(m: Machine, pending: Pending): Stepping {
  while (!pending.done) yield pending;
  const value = pending.take(m);
  m.mv = null;
  return value;
}

function* stepBody(m: Machine, fn: Fn, lambda: Lambda, args: Value[]): Stepping {
  m.tick(1);
  const depth = m.depth + 1;
  if (depth > m.depthMax) exceed(m, "DEPTH");
  m.depth = depth;
  const frame: Frame = new Array(lambda.frameSize);
  frame[0] = fn;
  m.stack[depth] = frame;
  const mark = m.bindings.length;
  const stepper = new Stepper(m, lambda);
  try {
    yield* stepper.parameters(frame, fn, args);
    return yield* stepper.run(lambda.body, frame, lambda.dynamic.size === 0);
  } finally {
    m.unbindTo(mark);
    m.depth = depth - 1;
  }
}

/** A pending local exit to a target in a frame. */
class LocalExit {
  readonly target: Target;
  readonly frame: Frame;
  readonly value: Value;
  readonly mv: Value[] | null;
  constructor(target: Target, frame: Frame, value: Value, mv: Value[] | null) {
    this.target = target;
    this.frame = frame;
    this.value = value;
    this.mv = mv;
  }
}

class Stepper {
  readonly #m: Machine;
  readonly #lambda: Lambda;
  readonly #emitter: Emitter;

  constructor(m: Machine, lambda: Lambda) {
    this.#m = m;
    this.#lambda = lambda;
    this.#emitter = new Emitter(m, lambda, makeCode);
  }

  *parameters(f: Frame, fn: Fn, args: Value[]): Stepping {
    const m = this.#m;
    const lambda = this.#lambda;
    const { required, optional, rest, keys } = lambda;
    const max =
      rest !== null || lambda.hasKeys
        ? Number.POSITIVE_INFINITY
        : required.length + optional.length;
    if (args.length < required.length || args.length > max) return m.wrongCount(fn, args.length);
    required.forEach((variable, index) => {
      this.#bind(f, variable, args[index] as Value);
    });
    let at = required.length;
    for (const { variable, init, supplied } of optional) {
      const given = at < args.length;
      this.#bind(f, variable, given ? (args[at] as Value) : yield* this.run(init, f));
      if (supplied !== null) this.#bind(f, supplied, given ? T : NIL);
      at++;
    }
    if (rest !== null) this.#bind(f, rest, at < args.length ? m.list(args.slice(at)) : NIL);
    if (!lambda.hasKeys) return NIL;
    checkKeywords(m, fn, lambda, args, at);
    for (const { key, variable, init, supplied } of keys) {
      const found = args.findIndex(
        (arg, index) => index >= at && (index - at) % 2 === 0 && arg === key,
      );
      this.#bind(f, variable, found < 0 ? yield* this.run(init, f) : (args[found + 1] as Value));
      if (supplied !== null) this.#bind(f, supplied, found < 0 ? NIL : T);
    }
    return NIL;
  }

  #bind(f: Frame, to: Variable | Sym, value: Value): void {
    if (to instanceof Sym) this.#m.bind(to, value);
    else {
      const sym = this.#lambda.dynamic.get(to);
      if (sym !== undefined) this.#m.bind(sym, value);
      else bindVariable(to)(f, value);
    }
  }

  /** Sets `m.mv`. In tail position it may return TAIL. */
  *run(node: Node, f: Frame, tail = false): Stepping {
    const m = this.#m;
    if (!mayWait(node)) return closureOf(this.#emitter, node)(f);
    switch (node.kind) {
      case "if":
        return yield* this.run(
          (yield* this.run(node.test, f)) !== NIL ? node.when : node.otherwise,
          f,
          tail,
        );
      case "or":
        return yield* this.#or(node.items, f, tail);
      case "progn": {
        for (const one of node.body.slice(0, -1)) yield* this.run(one, f);
        return yield* this.run(node.body.at(-1) as Node, f, tail);
      }
      case "set-local": {
        const value = yield* this.run(node.value, f);
        const { variable } = node;
        if (!variable.boxed) f[variable.slot] = value;
        else (this.#place(f, variable) as unknown as Box).value = value;
        m.mv = null;
        return value;
      }
      case "set-special":
        node.sym.value = yield* this.run(node.value, f);
        m.mv = null;
        return node.sym.value;
      case "let":
        return yield* this.#let(node, f, tail);
      case "values-let":
        return yield* this.#valuesLet(node, f, tail);
      case "labels": {
        closureOf(this.#emitter, { ...node, body: { kind: "constant", value: NIL } })(f);
        return yield* this.run(node.body, f, tail);
      }
      case "call":
        return yield* this.#call(
          () =>
            node.setter
              ? (node.sym.setter ?? undefinedSetter(m, node.sym))
              : (node.sym.fn ?? undefinedFunction(m, node.sym)),
          node.args,
          f,
          tail,
        );
      case "call-local":
        return yield* this.#call(
          () => readVariable(this.#emitter, node.variable)(f) as Fn,
          node.args,
          f,
          tail,
        );
      case "call-native":
        return yield* this.#call(() => node.fn, node.args, f, false);
      case "funcall": {
        const fn = m.fn(yield* this.run(node.fn, f));
        return yield* this.#call(() => fn, node.args, f, tail);
      }
      case "values-call":
        return yield* this.#valuesCall(node, f);
      case "values-list": {
        const list = m.list(m.allValues(yield* this.run(node.form, f)));
        m.mv = null;
        return list;
      }
      case "values-prog1": {
        const value = yield* this.run(node.first, f);
        const { mv } = m;
        yield* this.run(node.rest, f);
        m.mv = mv;
        return value;
      }
      case "block":
        return yield* this.#block(node, f);
      case "return": {
        const value = yield* this.run(node.value, f);
        if (node.direct) throw new LocalExit(node.target, f, value, m.mv);
        return this.#throwTo(node.target, f, value);
      }
      case "tagbody":
        return yield* this.#tagbody(node, f);
      case "go":
        if (node.direct) throw new LocalExit(node.target, f, node.index, null);
        return this.#throwTo(node.target, f, node.index);
      default:
        return closureOf(this.#emitter, node)(f);
    }
  }

  *#or(items: readonly Node[], f: Frame, tail: boolean): Stepping {
    for (const item of items.slice(0, -1)) {
      const value = yield* this.run(item, f);
      this.#m.mv = null;
      if (value !== NIL) return value;
    }
    return yield* this.run(items.at(-1) as Node, f, tail);
  }

  *#let(node: Extract<Node, { kind: "let" }>, f: Frame, tail: boolean): Stepping {
    const m = this.#m;
    const mark = m.bindings.length;
    const isSpecial = node.bindings.some(({ to }) => to instanceof Sym);
    try {
      const later: [Sym, Value][] = [];
      for (const { to, init } of node.bindings) {
        const value = yield* this.run(init, f);
        if (to instanceof Sym && !node.sequential) later.push([to, value]);
        else this.#bind(f, to, value);
      }
      for (const [sym, value] of later) m.bind(sym, value);
      return yield* this.run(node.body, f, tail && !isSpecial);
    } finally {
      if (isSpecial) m.unbindTo(mark);
    }
  }

  *#valuesLet(node: Extract<Node, { kind: "values-let" }>, f: Frame, tail: boolean): Stepping {
    const m = this.#m;
    const mark = m.bindings.length;
    const isSpecial = node.variables.some((to) => to instanceof Sym);
    const values = m.allValues(yield* this.run(node.form, f));
    try {
      node.variables.forEach((to, index) => {
        this.#bind(f, to, values[index] ?? NIL);
      });
      return yield* this.run(node.body, f, tail && !isSpecial);
    } finally {
      if (isSpecial) m.unbindTo(mark);
    }
  }

  *#args(nodes: readonly Node[], f: Frame): Generator<Pending, Value[], void> {
    const args: Value[] = [];
    for (const node of nodes) args.push(yield* this.run(node, f));
    return args;
  }

  *#call(callee: () => Fn, nodes: readonly Node[], f: Frame, tail: boolean): Stepping {
    const m = this.#m;
    const args = yield* this.#args(nodes, f);
    const fn = callee();
    if (!tail) return yield* stepCall(m, fn, args);
    m.tailFn = fn;
    m.tailArgs = args;
    return TAIL;
  }

  *#valuesCall(node: Extract<Node, { kind: "values-call" }>, f: Frame): Stepping {
    const m = this.#m;
    const fn = m.fn(yield* this.run(node.fn, f));
    const args: Value[] = [];
    for (const form of node.args) args.push(...m.allValues(yield* this.run(form, f)));
    return yield* stepCall(m, fn, args);
  }

  *#block(node: Extract<Node, { kind: "block" }>, f: Frame): Stepping {
    const m = this.#m;
    const state = dynamicState(m);
    const content: Token = { active: true };
    const token = new Opaque("EXIT", content);
    if (node.target.token !== null) this.#bind(f, node.target.token, token);
    try {
      return yield* this.run(node.body, f);
    } catch (thrown) {
      const left =
        thrown instanceof LocalExit
          ? thrown.target === node.target && thrown.frame === f
          : thrown instanceof Transfer && thrown.target === token;
      if (!left) throw thrown;
      restoreState(m, state);
      const exit = thrown as LocalExit | Transfer;
      m.mv = exit.mv;
      return exit.value;
    } finally {
      content.active = false;
    }
  }

  *#tagbody(node: Extract<Node, { kind: "tagbody" }>, f: Frame): Stepping {
    const m = this.#m;
    const state = dynamicState(m);
    const content: Token = { active: true };
    const token = new Opaque("EXIT", content);
    if (node.target.token !== null) this.#bind(f, node.target.token, token);
    try {
      let at = 0;
      while (at < node.statements.length) {
        try {
          yield* this.run(node.statements[at] as Node, f);
          at++;
        } catch (thrown) {
          const here =
            thrown instanceof LocalExit
              ? thrown.target === node.target && thrown.frame === f
              : thrown instanceof Transfer && thrown.target === token;
          if (!here) throw thrown;
          restoreState(m, state);
          m.tick(1);
          at = (thrown as LocalExit | Transfer).value as number;
        }
      }
      m.mv = null;
      return NIL;
    } finally {
      content.active = false;
    }
  }

  #throwTo(target: Target, f: Frame, value: Value): never {
    const token = readVariable(this.#emitter, target.token as Variable)(f) as Opaque;
    if (!(token.content as Token).active)
      this.#m.error("CONTROL-ERROR", { TEXT: this.#m.string("the block was already left") });
    throw new Transfer(token, value, this.#m.mv);
  }

  #place(f: Frame, variable: Variable): Value {
    if (variable.owner === this.#lambda) return f[variable.slot] as Value;
    return (f[0] as Fn).env[this.#lambda.captures.indexOf(variable)] as Value;
  }
}

const closures = new WeakMap<Node, Run>();

/** The cached closure of a node that cannot wait. */
function closureOf(emitter: Emitter, node: Node): Run {
  let run = closures.get(node);
  if (run === undefined) {
    run = emitter.run(node, "values");
    closures.set(node, run);
  }
  return run;
}

/** Saves and restores the state around a call, for stepping natives. */
export function* stepCatching(m: Machine, target: object, body: () => Stepping): Stepping {
  const state = dynamicState(m);
  try {
    return yield* body();
  } catch (thrown) {
    restoreState(m, state);
    if (!(thrown instanceof Transfer) || thrown.target !== target) throw thrown;
    m.mv = thrown.mv;
    return thrown.value;
  }
}
