/**
 * An English word without its endings: searches, searched, searching and searcher become one. A light
 * stemmer: joining unrelated words costs more than missing a pair, which the vectors still connect.
 */
export function stem(word: string): string {
  if (word.length < 4 || !isEnglish.test(word) || kept.has(word)) return word;
  return withoutE(withoutAgent(withoutVerb(withoutPlural(word))));
}

const isEnglish = /^[a-z]+$/;
const kept = new Set(
  "news always series species during thing anything everything nothing something".split(" "),
);

function withoutPlural(word: string): string {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|zz)es$/.test(word)) return word.slice(0, -2);
  if (/[^aiosu]s$/.test(word) || /[aeio]os$/.test(word)) return word.slice(0, -1);
  return word;
}

function withoutVerb(word: string): string {
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  const base = withoutVerbEnding(word);
  if (base === word) return word;
  if (base.length < 3 || !/[aeiouy]/.test(base)) return word;
  return /([bdfgmnprt])\1$/.test(base) ? base.slice(0, -1) : base;
}

function withoutVerbEnding(word: string): string {
  if (/(?:ing|ed)$/.test(word)) return word.replace(/(?:ing|ed)$/, "");
  return /[st]ion$/.test(word) && word.length > 5 ? word.slice(0, -3) : word;
}

/** Calculator becomes calculate, converter convert. */
function withoutAgent(word: string): string {
  return word.length > 6 && /(?:[aei]t|[^aeiouy])(?:er|or)$/.test(word) ? word.slice(0, -2) : word;
}

function withoutE(word: string): string {
  return word.length > 3 && word.endsWith("e") ? word.slice(0, -1) : word;
}
