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
