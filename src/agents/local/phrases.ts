import type { Make, Mention } from "./mention.ts";
import { type Token, tokenAt } from "./tokens.ts";

/** Words that stand between phrases and are in none. */
export const breaks: ReadonlySet<string> = new Set(
  `a an the this that these those my our your his her its their i we you he she it they me us him them who whom whose which what when where why how
  is are was were be been being am do does did done can could would will should shall may might must have has had having
  of in on at to for from with without by about into onto over under between among through during within against toward towards upon via per as than like near around
  and or but nor so yet if then else because while until unless since although though not no please also just only really very
  i'm i'd i've i'll im what's it's there's there here using named called titled regarding concerning including want need would`.split(
    /\s+/,
  ),
);

/** Runs of words between small words, and the ends and beginnings of such runs. */
export function* readPhrases(tokens: readonly Token[], make: Make): Generator<Mention> {
  for (let at = 0; at < tokens.length; at++) {
    let last = at;
    while (last < tokens.length && tokens[last]?.isWord && !breaks.has(tokens[last]?.lower ?? ""))
      last++;
    if (last === at) continue;
    const whole = { first: at, last };
    for (let first = at; first < last; first++) {
      for (let end = last; end > first; end--) {
        if (end - first > phraseWordsMax || (first > at && end < last && end - first > 1)) continue;
        const isPart = first !== whole.first || end !== whole.last;
        yield make(
          "phrase",
          tokens[first]?.start ?? 0,
          tokens[end - 1]?.end ?? 0,
          isPart ? { isPart } : {},
        );
      }
    }
    at = last;
  }
  yield* joinPhrases(tokens, make);
}

const phraseWordsMax = 6;

/** "Suite with queen size bed", "structure of human cells": two runs and the small words between them. */
function* joinPhrases(tokens: readonly Token[], make: Make): Generator<Mention> {
  const joins = new Set(["of", "with", "in", "for", "and", "on", "to", "without", "by"]);
  for (let at = 1; at < tokens.length - 1; at++) {
    if (!joins.has(tokens[at]?.lower ?? "")) continue;
    let [first, last] = [at, at + 1];
    while (
      first > 0 &&
      at - first < 3 &&
      tokens[first - 1]?.isWord &&
      !breaks.has(tokens[first - 1]?.lower ?? "")
    )
      first--;
    const afterArticle = ["the", "a", "an", "my"].includes(tokens[last]?.lower ?? "")
      ? last + 1
      : last;
    last = afterArticle;
    while (
      last < tokens.length &&
      last - afterArticle < 4 &&
      tokens[last]?.isWord &&
      !breaks.has(tokens[last]?.lower ?? "")
    )
      last++;
    if (first === at || last === afterArticle) continue;
    yield make("phrase", tokens[first]?.start ?? 0, tokens[last - 1]?.end ?? 0, { isPart: true });
  }
}

/** From a word that announces it to the end of the sentence or of the text: what a message says, what is searched for. */
export function* readRests(text: string, tokens: readonly Token[], make: Make): Generator<Mention> {
  const announces = new Set(
    "that saying says about for of to with content text message query regarding on named called titled command question".split(
      " ",
    ),
  );
  for (const [at, token] of tokens.entries()) {
    const isColon = token.text === ":" && text[token.end] !== "/";
    if (!isColon && !announces.has(token.lower)) continue;
    const start = tokens[at + 1]?.start;
    if (start === undefined) continue;
    const sentence = /[.?!](?=\s|$)|\n/.exec(text.slice(start));
    const end = sentence ? start + sentence.index : text.length;
    const words = tokenAt(tokens, end) - at;
    if (words > 3 && words < 60) yield make("rest", start, end);
    if (isColon && sentence && end < text.trimEnd().length - 1)
      yield make("rest", start, text.trimEnd().length);
  }
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (first && last && tokens.length > 2 && tokens.length < 60)
    yield make("rest", first.start, last.end, { isPart: true });
}
