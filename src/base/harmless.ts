/**
 * Text of strangers for a terminal, and for the log of a run: whatever could move the cursor, change colours or titles, write to the
 * clipboard, hide behind a link or turn the order of letters is taken out. What a program only meant as colour disappears without
 * a trace; what would hide something else leaves a mark.
 */
export function makeHarmless(text: string): string {
  if (printable.test(text)) return text;
  return overstrike(text.replace(sequences, ""))
    .replace(/\r\n/g, "\n")
    .replace(/\t/g, "  ")
    .replace(dangerous, mark)
    .replace(unseen, mark)
    .replace(unpaired, mark);
}

/**
 * The same, line by line. A carriage return alone starts a line again, as progress bars do: what it would have overwritten goes. Past `max` lines, one
 * says that there is more.
 */
export function harmlessLines(text: string, max: number = linesMax): readonly string[] {
  const plain = text.replace(/\r\n/g, "\n");
  const lines = plain.split("\n", max + 1);
  const shown = makeHarmless(lines.slice(0, max).map(withoutOverwritten).join("\n")).split("\n");
  return lines.length > max ? [...shown, "… and more lines, too many to keep"] : shown;
}

/** Millions of empty lines fit into one message. */
export const linesMax = 100_000;

function withoutOverwritten(line: string): string {
  return line.slice(line.lastIndexOf("\r", line.length - 2) + 1);
}

/** A stranger's value where a text should be: what is none is not made one, since its `toString` may be anything. */
export function wordOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

/** Most text is: one look is cheaper than four passes. */
const printable = /^[ -~\n]*$/;

/** Stands for a character that is not shown. */
const mark = "�";

// In order: strings with an end of their own (OSC, DCS, SOS, PM, APC; with ST, BEL or the end of the text), CSI, other escapes; each with
// its one-byte form in C1. A string that is never ended swallows a terminal's output: it goes to the end of its line.
const sequences = new RegExp(
  [
    "(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);

/** Programs print bold and underlined text by going back over it: only what would be seen at the end stays. */
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

// Control characters but for the new line, all that turns or hides text (bidi, zero width but for joiners in emoji and scripts that need
// them, separators, tags, fillers), and private use, which fonts show as anything.
const dangerous =
  /(?!\n|\u200c|\u200d)[\p{Cc}\p{Cf}\p{Co}\u2028\u2029\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]/gu;
// What only makes two names look like one: a joiner beside plain letters, which joins nothing, and marks that nobody sees.
const unseen =
  /[\u200c\u200d](?=[ -~])|(?<=[ -~])[\u200c\u200d]|\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d|\u180f/g;
const unpaired = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
