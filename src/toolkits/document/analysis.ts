import { type Entity, findEntities } from "./entities.ts";
import { findKeywords, type Keyword } from "./keywords.ts";
import {
  analysedCharactersMax,
  detectLanguage,
  type Language,
  splitSentences,
} from "./language.ts";
import { judgeSentiment, type Sentiment } from "./sentiment.ts";
import { summarize } from "./summary.ts";
import type { AnalysisType } from "./terms.ts";

/** What can be said of a text without a language model: counted and looked up, never guessed. */
export interface Analysis {
  readonly language: Language;
  readonly words: number;
  readonly sentences: number;
  readonly summary?: string;
  readonly keywords?: readonly Keyword[];
  readonly sentiment?: Sentiment;
  readonly entities?: readonly Entity[];
  readonly cut?: string;
}

export function analyze(text: string, type: AnalysisType): Analysis {
  const sentences = splitSentences(text);
  const words = sentences.flatMap((sentence) => sentence.words);
  const cut =
    text.length > analysedCharactersMax
      ? {
          cut: `only the first ${analysedCharactersMax} of ${text.length} characters were analysed`,
        }
      : {};
  const facts = {
    language: detectLanguage(words),
    words: words.length,
    sentences: sentences.length,
    ...cut,
  };
  switch (type) {
    case "summary":
      return { ...facts, summary: summarize(sentences).join(" ") };
    case "keywords":
      return { ...facts, keywords: findKeywords(sentences) };
    case "sentiment":
      return { ...facts, sentiment: judgeSentiment(sentences) };
    case "entities":
      return { ...facts, entities: findEntities(sentences, facts.language) };
  }
}
