import { wordsOf } from "../../ranking/words.ts";
import { glossaryOf, meaningOfCode, synonymsOf } from "./glossary.ts";
import type { Reading } from "./mention.ts";
import type { Token } from "./tokens.ts";

/** One of a parameter's choices, found in a task. */
export interface Choice {
  readonly value: unknown;
  /** How it was found, the surest first: as it is written, in another form, by another word for it, by its beginning, by some of its words. */
  readonly how: "exact" | "form" | "alias" | "synonym" | "short" | "some";
  readonly start: number;
  readonly end: number;
}

/** Where a task names any of the choices. A choice may be named in several places; the first surest counts. */
export function findChoices(
  choices: readonly unknown[],
  description: string,
  reading: Reading,
): readonly Choice[] {
  const { tokens } = reading;
  const found: Choice[] = [];
  const counts = new Map<string, number>();
  const glossary = new Map(glossaryOf(description));
  const split = choices.map((value) => (typeof value === "string" ? wordsOf(value) : []));
  for (const words of split)
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const [at, value] of choices.entries()) {
    if (typeof value === "number") {
      const place = findMeaning(glossary.get(String(value)), reading);
      if (place) found.push({ value, ...place });
      continue;
    }
    if (typeof value !== "string" || value === "") continue;
    const choice =
      findExact(value, reading) ??
      findForm(split[at] ?? [], tokens) ??
      findAlias(value, glossary, reading) ??
      findShort(value, tokens) ??
      findSome(
        (split[at] ?? []).filter((word) => counts.get(word) === 1 && word.length > 2),
        tokens,
      );
    if (choice) found.push({ value, ...choice });
  }
  // "Comfort plus" is not "plus".
  return found.filter(
    (choice) =>
      !found.some(
        (other) =>
          other !== choice &&
          other.start <= choice.start &&
          choice.end <= other.end &&
          other.end - other.start > choice.end - choice.start,
      ),
  );
}

/** Where the words that a value stands for are said; one rare word of them is enough. */
export function findMeaning(meaning: string | undefined, reading: Reading): Place | undefined {
  if (meaning === undefined) return undefined;
  const { tokens } = reading;
  const words = wordsOf(meaning).filter((word) => !empty.has(word));
  const place =
    findExact(meaning, reading) ?? findForm(words, tokens) ?? findForm(words.slice(0, 1), tokens);
  return place && { ...place, how: "alias" };
}

/** Words of an explanation that explain nothing. */
const empty = new Set([
  "no",
  "not",
  "all",
  "any",
  "onli",
  "only",
  "other",
  "us",
  "use",
  "servic",
  "typ",
]);

type Place = Omit<Choice, "value">;

function findExact(value: string, { text, lower }: Reading): Place | undefined {
  // Most choices are not in the task, and making a pattern takes longer than looking.
  const parts = value
    .trim()
    .toLowerCase()
    .split(/[\s_-]+/);
  if (!parts.every((part) => lower.includes(part))) return undefined;
  const pattern = value
    .trim()
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/[\s_-]+/g, "[\\s_-]+");
  // One letter must be written as it is: "a" is no grade, "A" may be.
  const match = new RegExp(
    String.raw`(?<![\p{L}\p{N}])${pattern}(?![\p{L}\p{N}])`,
    value.length === 1 ? "u" : "iu",
  ).exec(text);
  return match
    ? { how: "exact", start: match.index, end: match.index + match[0].length }
    : undefined;
}

function findForm(words: readonly string[], tokens: readonly Token[]): Place | undefined {
  if (words.length === 0) return undefined;
  const at = tokens.findIndex((_, place) =>
    words.every(
      (word, step) =>
        tokens[place + step]?.stem === word &&
        (tokens[place + step]?.lower ?? "").startsWith(word.slice(0, 4)),
    ),
  );
  return at === -1
    ? undefined
    : { how: "form", start: tokens[at]?.start ?? 0, end: tokens[at + words.length - 1]?.end ?? 0 };
}

/** What the description says a choice stands for, what its code means, or another word for it. */
function findAlias(
  value: string,
  glossary: ReadonlyMap<string, string>,
  reading: Reading,
): Place | undefined {
  const said = findMeaning(glossary.get(value), reading);
  if (said) return said;
  for (const meaning of meaningOfCode(value)) {
    const place = findExact(meaning, reading);
    if (place) return { ...place, how: "alias" };
  }
  for (const other of synonymsOf(value)) {
    const place = findExact(other, reading);
    if (place) return { ...place, how: "synonym" };
  }
  return undefined;
}

/** The beginning of a word stands for it, either way: "fahr" for fahrenheit, "asc" where the task says ascending. */
function findShort(value: string, tokens: readonly Token[]): Place | undefined {
  const wanted = value.toLowerCase();
  if (wanted.length < 3 || /\s/.test(wanted)) return undefined;
  const token = tokens.find(
    ({ lower }) =>
      lower.length >= 3 &&
      lower !== wanted &&
      ((lower.length >= 4 && wanted.startsWith(lower)) ||
        (wanted.length >= 3 && lower.startsWith(wanted) && lower.length > wanted.length + 1)),
  );
  return token && { how: "short", start: token.start, end: token.end };
}

/** A word that only this choice has. */
function findSome(words: readonly string[], tokens: readonly Token[]): Place | undefined {
  const token = tokens.find(({ stem }) => words.includes(stem));
  return token && { how: "some", start: token.start, end: token.end };
}
