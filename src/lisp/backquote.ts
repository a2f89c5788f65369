// Backquote is expanded into list, append and vector when it is read. Inner ones are expanded first, so that
// no levels need counting: a comma of an outer one is still a marker in the inner expansion.
import { form, named } from "./define.ts";
import { NIL, Sym } from "./symbol.ts";
import { Cons, list, type Value, Vec } from "./values.ts";

export const unquote = named("%UNQUOTE");
export const splice = named("%SPLICE");

export function expandBackquote(template: Value): Value {
  if (template instanceof Vec)
    return form(["APPLY", ["FUNCTION", "VECTOR"], expandBackquote(list(...template.items))]);
  if (!(template instanceof Cons))
    return isSelfEvaluating(template) ? template : form(["QUOTE", template]);
  if (template.car === unquote) return (template.cdr as Cons).car;
  return joined(partsOf(template));
}

/** A longer template is circular. */
const partsMax = 1_000_000;

type Part = { readonly kind: "constant" | "item" | "splice" | "tail"; readonly form: Value };

function partsOf(template: Cons): Part[] {
  const parts: Part[] = [];
  let at: Value = template;
  while (at instanceof Cons) {
    if (at.car === unquote) {
      parts.push({ kind: "tail", form: (at.cdr as Cons).car });
      return parts;
    }
    if (parts.length === partsMax) throw new RangeError("circular template");
    parts.push(partOf(at.car));
    at = at.cdr;
  }
  if (at !== NIL) parts.push({ kind: "tail", form: expandBackquote(at) });
  return parts;
}

function partOf(item: Value): Part {
  if (item instanceof Cons && item.car === splice)
    return { kind: "splice", form: (item.cdr as Cons).car };
  const expanded = expandBackquote(item);
  return { kind: isConstant(expanded) ? "constant" : "item", form: expanded };
}

function joined(parts: readonly Part[]): Value {
  if (parts.every((part) => part.kind === "constant"))
    return form(["QUOTE", list(...parts.map((part) => constantOf(part.form)))]);
  const groups: Value[] = [];
  let run: Value[] = [];
  for (const part of parts) {
    if (part.kind === "constant" || part.kind === "item") run.push(part.form);
    else {
      if (run.length > 0) groups.push(form(["LIST", ...run]));
      run = [];
      groups.push(part.form);
    }
  }
  const last = parts.at(-1);
  if (run.length > 0) groups.push(form(["LIST", ...run]));
  if (groups.length === 1)
    return last?.kind === "splice" ? form(["APPEND", ...groups]) : (groups[0] as Value);
  // A template with a dotted end is (list* a b tail); append handles mixtures.
  return form(["APPEND", ...groups]);
}

function isConstant(expanded: Value): boolean {
  return (
    isSelfEvaluating(expanded) || (expanded instanceof Cons && expanded.car === named("QUOTE"))
  );
}

function constantOf(expanded: Value): Value {
  return expanded instanceof Cons ? ((expanded.cdr as Cons).car as Value) : expanded;
}

function isSelfEvaluating(value: Value): boolean {
  return (!(value instanceof Cons) && !(value instanceof Sym)) || value === NIL;
}
