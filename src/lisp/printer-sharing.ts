/** What is met more than once in a value, for `*print-circle*`: `#1=(a . #1#)`. */
import type { Machine } from "./machine.ts";
import { Instance } from "./object.ts";
import { Cons, Table, type Value, Vec } from "./values.ts";

export interface Shared {
  /** The first time: which label to set. Later: which one to refer to. Undefined for what is met once. */
  mark(value: object): { readonly kind: "first" | "again"; readonly number: number } | undefined;
  isShared(value: object): boolean;
}

export function findShared(m: Machine, root: Value): Shared {
  const seen = new Set<object>();
  const repeated = new Set<object>();
  const waiting: Value[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (!isCompound(value)) continue;
    m.tick(1);
    if (seen.has(value)) {
      repeated.add(value);
      continue;
    }
    seen.add(value);
    for (const part of partsOf(value)) waiting.push(part);
  }
  const labels = new Map<object, number>();
  return {
    isShared: (value) => repeated.has(value),
    mark(value) {
      if (!repeated.has(value)) return undefined;
      const known = labels.get(value);
      if (known !== undefined) return { kind: "again", number: known };
      labels.set(value, labels.size + 1);
      return { kind: "first", number: labels.size };
    },
  };
}

type Compound = Cons | Vec | Table | Instance;

function isCompound(value: Value): value is Compound {
  return (
    value instanceof Cons ||
    value instanceof Vec ||
    value instanceof Table ||
    (value instanceof Instance && value.cls.kind === "structure")
  );
}

function partsOf(value: Compound): Value[] {
  if (value instanceof Cons) return [value.car, value.cdr];
  if (value instanceof Vec) return value.items;
  if (value instanceof Table)
    return [...value.entries.values()].flatMap(({ key, value: held }) => [key, held]);
  return value.slots.filter((slot) => slot !== undefined);
}
