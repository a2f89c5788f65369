// Blocks, tagbodies and handler-case. An exit that all forms in between pass on returns EXIT with
// its target in the machine; others are thrown to a token of the block.
import { isHostTrouble, troubleIn } from "../budgets.ts";
import type { HandlerCluster } from "../conditions.ts";
import type { Frame } from "../function.ts";
import type { Machine } from "../machine.ts";
import { dynamicState, restoreState, Transfer } from "../restarts.ts";
import { EXIT, NIL } from "../symbol.ts";
import { type Instance, Opaque, type Value } from "../values.ts";
import type { Emitter } from "./emit.ts";
import { bindVariable, readVariable } from "./emit-variables.ts";
import type { ExitTarget, Variable } from "./nodes.ts";
import { type Mode, type Node, type NodeOf, notTail, type Run, type Test } from "./nodes.ts";

export interface Token {
  active: boolean;
}

export function emitBlock(e: Emitter, node: NodeOf<"block">, mode: Mode): Run {
  const { m } = e;
  const { target } = node;
  if (target.token !== null) return emitThrownBlock(e, node, target.token, mode);
  const body = e.run(node.body, mode);
  return (f) => {
    const answer = body(f);
    return answer === undefined && m.exitTarget === target ? m.exitValue : answer;
  };
}

function emitThrownBlock(e: Emitter, node: NodeOf<"block">, variable: Variable, mode: Mode): Run {
  const { m } = e;
  const { target } = node;
  const body = e.run(node.body, notTail(mode));
  const bind = bindVariable(variable);
  return (f) => {
    const content: Token = { active: true };
    const token = new Opaque("EXIT", content);
    bind(f, token);
    const state = dynamicState(m);
    try {
      const answer = body(f);
      return answer === undefined && m.exitTarget === target ? m.exitValue : answer;
    } catch (thrown) {
      if (!(thrown instanceof Transfer) || thrown.target !== token) throw thrown;
      restoreState(m, state);
      m.mv = thrown.mv;
      return thrown.value;
    } finally {
      content.active = false;
    }
  };
}

export function emitReturn(e: Emitter, node: NodeOf<"return">): Run {
  const { m } = e;
  const { target } = node;
  const value = e.run(node.value, "values");
  if (!node.direct) return throwTo(e, target, value);
  return (f) => {
    m.exitValue = value(f);
    m.exitTarget = target;
    return EXIT;
  };
}

function throwTo(e: Emitter, target: ExitTarget, value: Run): Run {
  const { m } = e;
  const read = readVariable(e, target.token as Variable);
  return (f) => {
    const answer = value(f);
    const token = read(f) as Opaque;
    if (!(token.content as Token).active)
      m.error("CONTROL-ERROR", {
        TEXT: `cannot leave the block ${m.show(target.name)}: it was already left`,
      });
    throw new Transfer(token, answer, m.mv);
  };
}

export function emitGo(e: Emitter, node: NodeOf<"go">): Run {
  const { m } = e;
  const { target, index } = node;
  if (!node.direct) return throwTo(e, target, () => index);
  return () => {
    m.exitTag = index;
    m.exitTarget = target;
    return EXIT;
  };
}

/** A statement: a form, or a jump with an optional test. */
type Statement =
  | { readonly kind: "run"; readonly run: Run }
  | { readonly kind: "jump"; readonly to: number }
  | { readonly kind: "jump-if"; readonly test: Test; readonly to: number };

export function emitTagbody(e: Emitter, node: NodeOf<"tagbody">, mode: Mode): Run {
  const { target } = node;
  if (target.token !== null) return nothing(e, emitThrownTagbody(e, node, target.token), mode);
  if (!target.hasDirect)
    return nothing(e, inOrder(node.statements.map((statement) => e.run(statement))), mode);
  const statements = node.statements.map((statement) => statementOf(e, target, statement));
  return nothing(e, asLoop(e, target, statements) ?? jumping(e, target, statements), mode);
}

/** The value is NIL; an exit that passes keeps all its values. */
function nothing({ m }: Emitter, run: Run, mode: Mode): Run {
  if (mode === "single") return run;
  return (f) => {
    const answer = run(f);
    if (answer !== undefined) m.mv = null;
    return answer;
  };
}

function statementOf(e: Emitter, target: ExitTarget, node: Node): Statement {
  if (node.kind === "go" && node.target === target && node.direct)
    return { kind: "jump", to: node.index };
  if (node.kind === "if") {
    const { when, otherwise } = node;
    if (when.kind === "go" && when.target === target && isNothing(otherwise))
      return { kind: "jump-if", test: e.test(node.test), to: when.index };
    if (otherwise.kind === "go" && otherwise.target === target && isNothing(when)) {
      const test = e.test(node.test);
      return { kind: "jump-if", test: (f) => !test(f), to: otherwise.index };
    }
  }
  return { kind: "run", run: e.run(node) };
}

const isNothing = (node: Node): boolean => node.kind === "constant";

function inOrder(runs: readonly Run[]): Run {
  const [a, b] = runs as [Run, Run];
  if (runs.length === 1) return (f) => (a(f) === undefined ? EXIT : NIL);
  if (runs.length === 2) return (f) => (a(f) === undefined || b(f) === undefined ? EXIT : NIL);
  return (f) => {
    for (const run of runs) if (run(f) === undefined) return EXIT;
    return NIL;
  };
}

/** `top: (when test (go end)) … (go top) end:`, the shape of most loops, which needs no program counter. */
function asLoop(e: Emitter, target: ExitTarget, statements: readonly Statement[]): Run | null {
  const { m } = e;
  const last = statements.at(-1);
  const first = statements[0];
  if (last?.kind !== "jump" || last.to !== 0 || first === undefined) return null;
  const inner = statements.slice(0, -1);
  if (inner.some(({ kind }) => kind === "jump")) return null;
  const test: Test =
    first.kind === "jump-if" && first.to === statements.length ? first.test : () => false;
  const runs = inner
    .slice(first.kind === "jump-if" && first.to === statements.length ? 1 : 0)
    .map((statement) => asRun(m, target, statement));
  // An exit to an inner tag takes the general path, which starts at the tag.
  const general = jumping(e, target, statements);
  const resume = (f: Frame): Value => (m.exitTarget === target ? general.from(f, m.exitTag) : EXIT);
  const [a, b, c] = runs as [Run, Run, Run];
  switch (runs.length) {
    case 2:
      return (f) => {
        while (!test(f)) {
          if (a(f) === undefined || b(f) === undefined) return resume(f);
          if (--m.fuel < 0) m.refuel();
        }
        return NIL;
      };
    case 3:
      return (f) => {
        while (!test(f)) {
          if (a(f) === undefined || b(f) === undefined || c(f) === undefined) return resume(f);
          if (--m.fuel < 0) m.refuel();
        }
        return NIL;
      };
    default:
      return (f) => {
        while (!test(f)) {
          for (let at = 0; at < runs.length; at++)
            if ((runs[at] as Run)(f) === undefined) return resume(f);
          if (--m.fuel < 0) m.refuel();
        }
        return NIL;
      };
  }
}

/** A jump inside a loop is an exit to its own tagbody. */
function asRun(m: Machine, target: ExitTarget, statement: Statement): Run {
  if (statement.kind === "run") return statement.run;
  const { to } = statement;
  const exit = (): Value => {
    m.exitTag = to;
    m.exitTarget = target;
    return EXIT;
  };
  if (statement.kind === "jump") return exit;
  const { test } = statement;
  return (f) => (test(f) ? exit() : NIL);
}

type Jumping = Run & { readonly from: (f: Frame, start: number) => Value };

function jumping(e: Emitter, target: ExitTarget, statements: readonly Statement[]): Jumping {
  const { m } = e;
  const from = (f: Frame, start: number): Value => {
    let at = start;
    while (at < statements.length) {
      const statement = statements[at] as Statement;
      let next = at + 1;
      if (statement.kind === "run") {
        if (statement.run(f) === undefined) {
          if (m.exitTarget !== target) return EXIT;
          next = m.exitTag;
        }
      } else if (statement.kind === "jump" || statement.test(f)) next = statement.to;
      if (next <= at && --m.fuel < 0) m.refuel();
      at = next;
    }
    return NIL;
  };
  return Object.assign((f: Frame) => from(f, 0), { from });
}

function emitThrownTagbody(e: Emitter, node: NodeOf<"tagbody">, variable: Variable): Run {
  const { m } = e;
  const { target } = node;
  const general = jumping(
    e,
    target,
    node.statements.map((statement) => statementOf(e, target, statement)),
  );
  const bind = bindVariable(variable);
  return (f) => {
    const content: Token = { active: true };
    const token = new Opaque("EXIT", content);
    bind(f, token);
    const state = dynamicState(m);
    let start = 0;
    try {
      for (;;) {
        try {
          return general.from(f, start);
        } catch (thrown) {
          if (!(thrown instanceof Transfer) || thrown.target !== token) throw thrown;
          restoreState(m, state);
          start = thrown.value as number;
          m.tick(1);
        }
      }
    } finally {
      content.active = false;
    }
  };
}

/** The clauses of a `handler-case` that is being evaluated: the first that fits is chosen. */
class Clauses implements HandlerCluster {
  readonly outer: HandlerCluster | null;
  readonly #types: readonly Value[];
  chosen = 0;

  constructor(outer: HandlerCluster | null, types: readonly Value[]) {
    this.outer = outer;
    this.#types = types;
  }

  handle(m: Machine, condition: Instance): Transfer | null {
    for (let at = 0; at < this.#types.length; at++) {
      if (!m.services.typep(m, condition, this.#types[at] as Value)) continue;
      this.chosen = at;
      return new Transfer(this, condition, null);
    }
    return null;
  }
}

export function emitHandlerCase(e: Emitter, node: NodeOf<"handler-case">, mode: Mode): Run {
  const { m } = e;
  const body = e.run(node.body, notTail(mode));
  const types = node.clauses.map(({ type }) => type);
  const runs = node.clauses.map((clause) => e.run(clause.body, mode));
  const bind = bindVariable(node.condition);
  return (f) => {
    const state = dynamicState(m);
    const clauses = new Clauses(m.handlers, types);
    m.handlers = clauses;
    let left: unknown;
    try {
      const answer = body(f);
      m.handlers = clauses.outer;
      return answer;
    } catch (thrown) {
      restoreState(m, state);
      left = isHostTrouble(thrown) ? troubleIn(m, clauses, thrown) : thrown;
    }
    if (!(left instanceof Transfer) || left.target !== clauses) throw left;
    restoreState(m, state);
    bind(f, left.value);
    return (runs[clauses.chosen] as Run)(f);
  };
}
