import type { Make, Mention } from "./mention.ts";
import type { Token } from "./tokens.ts";

/** Small words inside names: "Bank of America", "Ludwig van Beethoven". */
const inNames = new Set(
  "of the de la le du von van der den di da del el al y and & for in".split(" "),
);
/** A dot after these does not end a sentence. */
const abbreviated = /^(?:\p{Lu}|St|Mr|Mrs|Ms|Dr|Mt|Ft|Jr|Sr)$/u;
/** What stands before a number or a name, and is not part of it. */
const labels = new Set("id ids uuid url uri isbn sku ip api pin vin ssn".split(" "));
/** Words that begin a sentence and are no names. */
const openers = new Set(
  `i i'm i'd i've i'll im a an the this that these those there here it its it's my our your his her their we you he she they what what's which who whose when where why how
  is are was were do does did can could would will should shall may might must have has had please find get give show tell list calculate compute determine retrieve search look fetch
  create make generate add remove delete update set change modify book order buy play send check convert translate predict estimate analyze analyse identify compare sort plan help need
  want if for from in on at to with and or but so also then next first after before using use let let's suppose say provide display recommend suggest schedule reserve open close turn
  start stop run execute evaluate solve simplify draw plot read write save download upload assist hi hello hey thanks okay ok sure yes no not yeah perform obtain query locate
  explain describe summarize lookup view return count measure filter move copy rename post reply book ask inform guide any all some each every one could kindly today tomorrow now once`.split(
    /\s+/,
  ),
);

/** Runs of capitalised words, alone and joined over commas as places are: "Boston", "Boston, MA". */
export function* readNames(text: string, tokens: readonly Token[], make: Make): Generator<Mention> {
  const runs: { first: number; last: number }[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    if (!token.isWord || !token.isCapital) continue;
    if (
      openers.has(token.lower) &&
      (token.opensSentence || token.lower.length < 4 || token.lower.includes("'"))
    )
      continue;
    let last = at + 1;
    while (last < tokens.length) {
      const next = tokens[last] as Token;
      const afterNext = tokens[last + 1];
      if (next.isWord && (next.isCapital || (/^\d+$/.test(next.text) && !afterNext?.isWord)))
        last++;
      else if (
        inNames.has(next.lower) &&
        afterNext?.isWord &&
        afterNext.isCapital &&
        next.lower !== "and" &&
        next.lower !== "for" &&
        next.lower !== "in"
      )
        last += 2;
      else if (
        next.text === "." &&
        afterNext?.isCapital &&
        abbreviated.test(tokens[last - 1]?.text ?? "")
      )
        last += 1;
      else break;
    }
    runs.push({ first: at, last });
    at = last - 1;
  }
  const at = (run: { first: number; last: number }): Mention => {
    const end = tokens[run.last - 1]?.end ?? 0;
    // "Washington D.C." keeps its last dot, "Boston." does not; "Van Gogh's" loses what is not the name.
    const dotted =
      /\b\p{L}(?:\.\p{L})+$/u.test(text.slice(0, end)) && text[end] === "." ? end + 1 : end;
    const possessive = /['’]s$/.test(text.slice(0, end)) ? end - 2 : dotted;
    return make("name", tokens[run.first]?.start ?? 0, possessive);
  };
  for (const [place, run] of runs.entries()) {
    yield at(run);
    // "McDonald's" is a name as it is.
    if (/['’]s$/.test(tokens[run.last - 1]?.text ?? ""))
      yield make("name", tokens[run.first]?.start ?? 0, tokens[run.last - 1]?.end ?? 0);
    // "The Plaza": with and without.
    if (/^The$/.test(tokens[run.first - 1]?.text ?? ""))
      yield at({ first: run.first - 1, last: run.last });
    // A number before a street belongs to the address.
    const before = tokens[run.first - 1];
    const start =
      before && /^\d+\p{L}?$/u.test(before.text) && run.last - run.first > 1
        ? run.first - 1
        : run.first;
    if (start !== run.first) yield at({ first: start, last: run.last });
    let end = run;
    for (let next = place + 1; next < runs.length; next++) {
      const other = runs[next] as { first: number; last: number };
      if (other.first !== end.last + 1 || tokens[end.last]?.text !== ",") break;
      yield at({ first: start, last: other.last });
      end = other;
    }
    for (const piece of splitName(run, tokens)) yield { ...at(piece), isPart: true };
  }
}

/** A sentence may begin with a verb before the name: "Visit Rome" is Rome too. "Eminem Tickets" is Eminem. "Uber Eats" stays also whole. */
function splitName(
  { first, last }: { first: number; last: number },
  tokens: readonly Token[],
): { first: number; last: number }[] {
  if (last - first < 2) return [];
  const parts = [];
  if (tokens[first]?.opensSentence || labels.has(tokens[first]?.lower ?? ""))
    parts.push({ first: first + 1, last });
  for (let at = first + 1; at < last; at++)
    if (inNames.has(tokens[at]?.lower ?? ""))
      parts.push({ first, last: at }, { first: at + 1, last });
  return parts;
}
