import { percentile } from "../figures.mjs";
import { toolkitsOf } from "../recall/sets.mjs";
import { areOthersRight } from "./filling.mjs";
import { cpuMs } from "./time.mjs";

/** Which of the offered functions is chosen, by rank alone and with a look at the arguments; and what would be run without anybody asked. */
export function measureChoosing(tasks, { createRanker, chooseTool, findDoubt, readTask }, vectors) {
  const seen = { tasks: 0, byRank: 0, chosen: 0, run: 0, runRight: 0 };
  const times = [];
  for (const { task, tool, offered, accepted } of tasks) {
    const ranker = createRanker({ vectors });
    for (const toolkit of toolkitsOf(offered)) ranker.set(toolkit);
    const startedAt = process.cpuUsage();
    const { items, fits } = ranker.rank(task, { limit: 20 });
    const tools = items.map(({ toolkit, tool: name, score }) => ({
      ...offered.find((each) => each.server === toolkit && each.name === name),
      score,
      isDestructive: false,
    }));
    const [first] = chooseTool(readTask(task), tools);
    const doubt = findDoubt(first, { fits });
    times.push(cpuMs(startedAt));
    const isWanted = (found) =>
      found !== undefined && found.server === tool?.server && found.name === tool?.name;
    seen.tasks++;
    if (isWanted(tools[0])) seen.byRank++;
    if (isWanted(first?.tool)) seen.chosen++;
    if (doubt !== undefined) continue;
    seen.run++;
    if (isWanted(first.tool) && areOthersRight(first.filling, tool, accepted)) seen.runRight++;
  }
  return { ...seen, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
