import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { embed, loadVectors, parseVectors, vectorsMagic } from "../../src/ranking/vectors.ts";
import { wordsOf } from "../../src/ranking/words.ts";

const file = new URL("../../src/ranking/vectors.bin", import.meta.url);
const vectors = loadVectors();

function cosine(a: string, b: string): number {
  const [left, right] = [a, b].map((text) =>
    embed(
      wordsOf(text).map((word) => [word, 1] as const),
      vectors,
    ),
  ) as [Float32Array, Float32Array];
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
}

describe("the shipped vectors", () => {
  test("have at most 3 MB", () => {
    expect(statSync(file).size).toBeLessThanOrEqual(3_000_000);
  });

  test("know the row of each word, and of no other", () => {
    const bytes = readFileSync(file);
    const words = bytes
      .subarray(16, 16 + bytes.readUInt32LE(12))
      .toString()
      .split("\n");
    expect(words.filter((word, row) => vectors.rowOf(word) !== row)).toEqual([]);
    const others = [...words.map((word) => `${word}q`), ...words.map((word) => word.slice(1)), ""];
    const known = new Set(words);
    expect(others.filter((word) => vectors.rowOf(word) >= 0 !== known.has(word))).toEqual([]);
  });

  test("place related words near each other", () => {
    expect(cosine("take a picture", "capture a screenshot")).toBeGreaterThan(
      cosine("take a picture", "merge a branch"),
    );
    expect(cosine("rain and storms", "weather forecast")).toBeGreaterThan(
      cosine("rain and storms", "stock price"),
    );
  });

  test("give a normalised text vector, or zeros for unknown words", () => {
    expect(cosine("search the web", "search the web")).toBeCloseTo(1, 5);
    expect(embed([["zzxqv", 1]], vectors)).toEqual(new Float32Array(vectors.dimensions));
  });
});

describe("two words", () => {
  const rowOf = (word: string) => vectors.rowOf(wordsOf(word).join());

  function compare(word: string, others: readonly string[]): number[] {
    const likenesses = new Float32Array(others.length + 1);
    vectors.compare(rowOf(word), Int32Array.from(others, rowOf), likenesses, 1);
    return [...likenesses.subarray(1)];
  }

  test("are as similar as one-word texts", () => {
    const others = ["weather", "storm", "forecast"];
    compare("rain", others).forEach((likeness, at) => {
      expect(likeness).toBeCloseTo(cosine("rain", others[at] as string), 4);
    });
  });

  test("are unrelated if one has no vector", () => {
    expect(compare("rain", ["zzxqv"])).toEqual([0]);
    expect(compare("zzxqv", ["rain", "zzxqv"])).toEqual([0, 0]);
  });

  test("of low similarity may be skipped, never those of high similarity", () => {
    const words = [
      "rain",
      "branch",
      "email",
      "invoice",
      "picture",
      "music",
      "stock",
      "route",
      "delete",
      "translate",
    ];
    for (const word of words) {
      compare(word, words).forEach((likeness, at) => {
        const whole = cosine(word, words[at] as string);
        if (likeness === 0) expect(whole).toBeLessThan(0.5);
        else expect(likeness).toBeCloseTo(whole, 4);
      });
    }
  });
});

describe("a damaged file", () => {
  const bytes = readFileSync(file);

  test.each([
    ["cut short", bytes.subarray(0, bytes.length - 1)],
    ["of another kind", Buffer.from("PK\u0003\u0004 something else altogether")],
    [
      "with a wrong count",
      Buffer.concat([Buffer.from(vectorsMagic), Buffer.alloc(12, 0xff), bytes.subarray(16)]),
    ],
    ["empty", Buffer.alloc(0)],
  ])("%s is rejected", (_, damaged) => {
    expect(() => parseVectors(damaged)).toThrow(
      expect.objectContaining({
        code: "INTERNAL",
        message: expect.stringContaining("reinstall Guildhall"),
      }),
    );
  });
});
