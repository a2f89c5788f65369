// Splits text into words, for tools, queries and the training of the vectors. A change here needs new vectors.

import { stem } from "./stem.ts";

/**
 * The stems of a text in order, without stopwords. Chinese, Japanese and Korean become pairs of
 * adjacent characters.
 */
export function wordsOf(text: string, charactersMax = 4_000): string[] {
  return readWords(text, charactersMax).map(({ word }) => word);
}

/** The distinct stems of a text, each with its first spelling. */
export function spellingsOf(text: string, charactersMax = 4_000): Map<string, string> {
  const spellings = new Map<string, string>();
  for (const { word, written } of readWords(text, charactersMax))
    if (!spellings.has(word)) spellings.set(word, written);
  return spellings;
}

function readWords(
  text: string,
  charactersMax: number,
): { readonly word: string; readonly written: string }[] {
  const words: { word: string; written: string }[] = [];
  for (const run of splitRuns(text.length > charactersMax ? text.slice(0, charactersMax) : text)) {
    if (isUnspaced.test(run))
      for (const pair of pairsOf(run)) words.push({ word: pair, written: pair });
    else if (run.length <= wordLengthMax && !stopwords.has(run))
      words.push({ word: stem(run), written: run });
  }
  return words;
}

const wordLengthMax = 40;

/** Runs of letters and digits in lower case without accents; fooBar and HTTPServer are split in two. */
export function splitRuns(text: string): readonly string[] {
  if (isAscii.test(text))
    return (
      text
        .replace(asciiHumps, "$& ")
        .toLowerCase()
        .match(/[a-z0-9]+/g) ?? []
    );
  const plain = text.normalize("NFKD").replace(accents, "").normalize("NFC");
  return plain.replace(humps, "$& ").toLowerCase().match(runs) ?? [];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII starts with control characters.
const isAscii = /^[\x00-\x7f]*$/;
const asciiHumps = /[a-z0-9](?=[A-Z])|[A-Z](?=[A-Z][a-z])/g;
const humps = /[\p{Ll}\p{N}](?=\p{Lu})|\p{Lu}(?=\p{Lu}\p{Ll})/gu;
/** Of Latin, Greek and Cyrillic; in other scripts a mark is part of the letter. */
const accents = /[\u0300-\u036f]/g;
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー`;
const runs = new RegExp(String.raw`[${unspaced}]+|(?:(?![${unspaced}])[\p{L}\p{M}\p{N}])+`, "gu");
const isUnspaced = new RegExp(`^[${unspaced}]`, "u");

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  return characters.length === 1
    ? characters
    : characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** Words that say nothing about a tool. "not", "all", "up" and the like are kept: tools are named so. */
const stopwords = new Set(
  `a an and any are as at be been being but by can could did do does doing don for from had has have having he her here hers him his how i if in
  into is it its itself just ll may me might must my of on or our ours please re s shall she should so some such t than that the their theirs them
  then there these they this those to too us ve very via was we were what when where which while who whom whose why will with within would you
  your yours`.split(/\s+/),
);
