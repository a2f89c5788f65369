// Analyses lambda expressions. Parameters get the first slots of the frame.
import { parseLambdaList } from "../places.ts";
import { NIL, type Sym } from "../symbol.ts";
import type { Value } from "../values.ts";
import type { Analyser, Place } from "./analyse.ts";
import type { Binding, KeyParameter, Lambda, Node, OptionalParameter } from "./nodes.ts";
import { ExitTarget, type LexicalScope, splitBody, type Variable } from "./nodes.ts";

const nothing: Node = { kind: "constant", value: NIL };

export function emptyLambda(parent: Lambda | null, name: Value): Lambda {
  return {
    parent,
    name,
    lambdaList: "",
    documentation: null,
    position: null,
    required: [],
    optional: [],
    rest: null,
    keys: [],
    hasKeys: false,
    allowOtherKeys: false,
    dynamic: new Map(),
    body: nothing,
    captures: [],
    frameSize: 1,
    exits: 0,
    exiting: new Set(),
  };
}

/** `block` is the name of the block around the body, if any. */
export function analyseLambda(
  a: Analyser,
  lambdaList: Value,
  bodyForms: Value,
  outer: LexicalScope,
  options: { name: Value; block: Sym | null },
): Lambda {
  const list = parseLambdaList(a.m, lambdaList, false);
  const { forms, documentation, specials } = splitBody(bodyForms, true);
  const lambda = emptyLambda(outer.lambda, options.name);
  lambda.lambdaList = lambdaList === NIL ? "" : a.m.show(lambdaList).slice(1, -1);
  lambda.documentation = documentation;
  lambda.position = a.position;
  lambda.hasKeys = list.hasKeys;
  lambda.allowOtherKeys = list.allowOtherKeys;
  const parameters = new Parameters(a, outer.inside(lambda), specials);
  for (const name of list.required) lambda.required.push(parameters.add(name as Sym));
  // Parameters get their slots before the first init form, which may need its own.
  const optional = list.optional.map((one) => parameters.reserve(one.supplied !== null));
  const rest = list.rest === null ? null : parameters.reserve(false);
  const keys = list.keys.map((one) => parameters.reserve(one.supplied !== null));
  list.optional.forEach((one, index) => {
    lambda.optional.push(
      parameters.fill(one.name as Sym, one.init, one.supplied, optional[index] as number),
    );
  });
  if (rest !== null) lambda.rest = parameters.name(list.rest as Sym, rest);
  list.keys.forEach((one, index) => {
    lambda.keys.push({
      ...parameters.fill(one.name as Sym, one.init, one.supplied, keys[index] as number),
      key: one.key,
    } satisfies KeyParameter);
  });
  lambda.body = parameters.around(list.aux, (scope, place) =>
    bodyIn(a, forms, scope, place, options.block),
  );
  return lambda;
}

function bodyIn(
  a: Analyser,
  forms: Value,
  scope: LexicalScope,
  place: Place,
  block: Sym | null,
): Node {
  if (block === null) return a.body(forms, scope, place);
  const target = new ExitTarget(block, scope.lambda);
  const inner = scope.with({ kind: "block", name: block, target });
  // Reserve a slot for the token, in case a closure exits the block.
  const body = a.body(forms, inner.above(scope.free + 1), {
    direct: [...place.direct, target],
    tail: [...place.tail, target],
  });
  return closeBlock(target, body);
}

/** Removes a block without exits. */
export function closeBlock(target: ExitTarget, body: Node): Node {
  return target.hasDirect || target.token !== null ? { kind: "block", target, body } : body;
}

class Parameters {
  readonly #a: Analyser;
  readonly #specials: readonly Sym[];
  #scope: LexicalScope;
  #free: number;

  constructor(a: Analyser, scope: LexicalScope, specials: readonly Sym[]) {
    this.#a = a;
    this.#scope = scope;
    this.#specials = specials;
    this.#free = scope.free;
  }

  add(name: Sym): Variable {
    return this.name(name, this.reserve(false));
  }

  /** Slots for a parameter and its supplied-p variable. */
  reserve(withSupplied: boolean): number {
    const slot = this.#free;
    this.#free += withSupplied ? 2 : 1;
    this.#a.variable(NIL, this.#scope, this.#free - 1);
    return slot;
  }

  name(name: Sym, slot: number): Variable {
    const variable = this.#a.variable(name, this.#scope, slot);
    if (this.#a.isSpecial(name, this.#specials)) {
      this.#scope.lambda.dynamic.set(variable, name);
      this.#scope = this.#scope.with({ kind: "special", name });
    } else this.#scope = this.#scope.with({ kind: "variable", name, variable });
    return variable;
  }

  fill(name: Sym, init: Value, supplied: Sym | null, slot: number): OptionalParameter {
    const node = this.#a.form(init, this.#scope.above(this.#free));
    const variable = this.name(name, slot);
    return {
      variable,
      init: node,
      supplied: supplied === null ? null : this.name(supplied, slot + 1),
    };
  }

  /** The body inside its `&aux` variables. */
  around(
    aux: readonly { readonly name: Value; readonly init: Value }[],
    body: (scope: LexicalScope, place: Place) => Node,
  ): Node {
    const a = this.#a;
    const steps: Binding[] = [];
    let scope = this.#scope;
    for (const { name, init } of aux) {
      const node = a.form(init, scope.above(this.#free));
      const sym = name as Sym;
      if (a.isSpecial(sym, this.#specials)) {
        steps.push({ to: sym, init: node });
        scope = scope.with({ kind: "special", name: sym });
      } else {
        const variable = a.variable(sym, scope, this.#free++);
        steps.push({ to: variable, init: node });
        scope = scope.with({ kind: "variable", name: sym, variable });
      }
    }
    for (const name of this.#specials)
      if (!steps.some(({ to }) => to === name)) scope = scope.with({ kind: "special", name });
    const inner = body(scope.above(this.#free), { direct: [], tail: [] });
    return steps.length === 0
      ? inner
      : { kind: "let", bindings: steps, sequential: true, body: inner };
  }
}
