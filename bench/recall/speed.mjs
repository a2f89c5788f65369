import { percentile } from "../figures.mjs";

/**
 * The cost of building, holding, changing and querying an index of these toolkits, in processor
 * milliseconds: beside other work the clock says little. Memory is that of the process, garbage
 * collected where Node allows it.
 */
export function measureSpeed(toolkits, queries, { createRanker, vectors }) {
  globalThis.gc?.();
  const before = process.memoryUsage();
  const ranker = createRanker({ vectors });
  const indexMs = timed(() => {
    for (const toolkit of toolkits) ranker.set(toolkit);
    ranker.rank("first");
  });
  globalThis.gc?.();
  const after = process.memoryUsage();
  const mb =
    (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1024 / 1024;
  for (const query of queries.slice(0, 50)) ranker.rank(query);
  const times = queries.map((query) => timed(() => ranker.rank(query)));
  const changes = toolkits.slice(0, 5).map((toolkit) =>
    timed(() => {
      ranker.set(toolkit);
      ranker.rank("after a change");
    }),
  );
  return {
    tools: ranker.size,
    indexMs,
    mb,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    changeMs: percentile(changes, 0.5),
  };
}

function timed(work) {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
