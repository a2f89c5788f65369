/** Text for people: lengths, counts, sizes and times, written the same way on every surface. */
import { randomBytes } from "node:crypto";

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

const partMin = 3;
/** Of each name. */
const comparedMax = 80;

/** The known names most similar to a mistyped one, best first. Bounded for hostile input. */
export function findNear(wanted: string, known: Iterable<string>, countMax = 3): string[] {
  const target = wanted.slice(0, comparedMax).toLowerCase();
  const scored: { name: string; distance: number; edits: number }[] = [];
  for (const name of known) {
    const candidate = name.toLowerCase();
    const edits = editDistance(target, candidate.slice(0, comparedMax));
    // A name that contains the other is similar, but a single typo is closer. Nearly every name
    // contains a very short one.
    const isPart =
      Math.min(target.length, candidate.length) >= partMin &&
      (candidate.includes(target) || target.includes(candidate));
    const distance = isPart ? Math.min(edits, 2) : edits;
    if (distance <= Math.max(2, Math.floor(Math.max(target.length, candidate.length) / 2.5)))
      scored.push({ name, distance, edits });
  }
  return scored
    .sort((a, b) => a.distance - b.distance || a.edits - b.edits || (a.name < b.name ? -1 : 1))
    .slice(0, countMax)
    .map(({ name }) => name);
}

/** One row of Levenshtein distances. Shared: a comparison is one synchronous pass, and there may be 10,000. */
const row = new Uint8Array(comparedMax + 1);

/** Levenshtein distance of texts that are not longer than is compared. */
function editDistance(a: string, b: string): number {
  for (let j = 0; j <= b.length; j++) row[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const code = a.charCodeAt(i - 1);
    let diagonal = i - 1;
    let left = i;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] as number;
      const substituted = code === b.charCodeAt(j - 1) ? diagonal : diagonal + 1;
      left = Math.min(above + 1, left + 1, substituted);
      row[j] = left;
      diagonal = above;
    }
    row[0] = i;
  }
  return row[b.length] as number;
}

/** Creates ids that are unique across halls and cheap: a random stem and a counter. */
export function createIds(
  prefix: string,
  stem: string = randomBytes(6).toString("base64url"),
): () => string {
  let count = 0;
  return () => `${prefix}_${stem}${(++count).toString(36)}`;
}

/** Text as a regular expression that matches it literally. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
