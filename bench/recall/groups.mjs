/**
 * How well groups route tasks: by what they say of themselves, and by the vote of the best tools.
 * Shares of wanted tools, in percent.
 */
export function measureGroups(groups, tasks, { ranker, createRanker, vectors }) {
  const groupOf = new Map(groups.flatMap(({ tools }, at) => tools.map((tool) => [tool, at])));
  const byText = createRanker({ vectors });
  groups.forEach(({ name, description }, at) => {
    byText.set({ id: `group ${at}`, tools: [{ name, description }] });
  });
  const byDescription = (task) =>
    byText.rank(task, { limit: 20 }).items.map(({ toolkit }) => Number(toolkit.slice(6)));
  const byVote = (task) => vote(ranker.rank(task, { limit: 10 }).items, groupOf, groups.length);
  const sizes = groups.map(({ tools }) => tools.length).sort((a, b) => a - b);
  return {
    count: groups.length,
    sizes: {
      least: sizes[0],
      median: sizes[Math.floor(sizes.length / 2)],
      most: sizes.at(-1),
      effective: effectiveNumber(sizes),
    },
    oneServes:
      (100 *
        tasks.filter(({ gold }) =>
          groups.some((_, at) => gold.every((wanted) => isIn(wanted, at, groupOf))),
        ).length) /
      tasks.length,
    byDescription: route(tasks, byDescription, groupOf),
    byVote: route(tasks, byVote, groupOf),
  };
}

/** Each of the best tools votes for its group, the first with most weight. */
function vote(items, groupOf, count) {
  const votes = new Float64Array(count);
  items.forEach(({ fullName }, place) => {
    votes[groupOf.get(fullName)] += 1 / (1 + place);
  });
  return [...votes.keys()].sort((a, b) => votes[b] - votes[a]);
}

const isIn = (wanted, group, groupOf) => [...wanted].some((name) => groupOf.get(name) === group);

function route(tasks, choose, groupOf) {
  const sums = { "hit@1": 0, "R@1": 0, "R@2": 0, "R@3": 0 };
  for (const { task, gold } of tasks) {
    const order = choose(task);
    if (order.length > 0 && gold.some((wanted) => isIn(wanted, order[0], groupOf))) sums["hit@1"]++;
    for (const depth of [1, 2, 3]) {
      sums[`R@${depth}`] +=
        gold.filter((wanted) => order.slice(0, depth).some((group) => isIn(wanted, group, groupOf)))
          .length / gold.length;
    }
  }
  return Object.fromEntries(
    Object.entries(sums).map(([figure, sum]) => [figure, (100 * sum) / tasks.length]),
  );
}

function effectiveNumber(sizes) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return Math.exp(-sizes.reduce((sum, size) => sum + (size / total) * Math.log(size / total), 0));
}

/** Groups of the same sizes with other tools in them: what a grouping is worth is what it has above this. */
export function shuffled(groups, describe) {
  const tools = groups.flatMap((group) => group.tools);
  let state = 7;
  for (let at = tools.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const other = state % (at + 1);
    [tools[at], tools[other]] = [tools[other], tools[at]];
  }
  let from = 0;
  return describe(
    groups.map((group, at) => {
      from += group.tools.length;
      return { name: `random_${at}`, tools: tools.slice(from - group.tools.length, from) };
    }),
  );
}
