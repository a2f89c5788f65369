import { stem } from "../../ranking/stem.ts";

/** A word or a sign of a text, and where it stands. */
export interface Token {
  readonly text: string;
  readonly lower: string;
  readonly stem: string;
  readonly start: number;
  readonly end: number;
  /** False for signs. */
  readonly isWord: boolean;
  readonly isCapital: boolean;
  readonly opensSentence: boolean;
}

/** Words keep what holds them together: `e-commerce`, `v1.2`, `user_id`, `don't`. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let opens = true;
  for (const { 0: found, index } of text.matchAll(pieces)) {
    const isWord = wordly.test(found);
    const lower = found.toLowerCase();
    tokens.push({
      text: found,
      lower,
      stem: stem(lower.replace(/['’]s$/, "")),
      start: index,
      end: index + found.length,
      isWord,
      isCapital: capital.test(found),
      opensSentence: isWord && opens,
    });
    // A quote or a bullet does not end what it opens.
    if (isWord) opens = false;
    else if (sentenceEnd.test(found) || text.slice(index, index + 2).includes("\n")) opens = true;
  }
  return tokens;
}

const pieces = /[\p{L}\p{N}]+(?:[-_.'’@&/][\p{L}\p{N}]+)*|[^\s]/gu;
const wordly = /^[\p{L}\p{N}]/u;
const capital = /^\p{Lu}|^\d+\p{Lu}/u;
const sentenceEnd = /[.!?;:。！？]/;

/** The index of the first token that starts at or after a place in the text. */
export function tokenAt(tokens: readonly Token[], place: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.end ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}
