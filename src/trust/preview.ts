import type { JsonObject } from "../base/json.ts";

const previewMax = 4_000;

/**
 * A call as a person reads it: one argument a line, nothing hidden by escape codes, in the middle of long values, or behind a line that is
 * made up. However many arguments there are, each is named: what is left out is never one of them as a whole.
 */
export function previewCall(tool: string, args: JsonObject): string {
  const entries = Object.entries(args);
  const valueMax = Math.max(valueMin, Math.min(valueUsual, Math.floor(previewMax / Math.max(1, entries.length))));
  const lines = entries.slice(0, linesMax).map(([name, value]) => `  ${clip(oneLine(name), nameMax)}: ${writeValue(name, value, valueMax)}`);
  const more = entries.length > linesMax ? [`  … and ${entries.length - linesMax} more arguments: do not allow what you cannot see`] : [];
  return [oneLine(tool), ...(lines.length > 0 ? lines : ["  (no arguments)"]), ...more].join("\n");
}

const linesMax = 60;
const nameMax = 100;
/** A command is read whole: what is between its ends may be what matters. */
const valueUsual = 1_500;
const valueMin = 60;

/** Control and format characters, but for a new line and a tab. */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029\u{e0000}-\u{e0fff}]/gu;

/** Escape codes, text that runs the other way, characters that a terminal does not show and a model reads: all written out. */
export function makeVisible(text: string): string {
  return text.replace(invisible, writeCode);
}

function writeCode(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A value must not look like the next argument, nor a name like something else that is said. */
export function oneLine(text: string): string {
  return makeVisible(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

/** What is secret by its name is not for a screen. */
const secretName = /(password|passphrase|secret|token|api[-_]?key|credentials?|authorization)$/i;

function writeValue(name: string, value: unknown, valueMax: number): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  if (typeof value === "string" && secretName.test(name)) return `(${value.length} characters that are not shown)`;
  return clip(oneLine(text), valueMax);
}

/** Cut in the middle: what is added at the end of a long text is seen. */
function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)} … (${text.length - 2 * half} characters) … ${text.slice(-half)}`;
}
