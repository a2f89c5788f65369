// GUILDHALL_DATA=<folder with bfcl and bfclmt> node bench/local.mjs [--train] [--json]
// How well the local planner chooses and fills without a model: on the half of BFCL that it was made from, and on the half that nobody looked at.
// --train makes src/agents/local/weights.ts anew, from the first half and from sets that are there to be learnt from. See docs/figures.md.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { measureChoosing } from "./local/choosing.mjs";
import { measureFilling } from "./local/filling.mjs";
import { readBfcl, readIrrelevant, readLessons, readTurns } from "./local/tasks.mjs";
import { train, writeWeights } from "./local/train.mjs";
import { load } from "./recall/source.mjs";

const { values: options } = parseArgs({
  options: { train: { type: "boolean" }, json: { type: "boolean" } },
});
const folder = process.env.GUILDHALL_DATA;
if (!folder)
  throw new Error(
    "set GUILDHALL_DATA to a folder with the tools and tasks of bfcl, bfcl-irrelevant and bfclmt (and, to train, of sealtools, toolalpaca, apibank)",
  );

const tasks = readBfcl(folder);
const isSeen = ({ half }) => half === "seen";
const isHeld = ({ half }) => half === "held";

if (options.train) {
  const weights = train(
    [...tasks.filter(isSeen), ...readLessons(folder)],
    await load("agents/local/consider.ts", "agents/local/reading.ts", "agents/local/signs.ts"),
  );
  writeFileSync(new URL("../src/agents/local/weights.ts", import.meta.url), writeWeights(weights));
  console.log(`${Object.keys(weights).length} weights`);
}

const source = await load(
  ...["fill.ts", "consider.ts", "reading.ts", "choose.ts", "decision.ts"].map(
    (file) => `agents/local/${file}`,
  ),
  ...["ranker.ts", "vectors.ts"].map((file) => `ranking/${file}`),
);
const vectors = source.parseVectors(
  readFileSync(new URL("../src/ranking/vectors.bin", import.meta.url)),
);
const known = new Set(tasks.filter(isSeen).map(({ tool }) => tool.name));
const halves = (all) => [
  ["seen", all.filter(isSeen)],
  ["held", all.filter(isHeld)],
];

const filling = [
  ...halves(tasks).map(([half, some]) => [`bfcl, ${half}`, some]),
  [
    "bfcl, held, functions not in the seen half",
    tasks.filter((task) => isHeld(task) && !known.has(task.tool.name)),
  ],
  ...["simple_python", "multiple", "live_simple", "live_multiple"].map((category) => [
    `bfcl ${category}, held`,
    tasks.filter((task) => isHeld(task) && task.category === category),
  ]),
  ...halves(readTurns(folder)).map(([half, some]) => [`bfclmt, ${half}`, some]),
].map(([name, some]) => ({ name, ...measureFilling(some, source) }));

const choosing = [
  ...["multiple", "live_multiple"].flatMap((category) =>
    halves(tasks.filter((task) => task.category === category)).map(([half, some]) => [
      `bfcl ${category}, ${half}`,
      some,
    ]),
  ),
  ...halves(readTurns(folder)).map(([half, some]) => [`bfclmt, ${half}`, some]),
  ...halves(readIrrelevant(folder)).map(([half, some]) => [`bfcl-irrelevant, ${half}`, some]),
].map(([name, some]) => ({
  name,
  ...measureChoosing(some, source, vectors),
  withoutVectors: measureChoosing(some, source).chosen,
}));

if (options.json)
  console.log(
    JSON.stringify(
      {
        filling: filling.map(({ types, certainties, ...rest }) => ({
          ...rest,
          types: [...types],
          certainties: [...certainties],
        })),
        choosing,
      },
      undefined,
      2,
    ),
  );
else print();

function print() {
  console.log(
    "| arguments, right function given | tasks | all required right | within reach | whole call right | all required certain | of those right | p50 ms | p99 ms |\n|---|---|---|---|---|---|---|---|---|",
  );
  for (const {
    name,
    tasks: count,
    required,
    reachable,
    whole,
    sure,
    sureRight,
    p50,
    p99,
  } of filling)
    console.log(
      `| ${name} | ${count} | ${percent(required, count)} | ${percent(reachable, count)} | ${percent(whole, count)} | ${percent(sure, count)} | ${percent(sureRight, sure)} | ${p50.toFixed(2)} | ${p99.toFixed(1)} |`,
    );
  console.log(
    "\n| required values right | string | choice | integer | number | boolean | array |\n|---|---|---|---|---|---|---|",
  );
  for (const { name, types } of filling)
    console.log(
      `| ${name} | ${["string", "choice", "integer", "number", "boolean", "array"].map((type) => share(types.get(type))).join(" | ")} |`,
    );
  console.log("\n| values right, by certainty | certain | likely | guess |\n|---|---|---|---|");
  for (const { name, certainties } of filling)
    console.log(
      `| ${name} | ${["certain", "likely", "guess"].map((certainty) => share(certainties.get(certainty))).join(" | ")} |`,
    );
  console.log(
    "\n| choice | tasks | by rank | chosen | without vectors | would run | of those right | p50 ms | p99 ms |\n|---|---|---|---|---|---|---|---|---|",
  );
  for (const {
    name,
    tasks: count,
    byRank,
    chosen,
    withoutVectors,
    run,
    runRight,
    p50,
    p99,
  } of choosing)
    console.log(
      `| ${name} | ${count} | ${percent(byRank, count)} | ${percent(chosen, count)} | ${percent(withoutVectors, count)} | ${percent(run, count)} | ${percent(runRight, run)} | ${p50.toFixed(2)} | ${p99.toFixed(1)} |`,
    );
}

function percent(part, whole) {
  return whole === 0 ? "–" : ((100 * part) / whole).toFixed(1);
}

function share(sum) {
  return sum === undefined ? "–" : `${percent(sum.right, sum.count)} of ${sum.count}`;
}
