// `collect`, `sum`, `maximize` and their like: where each gathers, and what the loop answers in the end.
import type { Template } from "../define.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Float, type Value } from "../values.ts";
import { hidden, type LoopPlan } from "./loop-plan.ts";
import type { Clauses } from "./loop-words.ts";

type Kind = "list" | "number" | "extreme";

interface Accumulator {
  readonly kind: Kind;
  /** What the loop answers, or the variable of `into`. */
  readonly variable: Sym;
  /** Of a list: the cell before its first, and its last. Of an extreme: whether there was one yet (`last`). */
  readonly head: Sym;
  readonly last: Sym;
  readonly isNamed: boolean;
}

interface Accumulation {
  readonly kind: Kind;
  /** The forms that take `value` in. */
  readonly take: (to: Accumulator, value: Template) => Template[];
}

const gather =
  (helper: string): Accumulation["take"] =>
  ({ variable, head, last, isNamed }, value) => [
    ["SETQ", last, [helper, last, value]],
    ...(isNamed ? [["SETQ", variable, ["CDR", head]]] : []),
  ];

const extreme =
  (comparison: string): Accumulation["take"] =>
  ({ variable, last }, value) => {
    const found = hidden("FOUND");
    const first: Template = ["SETQ", variable, ["MAX", found], last, "T"];
    return [
      [
        "LET",
        [[found, value]],
        ["IF", last, ["IF", [comparison, found, variable], ["SETQ", variable, found]], first],
      ],
    ];
  };

const collect: Accumulation = { kind: "list", take: gather("%LOOP-COLLECT") };
const append: Accumulation = { kind: "list", take: gather("%LOOP-APPEND") };
const nconc: Accumulation = { kind: "list", take: gather("%LOOP-NCONC") };
const sum: Accumulation = {
  kind: "number",
  take: ({ variable }, value) => [["SETQ", variable, ["+", variable, value]]],
};
const count: Accumulation = {
  kind: "number",
  take: ({ variable }, value) => [["IF", value, ["SETQ", variable, ["1+", variable]]]],
};
const maximize: Accumulation = { kind: "extreme", take: extreme(">") };
const minimize: Accumulation = { kind: "extreme", take: extreme("<") };

export const accumulations: ReadonlyMap<string, Accumulation> = new Map([
  ["COLLECT", collect],
  ["COLLECTING", collect],
  ["APPEND", append],
  ["APPENDING", append],
  ["NCONC", nconc],
  ["NCONCING", nconc],
  ["SUM", sum],
  ["SUMMING", sum],
  ["COUNT", count],
  ["COUNTING", count],
  ["MAXIMIZE", maximize],
  ["MAXIMIZING", maximize],
  ["MINIMIZE", minimize],
  ["MINIMIZING", minimize],
]);

export class Accumulators {
  /** True once `always` or `never` decides: a loop that runs to its end then answers T. */
  decides = false;
  readonly #plan: LoopPlan;
  readonly #named = new Map<Sym, Accumulator>();
  #unnamed: Accumulator | null = null;

  constructor(plan: LoopPlan) {
    this.#plan = plan;
  }

  /** The forms that take a value in; several clauses may share a place if they gather the same kind of thing. */
  add(
    word: string,
    value: Value,
    into: Value | null,
    initial: Template,
    clauses: Clauses,
  ): Template[] {
    const accumulation = accumulations.get(word) as Accumulation;
    if (into !== null && !(into instanceof Sym))
      return clauses.refuse("LOOP accumulates INTO a variable only");
    const known = into === null ? this.#unnamed : (this.#named.get(into) ?? null);
    if (known !== null && known.kind !== accumulation.kind)
      clauses.refuse(`LOOP cannot ${word} where it gathers something of another kind`);
    return accumulation.take(known ?? this.#create(accumulation.kind, into, initial), value);
  }

  result(): Template {
    if (this.#unnamed === null) return this.decides ? T : NIL;
    const { kind, head, variable } = this.#unnamed;
    return kind === "list" ? ["CDR", head] : variable;
  }

  #create(kind: Kind, into: Sym | null, initial: Template): Accumulator {
    const made = {
      kind,
      variable: into ?? hidden("RESULT"),
      head: hidden("HEAD"),
      last: hidden("LAST"),
      isNamed: into !== null,
    };
    if (into === null) this.#unnamed = made;
    else this.#named.set(into, made);
    const bind = (variable: Sym, value: Template) =>
      this.#plan.bindings.push([{ variable, value }]);
    if (kind === "list") {
      bind(made.head, ["LIST", NIL]);
      bind(made.last, made.head);
      if (into !== null) bind(into, NIL);
    } else bind(made.variable, initial instanceof Float ? initial : 0);
    if (kind === "extreme") bind(made.last, NIL);
    return made;
  }
}
