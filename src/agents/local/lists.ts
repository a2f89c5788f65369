import type { Make, Mention, MentionKind } from "./mention.ts";

const listKinds = new Set<MentionKind>([
  "number",
  "quoted",
  "name",
  "phrase",
  "code",
  "path",
  "email",
  "link",
  "moment",
]);
const listGap =
  /^\s*(?:,|;|、|，)\s*(?:and\s+|or\s+|&\s*)?(?:an?\s+|the\s+)?$|^\s+(?:and|or|&|y|und|et)\s+(?:an?\s+|the\s+|[a-z]\s*=\s*)?$|^\s*、\s*$/i;
const rangeGap = /^\s+(?:to|through|until)\s+(?:[a-z]\s*=\s*)?$|^\s*[-–]\s*$/i;

/** Neighbours of one kind with nothing between them but commas and "and". */
export function* readLists(
  text: string,
  mentions: readonly Mention[],
  make: Make,
): Generator<Mention> {
  for (const kind of listKinds) {
    const own = mentions
      .filter(
        (mention) =>
          mention.kind === kind &&
          mention.quantity?.isVague !== true &&
          !(kind === "phrase" && mention.isPart),
      )
      .sort((a, b) => a.start - b.start || b.end - a.end);
    const byStart = new Map<number, Mention[]>();
    for (const mention of own)
      byStart.set(mention.start, [...(byStart.get(mention.start) ?? []), mention]);
    const starts = [...byStart.keys()].sort((a, b) => a - b);
    const used = new Set<Mention>();
    for (const first of own) {
      if (used.has(first)) continue;
      const items = [first];
      let isRange = false;
      for (;;) {
        const end = outerEnd(text, items.at(-1) as Mention);
        const next = starts.find(
          (start) =>
            start > end - 1 && fitsGap(text, end, start, items.length === 1 && kind === "number"),
        );
        const following = next === undefined ? undefined : byStart.get(next)?.[0];
        if (!following || next === undefined || next - end > 12) break;
        if (rangeGap.test(text.slice(end, next))) isRange = true;
        items.push(following);
        if (isRange) break;
      }
      if (items.length < 2) continue;
      for (const item of items) used.add(item);
      yield make("list", first.start, items.at(-1)?.end ?? first.end, { items });
    }
  }
  yield* readCounted(text, mentions, make);
}

/** "two pizzas, a salad and three cokes": how many, and of what. */
function* readCounted(text: string, mentions: readonly Mention[], make: Make): Generator<Mention> {
  const numbers = mentions.filter(
    ({ kind, quantity }) =>
      kind === "number" && quantity && !quantity.isPercent && quantity.unit === undefined,
  );
  const counted = numbers.flatMap((number) => {
    const things = mentions.filter(
      ({ kind, start }) =>
        (kind === "name" || kind === "phrase" || kind === "quoted") &&
        start > number.start &&
        /^\s+["'“‘]?$/.test(text.slice(number.end, start)),
    );
    const thing =
      things.find(({ kind }) => kind === "quoted") ??
      things.find(({ isPart }) => !isPart) ??
      things[0];
    return thing ? [{ number, thing }] : [];
  });
  for (let at = 0; at < counted.length; at++) {
    const row = counted.slice(at, at + 1);
    for (let next = at + 1; next < counted.length; next++) {
      const [last, following] = [row.at(-1), counted[next]];
      if (
        !last ||
        !following ||
        !listGap.test(text.slice(outerEnd(text, last.thing), following.number.start))
      )
        break;
      row.push(following);
    }
    if (row.length < 2) continue;
    const [start, end] = [row[0]?.number.start ?? 0, row.at(-1)?.thing.end ?? 0];
    yield {
      ...make("list", start, end, { items: row.map(({ number }) => number) }),
      isCounted: true,
    };
    yield {
      ...make("list", start, end, { items: row.map(({ thing }) => thing) }),
      isCounted: true,
    };
    at += row.length - 1;
  }
}

/** Behind the quote that closes it. */
const outerEnd = (text: string, { kind, end }: Mention): number =>
  kind === "quoted" ? end + (/^["'”’`»」]/.test(text.slice(end, end + 1)) ? 1 : 0) : end;

function fitsGap(text: string, end: number, start: number, mayBeRange: boolean): boolean {
  const gap = text.slice(end, start).replace(/["'“‘`«「]$/, "");
  return listGap.test(gap) || (mayBeRange && rangeGap.test(gap));
}
