import type { JsonObject } from "../base/json.ts";

const previewMax = 4_000;
const valueMax = 400;

/** A call as a person reads it: one argument a line, nothing hidden by escape codes, in the middle of long values, or behind a line that is made up. */
export function previewCall(tool: string, args: JsonObject): string {
  const lines = Object.entries(args).map(([name, value]) => `  ${oneLine(name)}: ${writeValue(name, value)}`);
  return clip([oneLine(tool), ...(lines.length > 0 ? lines : ["  (no arguments)"])].join("\n"), previewMax);
}

/** Control and format characters, but for a new line and a tab. */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029\u{e0000}-\u{e0fff}]/gu;

/** Escape codes, text that runs the other way, characters that a terminal does not show and a model reads: all written out. */
export function makeVisible(text: string): string {
  return text.replace(invisible, writeCode);
}

function writeCode(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A value must not look like the next argument. */
function oneLine(text: string): string {
  return makeVisible(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

/** What is secret by its name is not for a screen. */
const secretName = /(password|passphrase|secret|token|api[-_]?key|credentials?|authorization)$/i;

function writeValue(name: string, value: unknown): string {
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
