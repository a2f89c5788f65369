// What a program writes, counted: to streams that lead out as output, to others as memory.

import { Ended, exceed, grace } from "./budgets.ts";
import { Unhandled } from "./conditions.ts";
import { named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { T } from "./symbol.ts";
import { Stream, type Value } from "./values.ts";

/** Writes to a stream and counts the characters. */
export function write(m: Machine, stream: Stream, text: string): void {
  if (stream.sink === null) m.typeError(stream, "output-stream");
  if (stream.isOutput) countOutput(m, stream.sink, text, text.length);
  else m.alloc((text.length >> 3) + 1);
  stream.sink(text);
  const line = lastLine(text);
  stream.column = line < 0 ? stream.column + text.length : text.length - line - 1;
}

/** Keeps a warning for the answer: it is read there like any output, and counts like it, with the end of its line. */
export function keepWarning(m: Machine, text: string): void {
  const keep = (part: string): void => void m.warnings.push(part);
  countOutput(m, keep, text, text.length + 1);
  keep(text);
}

/** Writes to `*trace-output*`. */
export function trace(m: Machine, text: string): void {
  const stream = named("*TRACE-OUTPUT*").value ?? named("*STANDARD-OUTPUT*").value;
  if (stream instanceof Stream) write(m, stream, text);
}

/** What still fits is written before the condition is signalled. */
function countOutput(m: Machine, sink: (text: string) => void, text: string, length: number): void {
  m.outputLeft -= length;
  if (m.outputLeft >= 0) return;
  sink(text.slice(0, Math.max(0, text.length + m.outputLeft)));
  exceed(m, "OUTPUT");
}

/** Where the last line begins, less one. Most texts are a few characters, for which asking the host takes longer than looking. */
function lastLine(text: string): number {
  if (text.length > 40) return text.lastIndexOf("\n");
  let at = text.length - 1;
  while (at >= 0 && text.charCodeAt(at) !== 10) at--;
  return at;
}

// What is told once a program has ended: its values, or the condition that ended it. It counts as output, so what no longer fits is cut.

/** Takes a text out of what is left of the budget of output, and gives back what of it fits. */
export type Room = (text: string) => string;

/** There is always a little, so that a program which wrote too much still says so. */
export function createRoom({ outputLeft }: Machine): Room {
  let left = Math.max(outputLeft, grace.output);
  return (text) => {
    const fitting = Math.min(text.length, Math.max(0, left));
    // The end of its line counts, too: many empty texts are long as well.
    left -= fitting + 1;
    return fitting === text.length
      ? text
      : `${text.slice(0, fitting)}… (${text.length - fitting} more characters)`;
  };
}

/** As the session prints them, or shortened (`brief`) for a reader of an answer. */
export function showValues(
  m: Machine,
  values: readonly Value[],
  brief: boolean,
  room: Room,
): string[] {
  const shown = values.slice(0, valuesShown).map((value) => room(shownValue(m, value, brief)));
  return values.length > valuesShown
    ? [...shown, `… (${values.length - valuesShown} more values)`]
    : shown;
}

const valuesShown = 100;

/** What cannot be shown as the session wants it (it may be circular, or endless) is shown shortened. */
function shownValue(m: Machine, value: Value, brief: boolean): string {
  if (brief) return shortValue(m, value);
  try {
    return m.show(value);
  } catch {
    return shortValue(m, value);
  }
}

function shortValue(m: Machine, value: Value): string {
  const mark = m.bindings.length;
  for (const [name, setting] of shortened) m.bind(named(name), setting);
  const text = safely(() => m.show(value));
  m.unbindTo(mark);
  return text;
}

const shortened = [
  ["*PRINT-CIRCLE*", T],
  ["*PRINT-LENGTH*", 100],
  ["*PRINT-LEVEL*", 10],
  ["GUILDHALL:*PRINT-TABLES*", T],
] as const;

/** Printing may run the program's own code, so it may fail; the evaluation's answer may not. */
export function safely(print: () => string): string {
  try {
    return print();
  } catch (thrown) {
    if (thrown instanceof Unhandled) return `#<unprintable: ${thrown.condition.cls.name.name}>`;
    if (thrown instanceof Ended) return `#<unprintable: ${thrown.kind}-BUDGET-EXCEEDED>`;
    return "#<unprintable>";
  }
}
