// What stands at the head of a body: declarations and a documentation string.
import { named } from "../define.ts";
import { Str } from "../string.ts";
import { Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

export interface Body {
  readonly forms: Value;
  readonly documentation: string | null;
  readonly specials: readonly Sym[];
}

const declare = named("DECLARE");
const special = named("SPECIAL");

/** Only `special` changes what a program means; types and the rest are read and believed. */
export function splitBody(body: Value, takesDocumentation: boolean): Body {
  let documentation: string | null = null;
  const specials: Sym[] = [];
  let at = body;
  for (; at instanceof Cons; at = at.cdr) {
    const first: Value = at.car;
    if (first instanceof Cons && first.car === declare) specials.push(...specialsOf(first));
    else if (
      takesDocumentation &&
      first instanceof Str &&
      documentation === null &&
      at.cdr instanceof Cons
    )
      documentation = first.toString();
    else break;
  }
  return { forms: at, documentation, specials };
}

function specialsOf(declaration: Cons): Sym[] {
  return itemsOf(declaration.cdr).flatMap((specifier) =>
    specifier instanceof Cons && specifier.car === special
      ? itemsOf(specifier.cdr).filter((name) => name instanceof Sym)
      : [],
  );
}
