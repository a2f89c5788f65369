/** What is met more than once in a value, for `*print-circle*`: `#1=(a . #1#)`. */
import type { Machine } from "./machine.ts";
import { Cons, Instance, type Value, Vec } from "./values.ts";

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
    waiting.push(...partsOf(value));
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

function isCompound(value: Value): value is Cons | Vec | Instance {
  return value instanceof Cons || value instanceof Vec || (value instanceof Instance && value.cls.kind === "structure");
}

function partsOf(value: Cons | Vec | Instance): Value[] {
  if (value instanceof Cons) return [value.car, value.cdr];
  if (value instanceof Vec) return value.items;
  return value.slots.filter((slot) => slot !== undefined);
}
