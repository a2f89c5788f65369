// What a program writes, counted: to streams that lead out as output, to others as memory.

import { named } from "./define.ts";
import { exceed } from "./exceed.ts";
import type { Machine } from "./machine.ts";
import { Stream } from "./values.ts";

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
