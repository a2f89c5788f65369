/** Sequence types as results: what `concatenate`, `map`, `coerce`, `make-sequence` and `merge` are asked to make. */
import type { Machine } from "../machine.ts";
import { stringOf, vectorOf } from "../sequences.ts";
import { char, Str } from "../string.ts";
import { cl, NIL, Sym, T } from "../symbol.ts";
import { expandType, unknownType } from "../types.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

type Wanted =
  | { readonly kind: "list" }
  | { readonly kind: "vector"; readonly elementType: Sym }
  | { readonly kind: "string" };

const strings = new Set(["STRING", "SIMPLE-STRING", "BASE-STRING", "SIMPLE-BASE-STRING"]);
const vectors = new Set(["VECTOR", "SIMPLE-VECTOR", "ARRAY", "SIMPLE-ARRAY"]);
const bits = new Set(["BIT-VECTOR", "SIMPLE-BIT-VECTOR"]);
const characters = new Set(["CHARACTER", "BASE-CHAR", "STANDARD-CHAR"]);

/** A sequence of that type; `isBlank` fills it with what such a sequence begins with. */
export function sequenceOfType(
  m: Machine,
  type: Value,
  items: readonly Value[],
  isBlank = false,
): Value {
  const wanted = wantedOf(m, type);
  checkLength(m, type, items.length);
  switch (wanted.kind) {
    case "list":
      return m.list(items);
    case "string":
      return stringOf(m, isBlank ? items.map(() => char(0)) : items);
    case "vector":
      return vectorOf(
        m,
        isBlank ? items.map(() => 0) : checkBits(m, items, wanted.elementType),
        wanted.elementType,
      );
  }
}

function checkBits(m: Machine, items: readonly Value[], elementType: Sym): readonly Value[] {
  if (elementType.name === "BIT")
    for (const item of items) if (item !== 0 && item !== 1) m.typeError(item, "BIT");
  return items;
}

function wantedOf(m: Machine, type: Value): Wanted {
  const expanded = expandType(m, type);
  const head = expanded instanceof Cons ? expanded.car : expanded;
  const name = head instanceof Sym ? head.name : "";
  const [, element] = itemsOf(expanded);
  if (name === "LIST" || name === "CONS" || name === "NULL") return { kind: "list" };
  if (strings.has(name)) return { kind: "string" };
  if (bits.has(name)) return { kind: "vector", elementType: cl("BIT") };
  if (name === "") return unknownType(m, type);
  if (!vectors.has(name)) return badSequenceType(m, type);
  if (name === "SIMPLE-VECTOR" || !(element instanceof Sym))
    return { kind: "vector", elementType: T };
  if (characters.has(element.name)) return { kind: "string" };
  return { kind: "vector", elementType: element.name === "BIT" ? element : T };
}

/** `(vector t 3)`, `(string 3)` and NULL say how long the result must be. */
function checkLength(m: Machine, type: Value, length: number): void {
  const expanded = expandType(m, type);
  const [head, first, second] = expanded instanceof Cons ? itemsOf(expanded) : [expanded];
  const name = head instanceof Sym ? head.name : "";
  const size = vectors.has(name) && name !== "SIMPLE-VECTOR" ? second : first;
  const expected = size instanceof Cons ? size.car : size;
  const isWrong =
    (name === "NULL" && length > 0) ||
    (name === "CONS" && length === 0) ||
    (typeof expected === "number" && expected !== length);
  if (isWrong) {
    const text = `a sequence of length ${length} is not of type ~s`;
    m.error("SIMPLE-TYPE-ERROR", {
      DATUM: length,
      "EXPECTED-TYPE": type,
      "FORMAT-CONTROL": new Str(text),
      "FORMAT-ARGUMENTS": m.list([type]),
    });
  }
}

function badSequenceType(m: Machine, type: Value): never {
  const control = new Str("~s is no type of sequences; LIST, VECTOR and STRING are");
  m.error("SIMPLE-TYPE-ERROR", {
    DATUM: type,
    "EXPECTED-TYPE": cl("SEQUENCE"),
    "FORMAT-CONTROL": control,
    "FORMAT-ARGUMENTS": m.list([type], NIL),
  });
}
