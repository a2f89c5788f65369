import type { JsonObject } from "../base/json.ts";
import { escapeInvisible } from "../base/text.ts";
import type { Target } from "../tool.ts";

const previewMax = 4_000;

/**
 * A call as a person reads it: one argument a line, nothing hidden by escape codes, in the middle of long values, or behind a line that is
 * made up. However many arguments there are, each is named: what is left out is never one of them as a whole.
 */
export function previewCall({ fullName, toolkit, tool }: PreviewedTool, args: JsonObject): string {
  const entries = Object.entries(args);
  const valueMax = Math.max(
    valueMin,
    Math.min(valueUsual, Math.floor(previewMax / Math.max(1, entries.length))),
  );
  const lines = entries
    .slice(0, linesMax)
    .map(
      ([name, value]) => `  ${clip(oneLine(name), nameMax)}: ${writeValue(name, value, valueMax)}`,
    );
  const more =
    entries.length > linesMax
      ? [`  … and ${entries.length - linesMax} more arguments: do not allow what you cannot see`]
      : [];
  // A project's config chooses prefixes, and could give one server's tools the names of another's.
  const title =
    fullName === `${toolkit.id}.${tool.name}`
      ? fullName
      : `${fullName} (${tool.name} of ${toolkit.id})`;
  return [oneLine(title), ...(lines.length > 0 ? lines : ["  (no arguments)"]), ...more].join("\n");
}

export interface PreviewedTool {
  readonly fullName: string;
  readonly toolkit: Pick<Target["toolkit"], "id">;
  readonly tool: Pick<Target["tool"], "name">;
}

const linesMax = 60;
const nameMax = 100;
/** A command is read whole: what is between its ends may be what matters. */
const valueUsual = 1_500;
const valueMin = 60;

/** A value must not look like the next argument, by a new line or by blanks up to where a terminal begins one; nor a name like something else that is said. */
export function oneLine(text: string): string {
  return escapeInvisible(text)
    .replace(/\n/g, "\\n")
    .replace(/\t/g, "\\t")
    .replace(blanks, ({ length }) => `(${length} blanks)`);
}

/** More than any indentation; the empty cell of Braille has no ink either. */
const blanks = /[\p{Zs}\u2800]{25,}/gu;

/** What is secret by its name is not for a screen. */
const secretName = /(password|passphrase|secret|token|api[-_]?key|credentials?|authorization)$/i;

function writeValue(name: string, value: unknown, valueMax: number): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  if (typeof value === "string" && secretName.test(name))
    return `(${value.length} characters that are not shown)`;
  return clip(oneLine(text), valueMax);
}

/** Cut in the middle: what is added at the end of a long text is seen. */
function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)} … (${text.length - 2 * half} characters) … ${text.slice(-half)}`;
}
