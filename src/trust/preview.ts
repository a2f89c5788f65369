import type { JsonObject } from "../base/json.ts";

const previewMax = 2_000;
const valueMax = 300;

/** A call as a person reads it: one argument a line, nothing hidden by escape codes, long values cut. */
export function previewCall(tool: string, args: JsonObject): string {
  const lines = Object.entries(args).map(([name, value]) => `  ${makeVisible(name)}: ${clip(makeVisible(write(value)), valueMax)}`);
  return clip([makeVisible(tool), ...(lines.length > 0 ? lines : ["  (no arguments)"])].join("\n"), previewMax);
}

/** Control and format characters, but for a new line and a tab. */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Escape codes, text that runs the other way, characters that a terminal does not show and a model reads: all written out. */
export function makeVisible(text: string): string {
  return text.replace(invisible, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

function write(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
