// How tool authors write: which nouns they use in the plural and which words they capitalise.
// Descriptions of groups follow them.

/** The usage found in some texts. */
export interface WordUsage {
  /** The plural: `issues` for `issue`; `weather` stays `weather`. */
  plural(noun: string): string;
  /** With the authors' capitals: `GitHub`, `PDF`. */
  spell(word: string): string;
  /** True if it is a proper name. */
  isName(word: string): boolean;
}

export interface UsageSources {
  readonly texts: Iterable<string>;
  /** Words of toolkit ids, which are proper names … */
  readonly names: ReadonlySet<string>;
  /** … unless they are common words. */
  readonly common: ReadonlySet<string>;
}

const charactersMax = 400;

export function readUsage({ texts, names, common }: UsageSources): WordUsage {
  const written = new Set<string>();
  const counted = new Set<string>();
  const spellings = new Map<string, Map<string, number>>();
  for (const text of texts) {
    const words = text.slice(0, charactersMax).match(/[\p{L}\p{N}]+|[^\p{L}\p{N}\s]|\n/gu) ?? [];
    words.forEach((word, at) => {
      const lower = word.toLowerCase();
      written.add(lower);
      if (articles.has(lower)) counted.add(findHead(words, at + 1));
      // In a title every word has a capital, so only capitals after a lower-case word count.
      if (/^\p{Ll}/u.test(words[at - 1] ?? "")) count(spellings, lower, word);
    });
  }
  const spell = (word: string): string => usual(spellings.get(word)) ?? word;
  const isName = (word: string): boolean =>
    (names.has(word) && !common.has(word)) || /^\p{Lu}\p{Ll}/u.test(spell(word));
  const isCounted = (noun: string): boolean => {
    const several = pluralOf(noun);
    if (uncounted.has(noun) || several === noun || !/^[a-z]{2,}$/.test(noun)) return false;
    return (
      written.has(several) ||
      counted.has(noun) ||
      acronyms.has(noun) ||
      (/[aeiouy]/.test(noun) && !isName(noun) && !isNoNoun.test(noun))
    );
  };
  return {
    spell,
    isName,
    plural(noun) {
      if (!isCounted(noun)) return spell(noun);
      const several = pluralOf(noun);
      return several === `${noun}s` ? `${spell(noun)}s` : several;
    },
  };
}

/** The noun of an article: the last word before a linking word. */
function findHead(words: readonly string[], from: number): string {
  let at = from;
  while (
    at < from + 3 &&
    /^\p{L}/u.test(words[at + 1] ?? "") &&
    !linking.has((words[at + 1] as string).toLowerCase())
  )
    at++;
  return (words[at] ?? "").toLowerCase();
}

const linking = new Set(
  "of for from with by in on at to into and or that which using via is as when if based given whose".split(
    " ",
  ),
);

/** Endings of adjectives, adverbs and verbs. */
const isNoNoun = /(?:ing|ed|ly|al|ic|ive|able|ous|ful|less|ness|ware|wide)$/;
const acronyms = new Set("api app gif id llm nft pdf pr sdk ui url vm".split(" "));

const articles = new Set(["a", "an", "another", "each", "every", "per"]);

function count(spellings: Map<string, Map<string, number>>, word: string, written: string): void {
  const counts = spellings.get(word) ?? new Map<string, number>();
  counts.set(written, (counts.get(written) ?? 0) + 1);
  spellings.set(word, counts);
}

/** Capitals are kept if the word is rarely written without them. */
function usual(counts: ReadonlyMap<string, number> | undefined): string | undefined {
  const sorted = [...(counts ?? [])].sort((a, b) => b[1] - a[1] || (a[0] > b[0] ? -1 : 1));
  const all = sorted.reduce((sum, [, times]) => sum + times, 0);
  const small = sorted.find(([written]) => written === written.toLowerCase());
  const [first] = sorted[0] ?? [];
  if (small !== undefined && small[1] * 4 > all) return small[0];
  return first !== undefined && isShouted(first) ? first.toLowerCase() : first;
}

const isShouted = (word: string): boolean => word.length > 5 && word === word.toUpperCase();

export function pluralOf(noun: string): string {
  const irregular = irregulars.get(noun);
  if (irregular !== undefined) return irregular;
  if (/[^iu]s$/.test(noun) && !/(?:ss|gas|bias|canvas|atlas|alias)$/.test(noun)) return noun;
  if (/(?:s|x|z|ch|sh)$/.test(noun))
    return noun.endsWith("sis") ? `${noun.slice(0, -2)}es` : `${noun}es`;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

const irregulars = new Map(
  Object.entries({
    person: "people",
    child: "children",
    index: "indexes",
    matrix: "matrices",
    vertex: "vertices",
    movie: "movies",
    cookie: "cookies",
  }),
);

/** Uncountable nouns. */
export const uncounted = new Set(
  `access advice analysis audio availability body browsing clipboard clothing cloud code compliance config connectivity content context css csv
  data documentation email expertise feedback fitness food guidance hardware health help history html http inflation info information infrastructure
  intelligence inventory java javascript json knowledge latency latex lighting liquidity logic mail maintenance markdown math mathematics media
  memory metadata money music navigation news nutrition output overview performance playback popularity power precipitation privacy progress
  python rain research revenue routing rust safety sales security sentiment software spelling sql ssl storage stuff
  sun support svg syntax text time traffic trust txt typescript uptime usage volume water weather web wind work xml yaml`.split(
    /\s+/,
  ),
);
