import type { DefinitionKind } from "../../lisp/global.ts";
import type { Machine } from "../../lisp/machine.ts";
import { Sym } from "../../lisp/symbol.ts";
import type { Value } from "../../lisp/values.ts";
import type { Definition, DefinitionType } from "./protocol.ts";

/** What a program defined; another definition of the same name is another object. */
export type Defined = { readonly kind: DefinitionKind; readonly name: Value };

const kinds: Readonly<Record<Exclude<DefinitionType, "all">, readonly DefinitionKind[]>> = {
  functions: ["function", "generic"],
  variables: ["variable"],
  macros: ["macro"],
  classes: ["class", "structure", "condition"],
};

/** What programs have defined in a session so far, in that order. */
export function listDefined({ definitions }: Machine): readonly Defined[] {
  return [...definitions.values()];
}

/** As an answer tells of them. */
export function tellDefined(
  m: Machine,
  defined: readonly Defined[],
  type: DefinitionType = "all",
): readonly Definition[] {
  const wanted =
    type === "all" ? defined : defined.filter(({ kind }) => kinds[type].includes(kind));
  return wanted.map(({ kind, name }) => {
    const documentation = documentationOf(m, kind, name);
    return {
      type: kind,
      name: m.show(name),
      ...(documentation ? { documentation: shortened(documentation) } : {}),
    };
  });
}

function shortened(text: string): string {
  return text.length <= documentationMax ? text : `${text.slice(0, documentationMax - 1)}…`;
}

const documentationMax = 300;

function documentationOf(m: Machine, kind: DefinitionKind, name: Value): string | null | undefined {
  if (!(name instanceof Sym)) return undefined;
  if (kind === "function" || kind === "generic") return name.fn?.code.documentation;
  return kind === "macro" ? name.macro?.documentation : m.classes.get(name)?.documentation;
}

/** What was not there before, or was defined anew. */
export function newlyDefined(
  before: readonly Defined[],
  after: readonly Defined[],
): readonly Defined[] {
  const known = new Set(before);
  return after.filter((one) => !known.has(one));
}
