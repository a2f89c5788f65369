// Calls. A tail call is stored in the machine's registers and returns TAIL, so it takes no stack; a tail call of
// the running function replaces its parameters and returns AGAIN. Natives are called directly.

import { enter0, enter1, enter2, enter3, enter4 } from "../calls.ts";
import { functionHints } from "../conditions.ts";
import { Fn, type Frame } from "../function.ts";
import type { Machine } from "../machine.ts";
import { undefinedFunction, undefinedSetter } from "../restarts.ts";
import { AGAIN, Sym, TAIL } from "../symbol.ts";
import type { Value } from "../values.ts";
import type { Emitter } from "./emit.ts";
import { readVariable } from "./emit-variables.ts";
import { inlineFirst, inlineNative } from "./inline.ts";
import type { Mode, Node, NodeOf, Run } from "./nodes.ts";

type Callee = (f: Frame) => Fn;

export function emitCall(e: Emitter, { sym, setter, args }: NodeOf<"call">, mode: Mode): Run {
  const { m } = e;
  if (setter) return calling(e, () => sym.setter ?? undefinedSetter(m, sym), args, mode);
  // A word of another language: give the hint before its operands, which are not Lisp forms, fail.
  return functionHints.has(sym.name)
    ? calling(e, () => sym.fn ?? undefinedFunction(m, sym), args, "single")
    : calling(e, sym, args, mode);
}

export function emitLocalCall(e: Emitter, node: NodeOf<"call-local">, mode: Mode): Run {
  return calling(e, readVariable(e, node.variable) as Callee, node.args, mode);
}

export function emitFuncall(e: Emitter, node: NodeOf<"funcall">, mode: Mode): Run {
  const { m } = e;
  const run = e.run(node.fn);
  const callee: Callee = (f) => {
    const fn = run(f);
    return fn instanceof Fn ? fn : m.fn(fn);
  };
  return calling(e, callee, node.args, mode);
}

/** The value of a global function is read after the arguments, anything else is evaluated before them. */
function calling(e: Emitter, callee: Callee | Sym, args: readonly Node[], mode: Mode): Run {
  if (args.length > 4) return longCall(e, callee, args, mode);
  if (mode === "tail") return tailCall(e, callee, args);
  if (mode === "single" && callee instanceof Sym) return globalCall(e, callee, args);
  if (args.length > 3) return longCall(e, callee, args, mode);
  if (!(callee instanceof Sym)) return plainCall(e, callee, args);
  return plainCall(e, () => callee.fn ?? undefinedFunction(e.m, callee), args);
}

/** For one value of a global function. */
function globalCall(e: Emitter, sym: Sym, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a], [sb, b], [sc, c], [sd, d]] = e.operands(args);
  switch (args.length) {
    case 0:
      return () => {
        const answer = enter0(m, sym.fn ?? undefinedFunction(m, sym));
        return answer === null ? m.bounce() : answer;
      };
    case 1:
      return (f) => {
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        const answer = enter1(m, sym.fn ?? undefinedFunction(m, sym), x);
        return answer === null ? m.bounce() : answer;
      };
    case 2:
      return (f) => {
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        const y = sb > 0 ? (f[sb] as Value) : b(f);
        const answer = enter2(m, sym.fn ?? undefinedFunction(m, sym), x, y);
        return answer === null ? m.bounce() : answer;
      };
    case 3:
      return (f) => {
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        const y = sb > 0 ? (f[sb] as Value) : b(f);
        const z = sc > 0 ? (f[sc] as Value) : c(f);
        const answer = enter3(m, sym.fn ?? undefinedFunction(m, sym), x, y, z);
        return answer === null ? m.bounce() : answer;
      };
    default:
      return (f) => {
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        const y = sb > 0 ? (f[sb] as Value) : b(f);
        const z = sc > 0 ? (f[sc] as Value) : c(f);
        const w = sd > 0 ? (f[sd] as Value) : d(f);
        const answer = enter4(m, sym.fn ?? undefinedFunction(m, sym), x, y, z, w);
        return answer === null ? m.bounce() : answer;
      };
  }
}

function settled(m: Machine, fn: Fn, answer: Value): Value {
  if (fn.code.single) m.mv = null;
  return answer;
}

function plainCall(e: Emitter, callee: Callee, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a], [sb, b], [sc, c]] = e.operands(args);
  switch (args.length) {
    case 0:
      return (f) => {
        const fn = callee(f);
        const answer = enter0(m, fn);
        return answer === null ? m.bounce() : settled(m, fn, answer);
      };
    case 1:
      return (f) => {
        const fn = callee(f);
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        const answer = enter1(m, fn, x);
        return answer === null ? m.bounce() : settled(m, fn, answer);
      };
    case 2:
      return (f) => {
        const fn = callee(f);
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        const y = sb > 0 ? (f[sb] as Value) : b(f);
        const answer = enter2(m, fn, x, y);
        return answer === null ? m.bounce() : settled(m, fn, answer);
      };
    default:
      return (f) => {
        const fn = callee(f);
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        const y = sb > 0 ? (f[sb] as Value) : b(f);
        const z = sc > 0 ? (f[sc] as Value) : c(f);
        const answer = enter3(m, fn, x, y, z);
        return answer === null ? m.bounce() : settled(m, fn, answer);
      };
  }
}

function valuesOf(runs: readonly Run[], f: Frame): Value[] {
  const values: Value[] = new Array(runs.length);
  for (let at = 0; at < runs.length; at++) values[at] = (runs[at] as Run)(f);
  return values;
}

function tailCall(e: Emitter, callee: Callee | Sym, args: readonly Node[]): Run {
  const { m } = e;
  const sym = callee instanceof Sym ? callee : null;
  const first = callee instanceof Sym ? null : callee;
  const count = args.length;
  const selfFits = isSimple(e) && e.lambda.required.length === count;
  const [[sa, a], [sb, b], [sc, c], [sd, d]] = e.operands(args);
  return (f) => {
    const early = first === null ? null : first(f);
    const x = sa > 0 ? (f[sa] as Value) : a(f);
    const y = sb > 0 ? (f[sb] as Value) : b(f);
    const z = sc > 0 ? (f[sc] as Value) : c(f);
    const w = sd > 0 ? (f[sd] as Value) : d(f);
    const fn = early ?? (sym as Sym).fn ?? undefinedFunction(m, sym as Sym);
    if (selfFits && fn === f[0]) {
      if (count > 0) f[1] = x;
      if (count > 1) f[2] = y;
      if (count > 2) f[3] = z;
      if (count > 3) f[4] = w;
      return AGAIN;
    }
    if (count > 0) m.tail0 = x;
    if (count > 1) m.tail1 = y;
    if (count > 2) m.tail2 = z;
    if (count > 3) m.tailArgs = [x, y, z, w];
    return leave(m, fn, count);
  };
}

function longCall(e: Emitter, callee: Callee | Sym, args: readonly Node[], mode: Mode): Run {
  const { m } = e;
  const runs = args.map((arg) => e.run(arg));
  const selfFits = isSimple(e) && e.lambda.required.length === args.length;
  return (f) => {
    const early = callee instanceof Sym ? null : callee(f);
    const values = valuesOf(runs, f);
    const fn = early ?? (callee as Sym).fn ?? undefinedFunction(m, callee as Sym);
    if (mode !== "tail") return m.apply(fn, values);
    if (selfFits && fn === f[0]) {
      for (let at = 0; at < values.length; at++) f[at + 1] = values[at] as Value;
      return AGAIN;
    }
    m.tailArgs = values;
    return leave(m, fn, values.length);
  };
}

/** For functions with only required parameters, whose slots come first. */
function isSimple({ lambda }: Emitter): boolean {
  return lambda.optional.length === 0 && lambda.rest === null && !lambda.hasKeys;
}

/** Natives do not return TAIL, so a tail call has no advantage. */
function leave(m: Machine, fn: Fn, count: number): Value {
  m.tailFn = fn;
  m.tailCount = count;
  return fn.code.native ? m.bounce() : TAIL;
}

/** A native with several values always sets `mv` itself. */
export function emitNativeCall(e: Emitter, node: NodeOf<"call-native">, mode: Mode): Run {
  const { fn, args } = node;
  if (fn.code.single) return e.one(inlineNative(e, node) ?? nativeCall(e, fn, args), mode);
  if (mode === "single") return inlineFirst(e, node) ?? nativeCall(e, fn, args);
  return nativeCall(e, fn, args);
}

function nativeCall(e: Emitter, fn: Fn, args: readonly Node[]): Run {
  const { m } = e;
  const { code } = fn;
  const runs = args.map((arg) => e.run(arg));
  const { direct } = code;
  const [a, b, c] = runs as [Run, Run, Run];
  if (args.length > 3) return (f) => code.cn(m, fn, valuesOf(runs, f));
  if (direct === null || args.length < code.min || args.length > code.max)
    return entryCall(e, fn, runs);
  switch (args.length) {
    case 0:
      return () => direct(m);
    case 1:
      return (f) => direct(m, a(f));
    case 2:
      return (f) => direct(m, a(f), b(f));
    default:
      return (f) => direct(m, a(f), b(f), c(f));
  }
}

/** Without a direct implementation, the entry for the number of arguments avoids an array. */
function entryCall({ m }: Emitter, fn: Fn, runs: readonly Run[]): Run {
  const { c0, c1, c2, c3 } = fn.code;
  const [a, b, c] = runs as [Run, Run, Run];
  switch (runs.length) {
    case 0:
      return () => c0(m, fn);
    case 1:
      return (f) => c1(m, fn, a(f));
    case 2:
      return (f) => c2(m, fn, a(f), b(f));
    default:
      return (f) => c3(m, fn, a(f), b(f), c(f));
  }
}

export function emitValuesCall(e: Emitter, node: NodeOf<"values-call">): Run {
  const { m } = e;
  const callee = e.run(node.fn);
  const runs = node.args.map((arg) => e.run(arg, "values"));
  return (f) => {
    const fn = m.fn(callee(f));
    const args: Value[] = [];
    for (const run of runs) {
      const first = run(f);
      if (m.mv === null) args.push(first);
      else args.push(...m.mv);
    }
    return m.apply(fn, args);
  };
}
