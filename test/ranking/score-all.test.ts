import { expect, test } from "vitest";
import { createCorpus } from "../../src/ranking/corpus.ts";
import { type RankingHints, scoreAll } from "../../src/ranking/score-all.ts";
import { scoreTerms } from "../../src/ranking/scores.ts";
import { loadVectors } from "../../src/ranking/vectors.ts";

const vectors = loadVectors();
const words =
  `file folder email message weather forecast issue branch commit database table query row image video song player
  team price stock invoice customer calendar meeting map route hotel flight token wallet paper author drug gene light sensor
  password user role server container log alert chart slide sheet note task ticket translate search delete create list update
  send read rename convert compare summarize schedule download upload open close start stop merge count`.split(
    /\s+/,
  );

/** The same sequence in every run. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % sides;
  };
}

const dice = createDice(7);
const phrase = (length: number): string =>
  Array.from({ length }, () => words[dice(words.length)]).join(" ");
const corpus = createCorpus(vectors);
for (let at = 0; at < 40; at++)
  corpus.set({
    id: `kit${at}`,
    tools: Array.from({ length: 12 }, (_, tool) => ({
      name: `tool_${tool}`,
      description: phrase(3 + dice(12)),
    })),
  });
const tasks = Array.from({ length: 20 }, (_, at) =>
  at % 3 === 0 ? `${phrase(4)}. Then ${phrase(5)} and ${phrase(3)}` : phrase(2 + dice(6)),
);

test.each<[string, RankingHints]>([
  ["all tools", {}],
  ["some of the tools", { among: (name) => name.charCodeAt(3) % 2 === 0 }],
  ["tools with experience", { experience: (name) => (name.length % 3) - 1 }],
])("skipping tools that cannot be among the best changes no list: %s", (_, hints) => {
  const snapshot = corpus.read();
  // A list as long as the corpus is never full, so nothing is skipped.
  const best = (task: string, countMax: number) =>
    scoreAll(task, scoreTerms(task, snapshot, vectors), snapshot, hints, countMax).slice(0, 10);
  for (const task of tasks) expect(best(task, 40)).toEqual(best(task, corpus.size));
});

test("most tools are skipped", () => {
  const snapshot = corpus.read();
  for (const task of tasks) {
    let considered = 0;
    const among = (): boolean => ++considered > 0;
    scoreAll(task, scoreTerms(task, snapshot, vectors), snapshot, { among }, 40);
    expect(considered).toBeLessThan(corpus.size / 2);
  }
});
