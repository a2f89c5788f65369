const partMin = 3;

/** The known names most similar to a mistyped one, best first. Bounded for hostile input. */
export function findNear(wanted: string, known: Iterable<string>, countMax = 3): string[] {
  const target = wanted.slice(0, 80).toLowerCase();
  const scored: { name: string; distance: number; edits: number }[] = [];
  for (const name of known) {
    const candidate = name.toLowerCase();
    const edits = editDistance(target, candidate.slice(0, 80));
    // A name that contains the other is similar, but a single typo is closer. Very short names are in every name.
    const isPart =
      Math.min(target.length, candidate.length) >= partMin &&
      (candidate.includes(target) || target.includes(candidate));
    const distance = isPart ? Math.min(edits, 2) : edits;
    if (distance <= Math.max(2, Math.floor(Math.max(target.length, candidate.length) / 2.5)))
      scored.push({ name, distance, edits });
  }
  return scored
    .sort((a, b) => a.distance - b.distance || a.edits - b.edits || (a.name < b.name ? -1 : 1))
    .slice(0, countMax)
    .map(({ name }) => name);
}

/** Levenshtein distance with one row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
