// Finds how much each sign counts: shares of options that add up to one, made to fit what is right, by gradient descent with a pull to zero.
import { acceptedAt, isRight, mayBeLeftOut } from "./judge.mjs";

const settings = { rounds: 30, batch: 64, rate: 0.05, pull: 0.001, seenMin: 10, leastShown: 0.25 };

export function train(tasks, { consider, readTask, signsOfNothing }) {
  const examples = tasks.flatMap((task) =>
    examplesOf(task, { consider, readTask, signsOfNothing }),
  );
  const counts = new Map();
  for (const { options } of examples)
    for (const sign of new Set(options.flatMap(({ signs }) => signs)))
      counts.set(sign, (counts.get(sign) ?? 0) + 1);
  const known = [...counts].filter(([, count]) => count >= settings.seenMin).map(([sign]) => sign);
  const index = new Map(known.map((sign, at) => [sign, at]));
  const rows = examples.map(({ options }) =>
    options.map(({ signs, right }) => ({
      right,
      at: signs.flatMap((sign) => index.get(sign) ?? []),
    })),
  );
  const weights = descend(rows, known.length);
  const shown = known
    .map((sign, at) => [sign, Math.round(weights[at] * 100) / 100])
    .filter(([, weight]) => Math.abs(weight) >= settings.leastShown);
  return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function examplesOf({ task, tool, accepted }, { consider, readTask, signsOfNothing }) {
  return consider(readTask(task), tool).map(({ parameter, options }) => {
    const wanted = acceptedAt(accepted, parameter.path);
    const judged = options.map(({ option, signs }) => ({
      signs,
      right: isRight(option.value, wanted),
    }));
    const nothing = mayBeLeftOut(wanted) || !judged.some(({ right }) => right);
    return { options: [...judged, { signs: signsOfNothing(parameter), right: nothing }] };
  });
}

/** Adam over all examples, in an order that is always the same. */
function descend(rows, count) {
  const [weights, slope, first, second] = Array.from({ length: 4 }, () => new Float64Array(count));
  let step = 0;
  for (let round = 0; round < settings.rounds; round++) {
    const rate = settings.rate * (1 - round / settings.rounds) + 0.002;
    for (let from = 0; from < rows.length; from += settings.batch) {
      slope.fill(0);
      for (const options of rows.slice(from, from + settings.batch))
        addSlope(options, weights, slope);
      step++;
      for (let at = 0; at < count; at++) {
        const pulled = slope[at] / settings.batch + settings.pull * weights[at];
        first[at] = 0.9 * first[at] + 0.1 * pulled;
        second[at] = 0.999 * second[at] + 0.001 * pulled * pulled;
        weights[at] -=
          (rate * (first[at] / (1 - 0.9 ** step))) /
          (Math.sqrt(second[at] / (1 - 0.999 ** step)) + 1e-8);
      }
    }
  }
  return weights;
}

function addSlope(options, weights, slope) {
  const scores = options.map(({ at }) => at.reduce((sum, place) => sum + weights[place], 0));
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const rightTotal = powers.reduce(
    (sum, power, each) => sum + (options[each].right ? power : 0),
    0,
  );
  for (const [each, { at, right }] of options.entries()) {
    const change = powers[each] / total - (right && rightTotal > 0 ? powers[each] / rightTotal : 0);
    if (Math.abs(change) > 1e-6) for (const place of at) slope[place] += change;
  }
}

export function writeWeights(weights) {
  const lines = Object.entries(weights).map(
    ([sign, weight]) => `  ${JSON.stringify(sign)}: ${weight},`,
  );
  return [
    "/**",
    " * How much each sign counts, made by `bench/local.mjs --train`. Added up, the signs of an option are the logarithm of how much likelier it is than",
    " * another. Signs are of a general kind; there is no word of any task or tool in them.",
    " */",
    "export const weights: Readonly<Record<string, number>> = {",
    ...lines,
    "};",
    "",
  ].join("\n");
}
