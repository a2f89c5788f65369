// Backtraces: the active calls, innermost first.

import type { Lambda } from "./compile/nodes.ts";
import { named } from "./define.ts";
import { Box, Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import type { Position } from "./reader.ts";
import type { Value } from "./values.ts";

export interface BacktraceEntry {
  /** `(NAME ARGUMENT …)`, arguments shortened. */
  readonly call: string;
  /** The position of the function's definition, if known. */
  readonly position: Position | null;
}

export type Backtrace = readonly BacktraceEntry[];

const topLevel = named("%TOP-LEVEL");
const shownEntries = 20;
const shownCharacters = 60;

/** Arguments are printed without the program's methods, which may be what failed. */
export function takeBacktrace(m: Machine): Backtrace {
  const printer = m.kept.get("print-object");
  m.kept.delete("print-object");
  try {
    return activeCalls(m);
  } finally {
    if (printer !== undefined) m.kept.set("print-object", printer);
  }
}

function activeCalls(m: Machine): Backtrace {
  const entries: BacktraceEntry[] = [];
  for (let at = m.depth; at > 0 && entries.length < shownEntries; at--) {
    const frame = m.stack[at];
    const fn = frame?.[0];
    if (frame === undefined || !(fn instanceof Fn) || fn.code.name === topLevel) continue;
    const args = frame.slice(1, 1 + fn.code.max).map((slot) => brief(m, slot));
    const { position } = fn.code.lambda as Lambda;
    entries.push({ call: `(${[m.show(fn.code.name), ...args].join(" ")})`, position });
  }
  return entries;
}

function brief(m: Machine, slot: unknown): string {
  const value = slot instanceof Box ? slot.value : (slot as Value | undefined);
  if (value === undefined) return "?";
  const text = m.show(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters - 1)}…` : text;
}
