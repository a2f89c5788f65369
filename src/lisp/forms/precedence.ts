// The class precedence list of CLOS: subclasses before superclasses, superclasses in the order each class names them, and where
// that leaves a choice, the class whose direct subclass comes latest.
import type { LispClass } from "../object.ts";

/** Undefined where the orders contradict each other. */
export function precedenceOf(cls: LispClass): LispClass[] | undefined {
  const left = reachable(cls);
  const before = new Map<LispClass, Set<LispClass>>([...left].map((one) => [one, new Set()]));
  for (const one of left) {
    [one, ...one.supers].reduce((earlier, later) => {
      before.get(later)?.add(earlier);
      return later;
    });
  }
  const ordered: LispClass[] = [];
  while (left.size > 0) {
    const free = [...left].filter((one) =>
      [...(before.get(one) ?? [])].every((earlier) => !left.has(earlier)),
    );
    const next = latestSubclassed(free, ordered);
    if (next === undefined) return undefined;
    ordered.push(next);
    left.delete(next);
  }
  return ordered;
}

function reachable(cls: LispClass, found = new Set<LispClass>()): Set<LispClass> {
  if (found.has(cls)) return found;
  found.add(cls);
  for (const above of cls.supers) reachable(above, found);
  return found;
}

function latestSubclassed(
  free: readonly LispClass[],
  ordered: readonly LispClass[],
): LispClass | undefined {
  if (free.length < 2) return free[0];
  for (const below of [...ordered].reverse()) {
    const found = free.find((one) => below.supers.includes(one));
    if (found !== undefined) return found;
  }
  return free[0];
}
