import type { Vocabulary } from "./vocabulary.ts";

const shortest = 5;

/**
 * The known word that differs from an unknown one by one slip (a letter more, less, other, or two swapped), the most held first.
 * Short words have too many neighbours to guess, and the first letter is seldom wrong.
 */
export function findSpelling(word: string, vocabulary: Vocabulary): string | undefined {
  if (word.length < shortest || !/^[a-z]+$/.test(word)) return undefined;
  let best: { readonly word: string; readonly holders: number } | undefined;
  for (const length of [word.length - 1, word.length, word.length + 1]) {
    for (const number of vocabulary.alike(word.charAt(0), length)) {
      const known = vocabulary.wordAt(number);
      const holders = vocabulary.holdersOf(number);
      if (best && (holders < best.holders || (holders === best.holders && known > best.word)))
        continue;
      if (isOneSlip(word, known)) best = { word: known, holders };
    }
  }
  return best?.word;
}

function isOneSlip(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  const [left, right] = [a.slice(start, endA), b.slice(start, endB)];
  return left.length + right.length <= 2
    ? left.length <= 1 && right.length <= 1
    : left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
