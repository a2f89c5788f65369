import { alignLines } from "./align.ts";

/** A text that two have changed since they had the same. Where only one changed something, that counts; where both did, it is a conflict. */
export interface Merged {
  /** Where there are conflicts, with `mine` in their place. */
  readonly text: string;
  readonly conflicts: readonly Conflict[];
}

export interface Conflict {
  /** In `mine`, from 1 on. */
  readonly line: number;
  readonly mine: string;
  readonly theirs: string;
}

export function mergeTexts(base: string, mine: string, theirs: string): Merged {
  const [old, left, right] = [linesOf(base), linesOf(mine), linesOf(theirs)];
  const [inLeft, inRight] = [matchesOf(old, left), matchesOf(old, right)];
  const merged: string[] = [];
  const conflicts: Conflict[] = [];
  let [at, l, r] = [0, 0, 0];
  while (at < old.length || l < left.length || r < right.length) {
    if (at < old.length && inLeft[at] === l && inRight[at] === r) {
      merged.push(old[at] ?? "");
      at++;
      l++;
      r++;
      continue;
    }
    let next = at;
    while (next < old.length && ((inLeft[next] ?? -1) < l || (inRight[next] ?? -1) < r)) next++;
    const [untilLeft, untilRight] =
      next < old.length ? [inLeft[next] ?? 0, inRight[next] ?? 0] : [left.length, right.length];
    const chunk = {
      old: old.slice(at, next).join("\n"),
      left: left.slice(l, untilLeft),
      right: right.slice(r, untilRight),
    };
    const [ours, others] = [chunk.left.join("\n"), chunk.right.join("\n")];
    // An empty chunk and one of a single empty line read alike when joined.
    const isSame = (a: readonly string[], b: number, text: string, other: string): boolean =>
      a.length === b && text === other;
    if (isSame(chunk.left, next - at, ours, chunk.old)) merged.push(...chunk.right);
    else {
      merged.push(...chunk.left);
      if (!isSame(chunk.right, next - at, others, chunk.old) && ours !== others)
        conflicts.push({ line: l + 1, mine: ours, theirs: others });
    }
    [at, l, r] = [next, untilLeft, untilRight];
  }
  return { text: merged.join("\n"), conflicts };
}

function linesOf(text: string): readonly string[] {
  return text.split("\n");
}

/** Where each line of the old text stands in the new one; -1 where it is gone. */
function matchesOf(old: readonly string[], young: readonly string[]): readonly number[] {
  const places: number[] = [];
  let at = 0;
  for (const { sign } of alignLines(old, young)) {
    if (sign === " ") places.push(at++);
    else if (sign === "-") places.push(-1);
    else at++;
  }
  return places;
}
