// Output of programs, counted against the budgets, and the printed results.

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

/** Records a warning; it counts as output, including its newline. */
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

/** Writes the part that fits before it signals the condition. */
function countOutput(m: Machine, sink: (text: string) => void, text: string, length: number): void {
  m.outputLeft -= length;
  if (m.outputLeft >= 0) return;
  sink(text.slice(0, Math.max(0, text.length + m.outputLeft)));
  exceed(m, "OUTPUT");
}

/** The index of the last newline. A loop is faster than `lastIndexOf` for short texts. */
function lastLine(text: string): number {
  if (text.length > 40) return text.lastIndexOf("\n");
  let at = text.length - 1;
  while (at >= 0 && text.charCodeAt(at) !== 10) at--;
  return at;
}

// The printed values or condition of a finished program. They count as output, so they are cut to fit.

/** Counts a text as output, and returns the part that fits. */
export type Room = (text: string) => string;

/** Always leaves a little, so that a program over its budget still reports that. */
export function createRoom({ outputLeft }: Machine): Room {
  let left = Math.max(outputLeft, grace.output);
  return (text) => {
    const fitting = Math.min(text.length, Math.max(0, left));
    // The newline counts, too, because many empty texts are long as well.
    left -= fitting + 1;
    return fitting === text.length
      ? text
      : `${text.slice(0, fitting)}… (${text.length - fitting} more characters)`;
  };
}

/** As the session prints them, or shortened (`brief`). */
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

/** Falls back to the short form for values that cannot be printed, such as circular ones. */
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

/** Printing may run the program's code and fail; the evaluation must still return a result. */
export function safely(print: () => string): string {
  try {
    return print();
  } catch (thrown) {
    if (thrown instanceof Unhandled) return `#<unprintable: ${thrown.condition.cls.name.name}>`;
    if (thrown instanceof Ended) return `#<unprintable: ${thrown.kind}-BUDGET-EXCEEDED>`;
    return "#<unprintable>";
  }
}
