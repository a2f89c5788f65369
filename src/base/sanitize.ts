/**
 * Makes untrusted text safe for a terminal. Two ways, for two purposes: `sanitize` is for the output of
 * programs and tools, and removes colour codes and other sequences, marking characters that could mislead;
 * `escapeInvisible` is for reviews of text that a model reads, and shows every hidden character.
 */

/**
 * Removes everything that could move the cursor, change colours or titles, write to the clipboard, hide
 * behind a link or reorder letters. Formatting disappears; a character that could hide something is
 * replaced with a mark.
 */
export function sanitize(text: string): string {
  if (printable.test(text)) return text;
  return overstrike(text.replace(sequences, ""))
    .replace(/\r\n/g, "\n")
    .replace(/\t/g, "  ")
    .replace(dangerous, mark)
    .replace(unseen, mark)
    .replace(unpaired, mark);
}

/**
 * The same, line by line. A lone carriage return restarts the line, as progress bars do, so the overwritten
 * text is dropped. Beyond `max` lines, a last line says that there are more.
 */
export function sanitizeLines(text: string, max: number = linesMax): readonly string[] {
  const plain = text.replace(/\r\n/g, "\n");
  const lines = plain.split("\n", max + 1);
  const shown = sanitize(lines.slice(0, max).map(withoutOverwritten).join("\n")).split("\n");
  return lines.length > max ? [...shown, "… and more lines, too many to keep"] : shown;
}

/** A message can contain millions of empty lines. */
export const linesMax = 100_000;

function withoutOverwritten(line: string): string {
  return line.slice(line.lastIndexOf("\r", line.length - 2) + 1);
}

/** An untrusted value that should be a string; never calls its `toString`. */
export function wordOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

/** Most text is plain: one test is cheaper than four passes. */
const printable = /^[ -~\n]*$/;

/** Replaces a character that is not shown. */
const mark = "�";

// In order: terminated strings (OSC, DCS, SOS, PM, APC; ended by ST, BEL or the end of the text), CSI, other
// escapes; each also in its one-byte C1 form. An unterminated string is removed to the end of its line.
const sequences = new RegExp(
  [
    "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);

/** Programs print bold and underlined text with backspaces: keep only the final characters. */
function overstrike(text: string): string {
  if (!text.includes("\b")) return text;
  let shown: string[] = [];
  const lines: string[] = [];
  for (const character of text) {
    if (character === "\b") shown.pop();
    else if (character === "\n") {
      lines.push(shown.join(""));
      shown = [];
    } else shown.push(character);
  }
  return [...lines, shown.join("")].join("\n");
}

// Control characters except newline; characters that reorder or hide text (bidi, zero width except joiners
// in emoji and scripts that need them, separators, tags, fillers); private use, which fonts may show as anything.
const dangerous =
  /(?!\n|\u200c|\u200d)[\p{Cc}\p{Cf}\p{Co}\u2028\u2029\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]/gu;
// Characters that only make two names look alike: joiners next to plain letters, and invisible marks.
const unseen =
  /[\u200c\u200d](?=[ -~])|(?<=[ -~])[\u200c\u200d]|\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d|\u180f/g;
const unpaired = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Control and format characters except newline and tab, and other characters without a visible glyph. */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Writes control and invisible characters as `\u{1b}`: a terminal would obey or hide them, a model would read them. */
export function escapeInvisible(text: string): string {
  return text.replace(
    invisible,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Control characters, and those that reorder text. Joiners stay: emoji and some scripts need them. */
const commands = /(?![\n\t\u200c\u200d]|\r\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Makes commands to a terminal visible; other text stays the same. */
export function escapeCommands(text: string): string {
  return text.replace(
    commands,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The same in every text of a JSON value. */
export function escapeCommandsIn(value: unknown): unknown {
  if (typeof value === "string") return escapeCommands(value);
  if (Array.isArray(value)) return value.map(escapeCommandsIn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [escapeCommands(key), escapeCommandsIn(inner)]),
  );
}

/** A name or description from outside, safe on one line of a terminal. */
export function visible(text: string): string {
  return escapeInvisible(text.replace(/\s+/g, " "));
}

/** Text of several lines from outside, such as a tool's answer. */
export function visibleLines(text: string): string {
  return escapeInvisible(text.replace(/\t/g, "  "));
}
