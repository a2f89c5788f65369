/** Words as small numbers, with how many documents hold each. A word nobody holds any more is forgotten and its number used again. */
export interface Vocabulary {
  /** The number of a word, known from now on, held by one document more. */
  hold(word: string): number;
  release(number: number): void;
  find(word: string): number | undefined;
  wordAt(number: number): string;
  holdersOf(number: number): number;
  /** The numbers of the words that begin with this letter and have this length. */
  alike(letter: string, length: number): Iterable<number>;
  /** Above every number in use. */
  readonly end: number;
}

export function createVocabulary(): Vocabulary {
  const numbers = new Map<string, number>();
  const words: string[] = [];
  const holders: number[] = [];
  const free: number[] = [];
  const shelves = new Map<string, Set<number>>();
  const shelfOf = (word: string): string => `${word.charAt(0)}${word.length}`;
  const add = (word: string): number => {
    const number = free.pop() ?? words.length;
    words[number] = word;
    holders[number] = 0;
    numbers.set(word, number);
    const shelf = shelves.get(shelfOf(word));
    if (shelf) shelf.add(number);
    else shelves.set(shelfOf(word), new Set([number]));
    return number;
  };
  return {
    hold(word) {
      const number = numbers.get(word) ?? add(word);
      holders[number] = (holders[number] ?? 0) + 1;
      return number;
    },
    release(number) {
      const left = (holders[number] ?? 0) - 1;
      holders[number] = left;
      if (left > 0) return;
      const word = words[number] ?? "";
      numbers.delete(word);
      shelves.get(shelfOf(word))?.delete(number);
      words[number] = "";
      free.push(number);
    },
    find: (word) => numbers.get(word),
    wordAt: (number) => words[number] ?? "",
    holdersOf: (number) => holders[number] ?? 0,
    alike: (letter, length) => shelves.get(`${letter}${length}`) ?? [],
    get end() {
      return words.length;
    },
  };
}
