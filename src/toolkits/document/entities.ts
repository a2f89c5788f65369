import {
  givenNames,
  monthNames,
  notNames,
  organisations,
  organisationWords,
  places,
  placeWords,
  titles,
} from "./gazetteer.ts";
import { isStopword, type Language, type Sentence } from "./language.ts";
import type { EntityType } from "./terms.ts";

export interface Entity {
  readonly type: EntityType;
  readonly text: string;
  readonly count: number;
}

const entitiesMax = 200;

/** By patterns (dates, money, addresses) and by names that a list, a title or a word in them identifies. Other names are left out. */
export function findEntities(sentences: readonly Sentence[], language: Language): Entity[] {
  const found = new Map<string, Entity>();
  const surnames = new Map<string, string>();
  for (const { text } of sentences) {
    for (const mention of entitiesOf(text.slice(0, 5_000), language, surnames)) {
      const key = `${mention.type} ${mention.text}`;
      found.set(key, { ...mention, count: (found.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count).slice(0, entitiesMax);
}

type Mention = Omit<Entity, "count">;
type Split = readonly [readonly string[], readonly string[]] | undefined;

const number = String.raw`\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?`;
const scale =
  "(?:thousand|million|billion|trillion|tausend|Millionen|Million|Milliarden|Milliarde|Mio\\.?|Mrd\\.?|k|m|bn)";
const currency = "(?:US\\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY)";
const currencyWord =
  "(?:dollars?|euros?|Euro|pounds?|yen|francs?|cents?|Franken|Dollar|Pfund|USD|EUR|GBP|CHF|JPY|€|\\$|£)";

/** Where two overlap, the earlier pattern wins. */
const patterns: readonly (readonly [EntityType, RegExp])[] = [
  ["url", /\bhttps?:\/\/[^\s<>"'）)\]]{1,500}|\bwww\.[a-z0-9-]{1,60}\.[^\s<>"')\]]{1,300}/gi],
  ["email", /[\w.+-]{1,64}@[a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,5}/gi],
  ["date", /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b/g],
  [
    "date",
    new RegExp(
      String.raw`\b\d{1,2}(?:st|nd|rd|th|\.)?\s(?:of\s)?(?:${monthNames})\b\.?(?:,?\s\d{4}\b)?`,
      "g",
    ),
  ],
  [
    "date",
    new RegExp(
      String.raw`\b(?:${monthNames})\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4}\b|\b(?:${monthNames})\.?\s(?:\d{4}|\d{1,2}(?:st|nd|rd|th)?)\b`,
      "g",
    ),
  ],
  ["date", /\bQ[1-4]\s\d{4}\b/g],
  [
    "money",
    new RegExp(
      String.raw`${currency}\s?(?:${number})(?:\s?${scale}\b)?|\b(?:${number})(?:\s${scale})?\s${currencyWord}(?![\p{L}])`,
      "gu",
    ),
  ],
  [
    "percentage",
    new RegExp(String.raw`[-+]?\b(?:${number})\s?(?:%|percent\b|per cent\b|Prozent\b)`, "g"),
  ],
  [
    "phone",
    /\+\d{1,3}[\s()/.-]{0,2}\d(?:[\s()/.-]{0,2}\d){6,12}|\(\d{3,5}\)\s?\d{3,4}[\s.-]?\d{3,4}|\b\d{3}[.-]\d{3}[.-]\d{4}\b|\b0\d{2,4}[/ -]\d{4,9}\b/g,
  ],
];

function entitiesOf(
  sentence: string,
  language: Language,
  surnames: Map<string, string>,
): Mention[] {
  const mentions: Mention[] = [];
  let rest = sentence;
  for (const [type, pattern] of patterns) {
    rest = rest.replace(pattern, (match) => {
      const text =
        type === "url" || type === "date" ? match.replace(/[.,;:!?]+$/, "") : match.trim();
      mentions.push({ type, text });
      // Not searched for names, and it separates the words around it.
      return " ; ".padEnd(match.length, " ");
    });
  }
  return [...mentions, ...namesOf(rest, language, surnames)];
}

/** Consecutive capitalised words, with the small words that occur inside names. */
const capitalisedRun =
  /\p{Lu}[\p{L}\p{M}\p{N}'’.-]*(?:\s(?:(?:of|the|for|de|la|del|di|da|van|von|der|den|zu|y|e|bin|ibn|al)\s){0,2}(?:&\s)?(?:\p{Lu}|al-|el-)[\p{L}\p{M}\p{N}'’.-]*)*/gu;

function namesOf(sentence: string, language: Language, surnames: Map<string, string>): Mention[] {
  const mentions: Mention[] = [];
  for (const { 0: match, index } of sentence.matchAll(capitalisedRun)) {
    const words = match
      .split(" ")
      .map((word, at, all) => trimDot(word.replace(/['’]s$/, ""), at < all.length - 1));
    const before = sentence.slice(Math.max(0, index - 30), index);
    mentions.push(
      ...classify(words, {
        isStart: /^[\s"'“„(;-]*$/.test(before) && index < 30,
        before,
        language,
        surnames,
      }),
    );
  }
  return mentions;
}

/** Keeps the dot of "Corp." and "F.", drops the one that ends a sentence. */
function trimDot(word: string, isInside: boolean): string {
  if (!word.endsWith(".")) return word;
  return organisationWords.has(word) || titles.has(word) || (isInside && /^\p{Lu}\.$/u.test(word))
    ? word
    : word.slice(0, -1);
}

interface NameContext {
  readonly isStart: boolean;
  readonly before: string;
  readonly language: Language;
  readonly surnames: Map<string, string>;
}

/** The names in a run of capitalised words: none, one or two. */
function classify(all: readonly string[], where: NameContext): Mention[] {
  // "However Anna", "The Bank": capitalised only at the start of a sentence.
  const words = dropWhile(all, (word) => isStopword(word.toLowerCase()) || notNames.has(word));
  const [first = ""] = words;
  if (first === "") return [];
  const split = splitTitles(words) ?? splitSmall(words);
  if (split)
    return [...classify(split[0], where), ...classify(split[1], { ...where, isStart: false })];
  if (titles.has(first)) {
    const name = dropWhile(words, (word) => titles.has(word));
    return name.length > 0 ? person(name.slice(0, 4), where) : [];
  }
  const whole = words.join(" ");
  if (organisations.has(whole) || isOrganisation(words))
    return [{ type: "organisation", text: whole }];
  if (places.has(whole) || isPlace(words)) return [{ type: "place", text: whole }];
  if (givenNames.has(first)) return words.length <= 4 ? person(words, where) : [];
  if (words.length === 1) return single(first, where);
  // A known name at one end of an unknown run: "Yesterday Google", "Stadt Hamburg".
  for (let size = words.length - 1; size > 0; size--) {
    const tail = words.slice(-size);
    const name = tail.join(" ");
    if (organisations.has(name)) return [{ type: "organisation", text: name }];
    if (places.has(name)) return [{ type: "place", text: name }];
    if (givenNames.has(tail[0] ?? "") && size > 1 && size <= 3) return person(tail, where);
  }
  const isSpeaker = /\b(?:said|says|by)\s$/.test(where.before) && words.length <= 3;
  return isSpeaker && where.language === "en" ? person(words, where) : [];
}

function single(word: string, { isStart, before, language, surnames }: NameContext): Mention[] {
  const known = surnames.get(word);
  if (known !== undefined) return [{ type: "person", text: known }];
  if (isStart || language === "de") return [];
  // In English, a capital inside a sentence means a name.
  if (/^\p{Lu}{3,6}$/u.test(word) && !notNames.has(word))
    return [{ type: "organisation", text: word }];
  const isPlace = /\bin\s$/.test(before) && /^\p{Lu}\p{Ll}{3,}$/u.test(word);
  return isPlace ? [{ type: "place", text: word }] : [];
}

function person(words: readonly string[], { surnames }: NameContext): Mention[] {
  const text = words.join(" ");
  const surname = words.at(-1);
  if (words.length > 1 && surname !== undefined) surnames.set(surname, text);
  return [{ type: "person", text: (words.length === 1 ? surnames.get(text) : undefined) ?? text }];
}

/** "Microsoft Judge Sarah": a title in the middle begins a second name. */
function splitTitles(words: readonly string[]): Split {
  const at = words.findIndex(
    (word, index) =>
      index > 0 &&
      index < words.length - 1 &&
      titles.has(word) &&
      !titles.has(words[index - 1] ?? ""),
  );
  return at < 0 ? undefined : [words.slice(0, at), words.slice(at)];
}

/** "Helen Okafor of the University": two names, unless the first is of a kind that has an "of". */
function splitSmall(words: readonly string[]): Split {
  const at = words.findIndex((word) => /^(?:of|the|for)$/.test(word));
  if (at < 0 || (words[at] !== "the" && organisationWords.has(words[at - 1] ?? "")))
    return undefined;
  return [words.slice(0, at), words.slice(at)];
}

function isOrganisation(words: readonly string[]): boolean {
  if (words.length < 2) return false;
  const [first = "", second = ""] = words;
  const last = words.at(-1) ?? "";
  if (organisationWords.has(last)) return true;
  if (organisationWords.has(first) && /^(?:of|for|der|für|de)$/.test(second)) return true;
  // "Technische Universität München": an organisation word before a place.
  return places.has(last) && words.some((word) => organisationWords.has(word));
}

function isPlace(words: readonly string[]): boolean {
  if (words.length < 2 || words.length > 4) return false;
  return placeWords.has(words.at(-1) ?? "") || placeWords.has(words[0] ?? "");
}

function dropWhile(
  words: readonly string[],
  isDropped: (word: string) => boolean,
): readonly string[] {
  const start = words.findIndex((word) => !isDropped(word));
  return start < 0 ? [] : words.slice(start);
}
