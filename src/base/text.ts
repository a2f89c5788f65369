/** Text for people: lengths, counts, sizes and times, written the same way on every surface. */

/** One line of at most `max` characters, cut at a word where possible, with an ellipsis. */
export function shortenLine(text: string, max: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= max) return line;
  const end = line.lastIndexOf(" ", max - 1);
  return `${line.slice(0, end > max / 2 ? end : max - 1)}…`;
}

/** "1 tool", "3 tools", "2 entries". */
export function plural(count: number, noun: string, nouns: string = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** Local time: "2026-11-16 18:04:07". */
export function formatTime(time: Date | number | string): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** "512 B", "1.5 KiB", "10 MiB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${units[unit]}`;
}

/** Control and format characters except new line and tab, and whatever else leaves no trace on a screen. */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Writes out characters that a terminal would obey or hide and a model would read: `\u{1b}`. */
export function escapeInvisible(text: string): string {
  return text.replace(
    invisible,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
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
