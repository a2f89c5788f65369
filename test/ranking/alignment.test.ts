import { expect, test } from "vitest";
import { type Alignment, alignAll } from "../../src/ranking/alignment.ts";
import { createCorpus } from "../../src/ranking/corpus.ts";
import { scoreTerms } from "../../src/ranking/scores.ts";
import { loadVectors } from "../../src/ranking/vectors.ts";

const vectors = loadVectors();

function align(query: string, ...descriptions: readonly string[]): Alignment[] {
  const corpus = createCorpus(vectors);
  const tools = descriptions.map((description, at) => ({ name: `tool${at}`, description }));
  corpus.set({ id: "kit", tools });
  const snapshot = corpus.read();
  return alignAll([...tools.keys()], scoreTerms(query, snapshot, vectors), snapshot, vectors);
}

test("a description with only the words of the task is covered, one with more is not", () => {
  const [exact, wider] = align(
    "rotate an image",
    "Rotate an image",
    "Rotate an image, transpose sheet music, or measure rainfall",
  ) as [Alignment, Alignment];
  expect(exact.description).toBeCloseTo(1);
  expect(wider.description).toBeLessThan(0.8);
  expect(wider.matched).toBeCloseTo(exact.matched);
});

test("details at the end of a description do not count", () => {
  const opening =
    "Rotate image angle degrees clockwise canvas border colour picture pixel width height";
  const details =
    "Needs a licence key, a paid account, an administrator and a recent operating system";
  const [short, long] = align("rotate an image", opening, `${opening}. ${details}`) as [
    Alignment,
    Alignment,
  ];
  expect(long.description).toBeCloseTo(short.description, 1);
});
