import { describe, expect, test } from "vitest";
import { analyze } from "../../src/toolkits/document/analysis.ts";
import type { AnalysisType } from "../../src/toolkits/document/text.ts";
import {
  type LabelledOpinion,
  type LabelledText,
  mentions,
  opinions,
  unseenMentions,
  unseenOpinions,
} from "./fixtures/labelled.ts";

describe("sentiment", () => {
  test.each([
    { name: "the labelled texts", texts: opinions, accuracyMin: 0.85, precisionMin: 0.9 },
    {
      name: "unseen texts",
      texts: unseenOpinions,
      accuracyMin: 0.6,
      precisionMin: 0.8,
    },
  ])("agrees with the labels of most of $name", ({ name, texts, accuracyMin, precisionMin }) => {
    const { accuracy, precision } = scoreOpinions(name, texts);
    expect(accuracy).toBeGreaterThanOrEqual(accuracyMin);
    expect(precision).toBeGreaterThanOrEqual(precisionMin);
  });

  test("is inverted by a negation and scaled by the word before", () => {
    const score = (text: string) => analyze(text, "sentiment").sentiment?.score ?? 0;
    expect(score("The food was good.")).toBeGreaterThan(0);
    expect(score("The food was not good.")).toBeLessThan(0);
    expect(score("The food was very good.")).toBeGreaterThan(score("The food was good."));
    expect(score("The food was slightly good.")).toBeLessThan(score("The food was good."));
    expect(score("Das Essen war nicht gut.")).toBeLessThan(0);
  });

  test("is neutral for a long plain report with one unhappy sentence", () => {
    const plain =
      "The committee has nine members. Each serves for three years. The office is on the second floor. ".repeat(
        10,
      );
    expect(analyze(`${plain} The coffee was terrible.`, "sentiment").sentiment).toMatchObject({
      label: "neutral",
      negative_sentences: 1,
    });
  });
});

describe("entities", () => {
  test.each([
    { name: "the labelled texts", texts: mentions, precisionMin: 0.9, recallMin: 0.9 },
    {
      name: "unseen texts",
      texts: unseenMentions,
      precisionMin: 0.85,
      recallMin: 0.6,
    },
  ])("match the labels of most of $name", ({ name, texts, precisionMin, recallMin }) => {
    const { precision, recall } = scoreMentions(name, texts);
    expect(precision).toBeGreaterThanOrEqual(precisionMin);
    expect(recall).toBeGreaterThanOrEqual(recallMin);
  });

  test("are counted, and a surname counts for the person named before", () => {
    const { entities } = analyze(
      "Angela Merkel spoke first. Later Merkel left for Paris. In Paris it rained.",
      "entities",
    );
    expect(entities).toEqual([
      { type: "person", text: "Angela Merkel", count: 2 },
      { type: "place", text: "Paris", count: 2 },
    ]);
  });
});

describe("a summary", () => {
  const article = [
    "Rivers shape the land they run through.",
    "A river carries sand and gravel from the mountains to the sea, and where the river slows, the sand settles.",
    "My uncle once owned a red bicycle.",
    "Over centuries the settled sand and gravel lift the bed of the river until the river breaks out and finds a new way to the sea.",
    "People build dikes so that the river stays in its bed.",
    "Dikes make the bed rise faster, because sand that would have spread over the land settles between them.",
    "Lunch was at noon.",
    "So the higher the dikes along the river, the worse the flood when one of the dikes breaks.",
    "The colour of the boats varies.",
    "Some towns now let the river flood fields on purpose, and the sand settles there instead of in the bed.",
  ];

  test("consists of central sentences of the text in their order", () => {
    const { summary = "", sentences } = analyze(article.join(" "), "summary");
    expect(sentences).toBe(10);
    const places = article
      .map((sentence) => summary.indexOf(sentence))
      .filter((place) => place >= 0);
    expect(places).toHaveLength(2);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(summary).toMatch(/river/);
    expect(summary).not.toMatch(/bicycle|Lunch|boats/);
  });

  test("of one sentence is that sentence", () => {
    expect(analyze("Only this is said here, and nothing else.", "summary").summary).toBe(
      "Only this is said here, and nothing else.",
    );
  });
});

describe("keywords", () => {
  test("are frequent phrases, in English and German", () => {
    const english =
      "Solar panels turn light into power. Cheap solar panels changed the market. The price of solar panels fell again.";
    expect(analyze(english, "keywords").keywords?.[0]).toEqual({
      keyword: "solar panels",
      score: 1,
      count: 3,
    });
    const german =
      "Die Energiewende braucht Speicher. Ohne Speicher ist die Energiewende teuer, und der Ausbau der Speicher dauert.";
    const { language, keywords = [] } = analyze(german, "keywords");
    expect(language).toBe("de");
    expect(keywords.slice(0, 4).map(({ keyword }) => keyword)).toEqual(
      expect.arrayContaining(["speicher", "energiewende"]),
    );
    expect(keywords.map(({ keyword }) => keyword)).not.toContain("und");
  });
});

describe("texts of any kind", () => {
  const texts = {
    Chinese: "北京是中国的首都。它有三千多年的历史！人口超过两千万？很多游客每年来参观故宫。",
    Japanese: "東京は日本の首都です。人口は約千四百万人です。桜の季節はとても美しい。",
    Thai: "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
    Arabic: "القاهرة هي عاصمة مصر. يعيش فيها ملايين الناس.",
    emoji: "🎉🎉🎉 👩‍👩‍👧‍👦 🇩🇪",
    nothing: "   \n\n ",
    "half a character": "\ud83d broken \udc00",
    "one endless word": "x".repeat(200_000),
    "only marks": ".,;!?()[]".repeat(10_000),
    "capitals without end": "Aa Bb ".repeat(30_000),
    "digits without end": "1.234,567 ".repeat(20_000),
    "at signs without end": `${"a.".repeat(30_000)}@${"b-".repeat(30_000)}`,
  };

  test.each(Object.entries(texts))("%s can be analysed", (_, text) => {
    for (const type of ["summary", "keywords", "sentiment", "entities"] satisfies AnalysisType[])
      expect(analyze(text, type)).toHaveProperty(type);
  });

  test("scripts without spaces are split into words and sentences", () => {
    const { sentences, words } = analyze(texts.Chinese, "keywords");
    expect(sentences).toBe(4);
    expect(words).toBeGreaterThan(12);
  });

  test("too long a text is cut and marked as cut", () => {
    const { cut } = analyze("One more sentence stands here. ".repeat(20_000), "summary");
    expect(cut).toMatch(/only the first 500,000 of 620000 characters/);
  });
});

function scoreOpinions(
  name: string,
  texts: readonly LabelledOpinion[],
): { accuracy: number; precision: number } {
  const judged = texts.map(({ label, text }) => ({
    label,
    text,
    found: analyze(text, "sentiment").sentiment?.label,
  }));
  const wrong = judged.filter(({ label, found }) => label !== found);
  const opinionated = judged.filter(({ found }) => found !== "neutral");
  const precision =
    opinionated.filter(({ label, found }) => label === found).length / opinionated.length;
  const accuracy = 1 - wrong.length / judged.length;
  console.log(
    `sentiment, ${name}: ${judged.length}, accuracy ${accuracy.toFixed(3)}, precision ${precision.toFixed(3)}`,
  );
  for (const { label, found, text } of wrong) console.log(`  ${label} read as ${found}: ${text}`);
  return { accuracy, precision };
}

function scoreMentions(
  name: string,
  texts: readonly LabelledText[],
): { precision: number; recall: number } {
  let [right, found, wanted] = [0, 0, 0];
  for (const { text, entities } of texts) {
    const marked = entities.map(([type, entity]) => `${type} ${entity}`);
    const seen = (analyze(text, "entities").entities ?? []).map(
      ({ type, text: entity }) => `${type} ${entity}`,
    );
    const [missed, invented] = [
      marked.filter((entity) => !seen.includes(entity)),
      seen.filter((entity) => !marked.includes(entity)),
    ];
    right += seen.length - invented.length;
    found += seen.length;
    wanted += marked.length;
    if (missed.length + invented.length > 0)
      console.log(`  missed [${missed.join(", ")}], invented [${invented.join(", ")}]`);
  }
  console.log(
    `entities, ${name}: ${wanted} marked, precision ${(right / found).toFixed(3)}, recall ${(right / wanted).toFixed(3)}`,
  );
  return { precision: right / found, recall: right / wanted };
}
