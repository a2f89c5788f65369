/** Words as small numbers, with the number of documents that contain each. Numbers of unused words are reused. */
export type Vocabulary = ReturnType<typeof createVocabulary>;

export function createVocabulary() {
  const numbers = new Map<string, number>();
  const words: string[] = [];
  const holders: number[] = [];
  const free: number[] = [];
  const buckets = new Map<string, Set<number>>();
  const bucketOf = (word: string): string => `${word.charAt(0)}${word.length}`;
  const insert = (word: string): number => {
    const number = free.pop() ?? words.length;
    words[number] = word;
    holders[number] = 0;
    numbers.set(word, number);
    const bucket = buckets.get(bucketOf(word));
    if (bucket) bucket.add(number);
    else buckets.set(bucketOf(word), new Set([number]));
    return number;
  };
  return {
    /** Counts one more document that contains the word, and returns the word's number. */
    add(word: string): number {
      const number = numbers.get(word) ?? insert(word);
      holders[number] = (holders[number] ?? 0) + 1;
      return number;
    },
    release(number: number): void {
      const left = (holders[number] ?? 0) - 1;
      holders[number] = left;
      if (left > 0) return;
      const word = words[number] ?? "";
      numbers.delete(word);
      buckets.get(bucketOf(word))?.delete(number);
      words[number] = "";
      free.push(number);
    },
    find: (word: string): number | undefined => numbers.get(word),
    wordAt: (number: number): string => words[number] ?? "",
    holdersOf: (number: number): number => holders[number] ?? 0,
    /** The numbers of the words with this first letter and length. */
    alike: (letter: string, length: number): Iterable<number> =>
      buckets.get(`${letter}${length}`) ?? [],
    /** One above the highest number. */
    get end(): number {
      return words.length;
    },
  };
}

const correctedLengthMin = 5;

/**
 * The known word that is one typo away from an unknown one (a letter added, missing, wrong, or two
 * swapped); the most frequent one wins. Short words have too many neighbours, and the first letter is
 * rarely wrong.
 */
export function correctSpelling(word: string, vocabulary: Vocabulary): string | undefined {
  if (word.length < correctedLengthMin || !/^[a-z]+$/.test(word)) return undefined;
  let best: { readonly word: string; readonly holders: number } | undefined;
  for (const length of [word.length - 1, word.length, word.length + 1]) {
    for (const number of vocabulary.alike(word.charAt(0), length)) {
      const known = vocabulary.wordAt(number);
      const holders = vocabulary.holdersOf(number);
      if (best && (holders < best.holders || (holders === best.holders && known > best.word)))
        continue;
      if (isOneTypo(word, known)) best = { word: known, holders };
    }
  }
  return best?.word;
}

function isOneTypo(a: string, b: string): boolean {
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
