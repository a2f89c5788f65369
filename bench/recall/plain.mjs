/** BM25 as in the textbook, over one text a tool: what every figure is measured against. */
export function createPlainRanker(toolkits, wordsOf) {
  const [k1, b] = [1.2, 0.75];
  const documents = toolkits.flatMap(({ id, tools }) =>
    tools.map(({ name, description, inputSchema }) => ({
      name: `${id}.${name}`,
      words: wordsOf(
        [name, description, id, ...Object.keys(inputSchema?.properties ?? {})].join("\n"),
      ),
    })),
  );
  const mean = documents.reduce((sum, { words }) => sum + words.length, 0) / documents.length;
  const postings = new Map();
  documents.forEach(({ words }, at) => {
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      if (!postings.has(word)) postings.set(word, []);
      postings
        .get(word)
        .push([at, (count * (k1 + 1)) / (count + k1 * (1 - b + (b * words.length) / mean))]);
    }
  });
  return (query, depth = 20) => {
    const scores = new Float64Array(documents.length);
    for (const word of new Set(wordsOf(query))) {
      const held = postings.get(word) ?? [];
      const rarity = Math.log(1 + (documents.length - held.length + 0.5) / (held.length + 0.5));
      for (const [at, weight] of held) scores[at] += rarity * weight;
    }
    return documents
      .map(({ name }, at) => [name, scores[at]])
      .sort((x, y) => y[1] - x[1])
      .slice(0, depth)
      .map(([name]) => [name]);
  };
}
