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
  readVariable,
} from "./emit-variables.ts";
import { inlineTest } from "./inline-tests.ts";
import type { Lambda, Mode, Node, Run, Test } from "./nodes.ts";

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
    switch (node.kind) {
      case "constant": {
        const { value } = node;
        return this.one(() => value, mode);
      }
      case "local":
        return this.one(readVariable(this, node.variable), mode);
      case "special":
        return this.one(this.#special(node.sym), mode);
      case "function":
        return this.one(this.#function(node), mode);
      case "set-local":
        return this.one(emitSetLocal(this, node), mode);
      case "set-special":
        return this.one(this.#setSpecial(node), mode);
      case "if":
        return this.#if(node, mode);
      case "or":
        return this.#or(node.items, mode);
      case "progn":
        return this.#progn(node.body, mode);
      case "let":
        return emitLet(this, node, mode);
      case "values-let":
        return emitValuesLet(this, node, mode);
      case "lambda":
        return this.one(emitLambda(this, node.lambda), mode);
      case "labels":
        return emitLabels(this, node, mode);
      case "call":
        return emitCall(this, node, mode);
      case "call-local":
        return emitLocalCall(this, node, mode);
      case "call-native":
        return emitNativeCall(this, node, mode);
      case "funcall":
        return emitFuncall(this, node, mode);
      case "values-call":
        return emitValuesCall(this, node);
      case "values-list":
        return this.one(this.#valuesList(node.form), mode);
      case "values-prog1":
        return this.#valuesProg1(node);
      case "block":
        return emitBlock(this, node, mode);
      case "return":
        return emitReturn(this, node);
      case "tagbody":
        return emitTagbody(this, node, mode);
      case "go":
        return emitGo(this, node);
      case "handler-case":
        return emitHandlerCase(this, node, mode);
    }
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

  /** Tests the node's value without making a Lisp boolean. */
  test(node: Node): Test {
    if (node.kind === "constant") {
      const truth = node.value !== NIL;
      return () => truth;
    }
    if (node.kind === "if") return this.#testIf(node);
    if (node.kind === "or") {
      const tests = node.items.map((item) => this.test(item));
      const [a, b] = tests as [Test, Test];
      if (tests.length === 2) return (f) => a(f) || b(f);
      return (f) => {
        for (const test of tests) if (test(f)) return true;
        return false;
      };
    }
    if (node.kind === "call-native") {
      const inlined = inlineTest(this, node);
      if (inlined !== null) return inlined;
    }
    const run = this.run(node);
    return (f) => run(f) !== NIL;
  }

  #testIf(node: Extract<Node, { kind: "if" }>): Test {
    const test = this.test(node.test);
    const then = this.test(node.when);
    const otherwise = this.test(node.otherwise);
    if (node.otherwise.kind === "constant" && node.otherwise.value === NIL)
      return (f) => test(f) && then(f);
    return (f) => (test(f) ? then(f) : otherwise(f));
  }

  #special(sym: Extract<Node, { kind: "special" }>["sym"]): Run {
    const { m } = this;
    return () => sym.value ?? unboundVariable(m, sym);
  }

  #setSpecial({ sym, value }: Extract<Node, { kind: "set-special" }>): Run {
    const run = this.run(value);
    return (f) => {
      const answer = run(f);
      sym.value = answer;
      return answer;
    };
  }

  #function({ sym, setter }: Extract<Node, { kind: "function" }>): Run {
    const { m } = this;
    if (!setter) return () => sym.fn ?? undefinedFunction(m, sym);
    return () => sym.setter ?? undefinedSetter(m, sym);
  }

  #if(node: Extract<Node, { kind: "if" }>, mode: Mode): Run {
    const test = this.test(node.test);
    const then = this.run(node.when, mode);
    const otherwise = this.run(node.otherwise, mode);
    return (f) => (test(f) ? then(f) : otherwise(f));
  }

  #or(items: readonly Node[], mode: Mode): Run {
    const { m } = this;
    const runs = items.map((item, index) =>
      this.run(item, index === items.length - 1 ? mode : "single"),
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

  #progn(body: readonly Node[], mode: Mode): Run {
    const runs = body.map((node, index) =>
      this.run(node, index === body.length - 1 ? mode : "single"),
    );
    const last = runs.pop() as Run;
    if (body.slice(0, -1).some((node) => this.exits(node))) return prognWithExits(runs, last);
    const [a, b, c] = runs as [Run, Run, Run];
    if (runs.length === 1) {
      return (f) => {
        a(f);
        return last(f);
      };
    }
    if (runs.length === 2) {
      return (f) => {
        a(f);
        b(f);
        return last(f);
      };
    }
    if (runs.length === 3) {
      return (f) => {
        a(f);
        b(f);
        c(f);
        return last(f);
      };
    }
    return (f) => {
      for (const run of runs) run(f);
      return last(f);
    };
  }

  #valuesList(form: Node): Run {
    const { m } = this;
    const run = this.run(form, "values");
    return (f) => m.list(m.allValues(run(f)));
  }

  #valuesProg1({ first, rest }: Extract<Node, { kind: "values-prog1" }>): Run {
    const { m } = this;
    const run = this.run(first, "values");
    const after = this.run(rest);
    return (f) => {
      const value = run(f);
      const { mv } = m;
      after(f);
      m.mv = mv;
      return value;
    };
  }
}

function prognWithExits(runs: readonly Run[], last: Run): Run {
  const [a, b] = runs as [Run, Run];
  if (runs.length === 1) return (f) => (a(f) === EXIT ? EXIT : last(f));
  if (runs.length === 2) return (f) => (a(f) === EXIT || b(f) === EXIT ? EXIT : last(f));
  return (f) => {
    for (const run of runs) if (run(f) === EXIT) return EXIT;
    return last(f);
  };
}

/** True if the node always has one value, so that `mv` need not be cleared. */
export function isSingle(node: Node): boolean {
  switch (node.kind) {
    case "constant":
    case "local":
    case "special":
    case "function":
    case "set-local":
    case "set-special":
    case "lambda":
    case "values-list":
      return true;
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
      return false;
  }
}
