/** Sentences and words of a text in any script. Intl.Segmenter finds words in scripts without spaces. */

export type TextLanguage = "en" | "de" | "other";

export interface Sentence {
  readonly text: string;
  readonly words: readonly string[];
}

/** The rest of a longer text is ignored. */
export const analysedCharactersMax = 500_000;

const stopwords: Readonly<Record<Exclude<TextLanguage, "other">, ReadonlySet<string>>> = {
  en: new Set(
    `a about above after again against all almost also although always am among an and another any anyone anything are around as at back be became because been before
    being below between both but by came can cannot could did do does doing done down during each either else enough even ever every few first for from further get gets go
    goes got had has have having he her here hers herself him himself his how however i if in indeed instead into is it its itself just last later least less like made
    make makes many may me might mine more most much must my myself near need neither never next no nobody none nor not nothing now of off often on once one only onto or
    other others our ours ourselves out over own per perhaps put quite rather really said same say says second see seem seems several shall she should since so some
    somebody someone something soon still such take than that the their theirs them themselves then there therefore these they thing things this those though three
    through thus to together too toward towards two under until up upon us use used using very via was we well went were what whatever when where whether which while who
    whom whose why will with within without would yes yet you your yours yourself`.split(/\s+/),
  ),
  de: new Set(
    `ab aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus außer bei beim bereits bin bis bist bleibt da dabei dadurch dafür dagegen
    daher damit danach dann daran darauf daraus darf darin darüber das dass davon dazu dein deine dem den denn der deren des deshalb dessen die dies diese diesem diesen dieser
    dieses doch dort du durch ein eine einem einen einer eines einige einmal er es etwas euch euer für gab geben gegen gegenüber gibt gut habe haben hat hatte hatten hier hin
    hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer immer im in indem ins ist ja jede jedem jeden jeder jedes jedoch jetzt kann kein keine keinem keinen keiner können
    könnte kommt machen man manche mehr mein meine mich mir mit muss müssen nach nachdem nein nicht nichts noch nun nur ob obwohl oder ohne schon sehr sein seine seinem seinen
    seiner seit selbst sich sie sind so sogar solche soll sollen sollte sondern sonst soweit sowie über um und uns unser unsere unter viel viele vom von vor war waren warum was
    weg weil weiter welche welcher wenn wer werde werden weshalb wie wieder will wir wird wo wollen worden wurde wurden zu zum zur zwar zwischen zwei`.split(
      /\s+/,
    ),
  ),
};

export function isStopword(word: string): boolean {
  return stopwords.en.has(word) || stopwords.de.has(word);
}

/** By stopwords: they are a third of any text, and few are in both languages. */
export function detectLanguage(words: readonly string[]): TextLanguage {
  const sample = words.slice(0, 2_000);
  const [en, de] = (["en", "de"] as const).map(
    (language) => sample.filter((word) => stopwords[language].has(word)).length,
  ) as [number, number];
  if (Math.max(en, de) * 12 < sample.length || Math.max(en, de) === 0) return "other";
  return en >= de ? "en" : "de";
}

const abbreviations = new Set(
  `mr mrs ms dr prof st sr jr vs etc e.g i.e no vol fig al inc corp ltd co dept approx jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m
  z.b d.h u.a bzw ca usw nr str abs bd hr fr vgl inkl evtl ggf mio mrd tel`.split(/\s+/),
);

export function splitSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  for (const block of text.slice(0, analysedCharactersMax).split(/\n\s*\n|\n(?=\s*[-*•]\s)/)) {
    for (const sentence of splitBlock(block.replace(/\s+/g, " ").trim())) {
      const words = wordsOf(sentence);
      if (words.length > 0) sentences.push({ text: sentence, words });
    }
  }
  return sentences;
}

function splitBlock(block: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (const { index, 0: mark } of block.matchAll(
    /[.!?…]+["'”’»)\]]*(?=\s)|[。！？]+[」』”）]*/g,
  )) {
    const end = index + mark.length;
    if (
      mark.startsWith(".") &&
      isAbbreviation(block.slice(Math.max(start, index - 20), index), block.slice(end, end + 3))
    )
      continue;
    parts.push(block.slice(start, end).trim());
    start = end;
  }
  parts.push(block.slice(start).trim());
  return parts.filter((part) => part !== "");
}

function isAbbreviation(before: string, after: string): boolean {
  const word =
    /(\S+)$/
      .exec(before)?.[1]
      ?.toLowerCase()
      .replace(/^[("'„“]+/, "") ?? "";
  // An initial ("J."), a German date ("1. Mai"), or a sentence that continues in lower case.
  return (
    abbreviations.has(word) ||
    /^\p{L}$/u.test(word) ||
    (/^\d{1,2}$/.test(word) && /^\s\p{L}/u.test(after)) ||
    /^\s\p{Ll}/u.test(after)
  );
}

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
let segmenter: Intl.Segmenter | undefined;

/** In lower case, without punctuation. */
function wordsOf(text: string): string[] {
  if (!unspaced.test(text))
    return (text.match(/\p{L}[\p{L}\p{M}\p{N}]*(?:['’-][\p{L}\p{N}]+)*/gu) ?? []).map((word) =>
      word.toLowerCase(),
    );
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike && /\p{L}/u.test(segment)) words.push(segment.toLowerCase());
  }
  return words;
}
