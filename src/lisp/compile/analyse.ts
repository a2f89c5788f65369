// Forms to nodes. Resolves everything that is known before the program runs: names, macros, shared variables,
// and exits that need no throw.
import { named } from "../define.ts";
import type { Macro } from "../function.ts";
import type { Machine } from "../machine.ts";
import type { Position } from "../reader.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, Opaque, type Value } from "../values.ts";
import { analyseLambda } from "./lambda.ts";
import type { Binding, Lambda, Node } from "./nodes.ts";
import { type ExitTarget, findSpecial, LexicalScope, splitBody, Variable } from "./nodes.ts";

/**
 * The context of a form. `direct`: targets that an EXIT returned here would reach, because all forms in
 * between pass it on. `tail`: targets whose values are those of this form.
 */
export interface Place {
  readonly direct: readonly ExitTarget[];
  readonly tail: readonly ExitTarget[];
}

export const elsewhere: Place = { direct: [], tail: [] };

/** For a form that is not last but passes on EXIT. */
export const inside = (place: Place): Place =>
  place.tail.length === 0 ? place : { direct: place.direct, tail: [] };

const functionName = named("FUNCTION");
const lambdaName = named("LAMBDA");
const funcallName = named("FUNCALL");
const setfName = named("SETF");

const formsMax = 1_000_000;

export class Analyser {
  readonly m: Machine;
  /** The position of the innermost form under analysis. */
  position: Position | null = null;
  constructor(m: Machine) {
    this.m = m;
  }

  form(form: Value, scope: LexicalScope, place: Place = elsewhere): Node {
    this.m.tick(1);
    this.m.alloc(2);
    const before = scope.lambda.exits;
    const node = this.#form(form, scope, place);
    if (scope.lambda.exits !== before) scope.lambda.exiting.add(node);
    return node;
  }

  #form(form: Value, scope: LexicalScope, place: Place): Node {
    if (form instanceof Sym) return this.#name(form, scope, place);
    if (form instanceof Cons) return this.#compound(form, scope, place);
    return { kind: "constant", value: form };
  }

  #name(name: Sym, scope: LexicalScope, place: Place): Node {
    const found = scope.findVariable(name);
    if (found?.kind === "variable")
      return { kind: "local", variable: this.use(found.variable, scope) };
    if (found?.kind === "symbol-macro") return this.form(found.expansion, scope, place);
    const global = found === undefined ? this.m.symbolMacros.get(name) : undefined;
    if (global !== undefined) return this.form(global, scope, place);
    if (name.kind === "constant" && name.value !== undefined)
      return { kind: "constant", value: name.value };
    return { kind: "special", sym: name };
  }

  /** Captures the variable in every function between this one and its owner. */
  use(variable: Variable, scope: LexicalScope): Variable {
    for (
      let at: Lambda | null = scope.lambda;
      at !== null && at !== variable.owner;
      at = at.parent
    ) {
      variable.captured = true;
      if (!at.captures.includes(variable)) at.captures.push(variable);
    }
    return variable;
  }

  #compound(form: Cons, scope: LexicalScope, place: Place): Node {
    const { car: head, cdr: operands } = form;
    this.position = this.m.positions.get(form) ?? this.position;
    if (head instanceof Sym) {
      const local = scope.findFunction(head);
      if (local?.kind === "macro")
        return this.form(this.expand(local.macro, form, scope), scope, place);
      if (local?.kind === "function") return this.#callLocal(local.variable, operands, scope);
      const special = findSpecial(head);
      if (special !== undefined) return special(this, operands, scope, place, form);
      if (head.macro !== null) return this.form(this.expand(head.macro, form, scope), scope, place);
      return this.#call(head, operands, scope);
    }
    if (head instanceof Cons && head.car === lambdaName) {
      const fn = this.lambdaForm(head, scope);
      return { kind: "funcall", fn, args: this.args(operands, scope) };
    }
    return this.m.programError(
      `${this.m.show(head)} cannot be called: a form begins with a name or a lambda expression`,
    );
  }

  #callLocal(variable: Variable, operands: Value, scope: LexicalScope): Node {
    const used = this.use(variable, scope);
    return { kind: "call-local", variable: used, args: this.args(operands, scope) };
  }

  #call(head: Sym, operands: Value, scope: LexicalScope): Node {
    if (head === funcallName && operands instanceof Cons) return this.#funcall(operands, scope);
    const args = this.args(operands, scope);
    if (head.pkg?.locked && head.fn?.code.native) return { kind: "call-native", fn: head.fn, args };
    return { kind: "call", sym: head, setter: false, args };
  }

  /** Treats `(funcall #'f …)` as a call of f. */
  #funcall(operands: Cons, scope: LexicalScope): Node {
    const fn = operands.car;
    if (fn instanceof Cons && fn.car === functionName && fn.cdr instanceof Cons) {
      const name = fn.cdr.car;
      const setter = setterName(name);
      let found: ReturnType<LexicalScope["findFunction"]>;
      if (name instanceof Sym) found = scope.findFunction(name);
      else if (setter !== null) found = scope.findFunction(setter, true);
      if (found?.kind === "function") return this.#callLocal(found.variable, operands.cdr, scope);
      if (setter?.pkg?.locked && setter.setter?.code.native)
        return { kind: "call-native", fn: setter.setter, args: this.args(operands.cdr, scope) };
      if (setter !== null)
        return { kind: "call", sym: setter, setter: true, args: this.args(operands.cdr, scope) };
      if (name instanceof Sym && name.macro === null && name !== funcallName && found === undefined)
        return this.#call(name, operands.cdr, scope);
    }
    return { kind: "funcall", fn: this.form(fn, scope), args: this.args(operands.cdr, scope) };
  }

  args(operands: Value, scope: LexicalScope): Node[] {
    const nodes: Node[] = [];
    let at = operands;
    for (; at instanceof Cons; at = at.cdr) this.#add(nodes, this.form(at.car, scope));
    if (at !== NIL) this.m.programError(`dotted call: ${this.m.show(operands)}`);
    return nodes;
  }

  /** Code may be circular, so the items are counted and limited. */
  #add(nodes: Node[], node: Node): void {
    this.m.tick(1);
    if (nodes.length === formsMax)
      this.m.programError(`more than ${formsMax} subforms in one form`);
    nodes.push(node);
  }

  expand(macro: Macro, form: Cons, scope: LexicalScope): Value {
    this.m.tick(10);
    const expansion = macro.expand(form, new Opaque("ENVIRONMENT", scope), this.m);
    const position = this.m.positions.get(form);
    if (position !== undefined && expansion instanceof Cons && !this.m.positions.has(expansion))
      this.m.positions.set(expansion, position);
    return expansion;
  }

  /** An implicit progn. */
  body(forms: Value, scope: LexicalScope, place: Place = elsewhere): Node {
    if (forms === NIL) return { kind: "constant", value: NIL };
    if (!(forms instanceof Cons)) return this.m.programError(`dotted body: ${this.m.show(forms)}`);
    if (forms.cdr === NIL) return this.form(forms.car, scope, place);
    const body: Node[] = [];
    const before = scope.lambda.exits;
    for (let at: Value = forms; at instanceof Cons; at = at.cdr)
      this.#add(body, this.form(at.car, scope, at.cdr === NIL ? place : inside(place)));
    const node: Node = { kind: "progn", body };
    if (scope.lambda.exits !== before) scope.lambda.exiting.add(node);
    return node;
  }

  /** A body with declarations. */
  declaredBody(forms: Value, scope: LexicalScope, place: Place = elsewhere): Node {
    const { forms: rest, specials } = splitBody(forms, false);
    return this.body(rest, withSpecials(scope, specials), place);
  }

  /** `(lambda (…) …)` as a node that makes the function. */
  lambdaForm(form: Cons, scope: LexicalScope, name: Value = lambdaName): Node {
    if (!(form.cdr instanceof Cons))
      return this.m.programError("a lambda expression needs a lambda list");
    return {
      kind: "lambda",
      lambda: analyseLambda(this, form.cdr.car, form.cdr.cdr, scope, { name, block: null }),
    };
  }

  /** The next free slot of the current function. */
  variable(name: Value, scope: LexicalScope, slot = scope.free): Variable {
    const { lambda } = scope;
    if (slot >= lambda.frameSize) lambda.frameSize = slot + 1;
    return new Variable(name, lambda, slot);
  }

  isSpecial(name: Sym, specials: readonly Sym[]): boolean {
    if (name.kind === "constant")
      return this.m.programError(`${this.m.show(name)} is a constant and cannot be bound`);
    return name.kind === "special" || specials.includes(name);
  }

  /** `let` and `let*`: the names, their forms and a body with declarations. */
  bindings(
    names: readonly { readonly name: Sym; readonly init: Value }[],
    forms: Value,
    scope: LexicalScope,
    place: Place,
    sequential: boolean,
  ): Node {
    const { forms: rest, specials } = splitBody(forms, false);
    const made: Binding[] = [];
    let names_ = scope;
    let free = scope.free;
    const pending: { name: Sym; variable: Variable }[] = [];
    for (const { name, init } of names) {
      const node = this.form(init, (sequential ? names_ : scope).above(free), inside(place));
      if (this.isSpecial(name, specials)) {
        made.push({ to: name, init: node });
        if (sequential) names_ = names_.with({ kind: "special", name });
        continue;
      }
      const variable = this.variable(name, scope, free++);
      made.push({ to: variable, init: node });
      if (sequential) names_ = names_.with({ kind: "variable", name, variable });
      else pending.push({ name, variable });
    }
    for (const { name, variable } of pending)
      names_ = names_.with({ kind: "variable", name, variable });
    const hasSpecial = made.some(({ to }) => to instanceof Sym);
    // A body inside dynamic bindings passes on EXIT, but is not a tail.
    const body = this.body(
      rest,
      withSpecials(names_, specials).above(free),
      hasSpecial ? inside(place) : place,
    );
    return made.length === 0 ? body : { kind: "let", bindings: made, sequential, body };
  }
}

/** The symbol in `(setf symbol)`, or null. */
export function setterName(name: Value): Sym | null {
  if (!(name instanceof Cons) || name.car !== setfName || !(name.cdr instanceof Cons)) return null;
  return name.cdr.car instanceof Sym && name.cdr.cdr === NIL ? name.cdr.car : null;
}

export function withSpecials(scope: LexicalScope, specials: readonly Sym[]): LexicalScope {
  return specials.reduce((outer, name) => outer.with({ kind: "special", name }), scope);
}

/** The scope of a top-level form. */
export function outermost(lambda: Lambda): LexicalScope {
  return new LexicalScope(lambda, null, null, 1);
}
