import type { JsonObject } from "../base/json.ts";
import { escapeInvisible } from "../base/sanitize.ts";
import type { Target } from "../tool.ts";

const previewMax = 4_000;

/**
 * A call for the person who approves it: one argument per line. Escape codes are made visible, long
 * values keep both ends, and line breaks cannot fake another argument. Of a value that is secret by its
 * name only the ends are shown: a name must not hide a command. `showsSecrets`: the tool may change
 * something, so the person sees all of it.
 */
export function previewCall(
  { fullName, toolkit, tool }: PreviewedTool,
  args: JsonObject,
  { showsSecrets = false }: { readonly showsSecrets?: boolean } = {},
): string {
  const entries = Object.entries(args);
  const valueMax = Math.max(
    valueMin,
    Math.min(valueUsual, Math.floor(previewMax / Math.max(1, entries.length))),
  );
  const lines = entries
    .slice(0, linesMax)
    .map(
      ([name, value]) =>
        `  ${clip(oneLine(name), nameMax)}: ${!showsSecrets && isSecret(name, value) ? showEnds(value) : writeValue(value, valueMax)}`,
    );
  const more =
    entries.length > linesMax
      ? [
          `  … and ${entries.length - linesMax} more arguments that are not shown: deny the call if in doubt`,
        ]
      : [];
  // The project's config chooses prefixes and could disguise one server's tools as another's.
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
/** Long enough to show a typical shell command completely. */
const valueUsual = 1_500;
const valueMin = 60;

/** One line: neither line breaks nor long runs of blanks can make a value look like another argument. */
export function oneLine(text: string): string {
  return escapeInvisible(text)
    .replace(/\n/g, "\\n")
    .replace(/\t/g, "\\t")
    .replace(blanks, ({ length }) => `(${length} blanks)`);
}

/** Longer than any indentation; U+2800, the empty Braille cell, is blank too. */
const blanks = /[\p{Zs}\u2800]{25,}/gu;

/** Values under these names are not shown completely. */
const secretName = /(password|passphrase|secret|token|api[-_]?key|credentials?|authorization)$/i;

function isSecret(name: string, value: unknown): value is string {
  return typeof value === "string" && secretName.test(name);
}

const endMax = 12;

/** A quarter of the value at each end, at most 12 characters. */
function showEnds(secret: string): string {
  const length = Math.min(endMax, Math.floor(secret.length / 4));
  const start = oneLine(secret.slice(0, length));
  const end = oneLine(secret.slice(secret.length - length));
  return `${start} … (${secret.length - 2 * length} characters, hidden) … ${end}`;
}

function writeValue(value: unknown, valueMax: number): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return clip(oneLine(text), valueMax);
}

/** Cuts in the middle, so that the end of a long text stays visible. */
function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)} … (${text.length - 2 * half} characters) … ${text.slice(-half)}`;
}
