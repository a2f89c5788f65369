const depths = [1, 3, 5, 10];

/**
 * Recall at several depths, the mean reciprocal rank of the first wanted tool, and whether the
 * first answer comes from a wanted toolkit; in percent. Each answer is a list of names: a tool and
 * its duplicates, which are not shown beside it.
 */
export function measure(tasks, rank) {
  const sums = Object.fromEntries([
    ...depths.map((depth) => [`R@${depth}`, 0]),
    ["MRR", 0],
    ["server@1", 0],
  ]);
  for (const { task, gold } of tasks) {
    const found = rank(task);
    const places = gold.map((wanted) => {
      const place = found.findIndex((names) => names.some((name) => wanted.has(name)));
      return place === -1 ? Number.POSITIVE_INFINITY : place;
    });
    for (const depth of depths)
      sums[`R@${depth}`] += places.filter((place) => place < depth).length / places.length;
    sums.MRR += 1 / (1 + Math.min(...places));
    const servers = new Set(gold.flatMap((wanted) => [...wanted].map(ownerOf)));
    if (found[0]?.some((name) => servers.has(ownerOf(name)))) sums["server@1"] += 1;
  }
  return Object.fromEntries(
    Object.entries(sums).map(([figure, sum]) => [figure, (100 * sum) / tasks.length]),
  );
}

const owners = new Map();

/** The harness names a tool `server.tool`; servers may have dots, so the owner is noted when the tools are read. */
export function noteOwners(toolkits) {
  for (const { id, tools } of toolkits)
    for (const { name } of tools) owners.set(`${id}.${name}`, id);
}

const ownerOf = (name) => owners.get(name);
