// Nodes to closures. A closure gets only the frame of its call; everything else is resolved when it is made.
//
// Modes of a closure:
//   single  its first value; `m.mv` may be stale afterwards
//   values  all its values; sets `m.mv`
//   tail    as `values`, but may return TAIL or AGAIN, which the function's entry or caller handles
import type { Code } from "../function.ts";
import type { Machine } from "../machine.ts";
import { unboundVariable, undefinedFunction, undefinedSetter } from "../restarts.ts";
import { EXIT, NIL } from "../symbol.ts";
import {
  emitCall,
  emitFuncall,
  emitLocalCall,
  emitNativeCall,
  emitValuesCall,
} from "./emit-calls.ts";
import { emitBlock, emitGo, emitHandlerCase, emitReturn, emitTagbody } from "./emit-control.ts";
import {
  emitLabels,
  emitLambda,
  emitLet,
  emitSetLocal,
  emitValuesLet,
  plainSlot,
  readVariable,
} from "./emit-variables.ts";
import { comparingIf, inlineTest, negatedBy } from "./inline-tests.ts";
import type { Kind, Lambda, Mode, Node, NodeOf, Run, Test } from "./nodes.ts";

export type Operand = readonly [slot: number, run: Run];

const absent: Run = () => NIL;

export class Emitter {
  readonly m: Machine;
  readonly lambda: Lambda;
  /** Makes the code of an inner function. */
  readonly code: (m: Machine, lambda: Lambda) => Code;

  constructor(m: Machine, lambda: Lambda, code: (m: Machine, lambda: Lambda) => Code) {
    this.m = m;
    this.lambda = lambda;
    this.code = code;
  }

  /** True if the node may return EXIT. */
  exits(node: Node): boolean {
    return this.lambda.exiting.has(node);
  }

  run(node: Node, mode: Mode = "single"): Run {
    const emit = emitters[node.kind] as (e: Emitter, node: Node, mode: Mode) => Run;
    return emit(this, node, mode);
  }

  /**
   * For a closure that reads plain variables in place: the slot of each or 0, and a closure that is needed for all
   * others. At least four.
   */
  operands(nodes: readonly Node[]): [Operand, Operand, Operand, Operand] {
    const made = nodes
      .slice(0, 4)
      .map((node): Operand => [plainSlot(this, node) ?? 0, this.run(node)]);
    while (made.length < 4) made.push([1, absent]);
    return made as [Operand, Operand, Operand, Operand];
  }

  /** For nodes with exactly one value. */
  one(run: Run, mode: Mode): Run {
    if (mode === "single") return run;
    const { m } = this;
    return (f) => {
      const value = run(f);
      m.mv = null;
      return value;
    };
  }

  /** Tests the node's value, or with `wanted` false its negation, without making a Lisp boolean. */
  test(node: Node, wanted = true): Test {
    const slot = plainSlot(this, node);
    if (slot !== null) return wanted ? (f) => f[slot] !== NIL : (f) => f[slot] === NIL;
    const compound = this.compoundTest(node);
    if (compound !== null) return wanted ? compound : (f) => !compound(f);
    const run = this.run(node);
    return wanted ? (f) => run(f) !== NIL : (f) => run(f) === NIL;
  }

  /** Null if the node is not made of other tests. */
  compoundTest(node: Node): Test | null {
    if (node.kind === "constant") {
      const truth = node.value !== NIL;
      return () => truth;
    }
    if (node.kind === "if") return this.#testIf(node);
    if (node.kind === "call-native") return inlineTest(this, node);
    if (node.kind !== "or") return null;
    const tests = node.items.map((item) => this.test(item));
    const [a, b] = tests as [Test, Test];
    if (tests.length === 2) return (f) => a(f) || b(f);
    return (f) => {
      for (const test of tests) if (test(f)) return true;
      return false;
    };
  }

  #testIf(node: NodeOf<"if">): Test {
    const test = this.test(node.test);
    const then = this.test(node.when);
    const otherwise = this.test(node.otherwise);
    if (node.otherwise.kind === "constant" && node.otherwise.value === NIL)
      return (f) => test(f) && then(f);
    return (f) => (test(f) ? then(f) : otherwise(f));
  }
}

/** A closure for each kind of node. */
const emitters: { readonly [One in Kind]: (e: Emitter, node: NodeOf<One>, mode: Mode) => Run } = {
  constant: (e, { value }, mode) => e.one(() => value, mode),
  local: (e, { variable }, mode) => e.one(readVariable(e, variable), mode),
  special: (e, { sym }, mode) => e.one(() => sym.value ?? unboundVariable(e.m, sym), mode),
  function: (e, { sym, setter }, mode) =>
    e.one(
      setter
        ? () => sym.setter ?? undefinedSetter(e.m, sym)
        : () => sym.fn ?? undefinedFunction(e.m, sym),
      mode,
    ),
  "set-local": (e, node, mode) => e.one(emitSetLocal(e, node), mode),
  "set-special": (e, node, mode) => e.one(emitSetSpecial(e, node), mode),
  if: emitIf,
  or: emitOr,
  progn: emitProgn,
  let: emitLet,
  "values-let": emitValuesLet,
  lambda: (e, { lambda }, mode) => e.one(emitLambda(e, lambda), mode),
  labels: emitLabels,
  call: emitCall,
  "call-local": emitLocalCall,
  "call-native": emitNativeCall,
  funcall: emitFuncall,
  "values-call": emitValuesCall,
  "values-list": (e, node, mode) => e.one(emitValuesList(e, node), mode),
  "values-prog1": emitValuesProg1,
  block: emitBlock,
  return: emitReturn,
  tagbody: emitTagbody,
  go: emitGo,
  "handler-case": emitHandlerCase,
};

function emitSetSpecial(e: Emitter, { sym, value }: NodeOf<"set-special">): Run {
  const run = e.run(value);
  return (f) => {
    const answer = run(f);
    sym.value = answer;
    return answer;
  };
}

function emitIf(e: Emitter, node: NodeOf<"if">, mode: Mode): Run {
  const negated = negatedBy(node.test);
  if (negated !== null)
    return emitIf(
      e,
      { kind: "if", test: negated, when: node.otherwise, otherwise: node.when },
      mode,
    );
  const then = e.run(node.when, mode);
  const otherwise = e.run(node.otherwise, mode);
  const slot = plainSlot(e, node.test);
  if (slot !== null) return (f) => (f[slot] === NIL ? otherwise(f) : then(f));
  const comparing = comparingIf(e, node.test, then, otherwise);
  if (comparing !== null) return comparing;
  const test = e.compoundTest(node.test);
  if (test !== null) return (f) => (test(f) ? then(f) : otherwise(f));
  const run = e.run(node.test);
  return (f) => (run(f) === NIL ? otherwise(f) : then(f));
}

function emitOr(e: Emitter, { items }: NodeOf<"or">, mode: Mode): Run {
  const { m } = e;
  const runs = items.map((item, index) =>
    e.run(item, index === items.length - 1 ? mode : "single"),
  );
  const [a, b] = runs as [Run, Run];
  if (runs.length === 2 && mode === "single") {
    return (f) => {
      const value = a(f);
      return value !== NIL ? value : b(f);
    };
  }
  const last = runs.pop() as Run;
  return (f) => {
    for (const run of runs) {
      const value = run(f);
      if (value !== NIL) {
        m.mv = null;
        return value;
      }
    }
    return last(f);
  };
}

function emitProgn(e: Emitter, { body }: NodeOf<"progn">, mode: Mode): Run {
  const runs = body.map((node, index) => e.run(node, index === body.length - 1 ? mode : "single"));
  const last = runs.pop() as Run;
  const [a, b] = runs as [Run, Run];
  // A form may return EXIT.
  if (runs.length === 1) return (f) => (a(f) === undefined ? EXIT : last(f));
  if (runs.length === 2) return (f) => (a(f) === undefined || b(f) === undefined ? EXIT : last(f));
  return (f) => {
    for (const run of runs) if (run(f) === undefined) return EXIT;
    return last(f);
  };
}

function emitValuesList(e: Emitter, { form }: NodeOf<"values-list">): Run {
  const { m } = e;
  const run = e.run(form, "values");
  return (f) => m.list(m.allValues(run(f)));
}

function emitValuesProg1(e: Emitter, { first, rest }: NodeOf<"values-prog1">): Run {
  const { m } = e;
  const run = e.run(first, "values");
  const after = e.run(rest);
  return (f) => {
    const value = run(f);
    const { mv } = m;
    after(f);
    m.mv = mv;
    return value;
  };
}

/** True if the node always has one value, so that `mv` need not be cleared. */
export function isSingle(node: Node): boolean {
  switch (node.kind) {
    case "call-native":
      return node.fn.code.single;
    case "if":
      return isSingle(node.when) && isSingle(node.otherwise);
    case "or":
      return isSingle(node.items.at(-1) as Node);
    case "progn":
      return isSingle(node.body.at(-1) as Node);
    case "let":
    case "values-let":
    case "labels":
      return isSingle(node.body);
    default:
      return singleKinds.has(node.kind);
  }
}

const singleKinds = new Set<Kind>([
  "constant",
  "local",
  "special",
  "function",
  "set-local",
  "set-special",
  "lambda",
  "values-list",
]);
