// One step of macro expansion, in the scope a macro was handed or in none.
import { Scope } from "./compile/scope.ts";
import type { Macro } from "./function.ts";
import type { Machine } from "./machine.ts";
import { Sym } from "./symbol.ts";
import { Cons, Opaque, type Value } from "./values.ts";

function scopeIn(env: Value | undefined): Scope | null {
  return env instanceof Opaque && env.content instanceof Scope ? env.content : null;
}

export function macroFor(env: Value | undefined, name: Sym): Macro | null {
  const local = scopeIn(env)?.findFunction(name);
  if (local?.kind === "function") return null;
  return local?.macro ?? name.macro;
}

/** Undefined when the form is no macro call and no symbol macro. */
export function expandOnce(m: Machine, whole: Value, env: Value | undefined): Value | undefined {
  if (whole instanceof Sym) {
    const local = scopeIn(env)?.findVariable(whole);
    if (local !== undefined) return local.kind === "symbol-macro" ? local.expansion : undefined;
    return m.symbolMacros.get(whole);
  }
  if (!(whole instanceof Cons) || !(whole.car instanceof Sym)) return undefined;
  const macro = macroFor(env, whole.car);
  return macro === null
    ? undefined
    : macro.expand(whole, env instanceof Opaque ? env : new Opaque("ENVIRONMENT", null), m);
}
