/** Compares and merges texts by lines. */
export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly line: string;
}

/** Above this size of the table, the middle counts as replaced. */
const cellsMax = 4_000_000;

/** The lines of both texts in order: kept, removed or added. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;

  const old = before.slice(start, before.length - end);
  const young = after.slice(start, after.length - end);
  return [
    ...signed(" ", before.slice(0, start)),
    ...diffMiddle(old, young),
    ...signed(" ", before.slice(before.length - end)),
  ];
}

function signed(sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] {
  return lines.map((line) => ({ sign, line }));
}

/** Follows the longest common subsequence. */
function diffMiddle(old: readonly string[], young: readonly string[]): DiffLine[] {
  const width = young.length + 1;
  if ((old.length + 1) * width > cellsMax) return [...signed("-", old), ...signed("+", young)];

  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = young.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === young[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }

  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < young.length) {
    const [removed = "", added = ""] = [old[row], young[column]];
    if (removed === added) {
      lines.push({ sign: " ", line: removed });
      row++;
      column++;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      lines.push({ sign: "-", line: removed });
      row++;
    } else {
      lines.push({ sign: "+", line: added });
      column++;
    }
  }
  return [...lines, ...signed("-", old.slice(row)), ...signed("+", young.slice(column))];
}

export interface MergedText {
  /** Conflicts have the lines of `mine`. */
  readonly text: string;
  readonly conflicts: readonly MergeConflict[];
}

export interface MergeConflict {
  /** The first line in `mine`, from 1. */
  readonly line: number;
  readonly mine: string;
  readonly theirs: string;
}

/** Merges two texts that were changed from the same base. A part that both changed differently is a conflict. */
export function mergeTexts(base: string, mine: string, theirs: string): MergedText {
  const [old, left, right] = [base.split("\n"), mine.split("\n"), theirs.split("\n")];
  const [inLeft, inRight] = [positionsIn(old, left), positionsIn(old, right)];
  const merged: string[] = [];
  const conflicts: MergeConflict[] = [];
  let [at, l, r] = [0, 0, 0];
  while (at < old.length || l < left.length || r < right.length) {
    if (at < old.length && inLeft[at] === l && inRight[at] === r) {
      merged.push(old[at] ?? "");
      at++;
      l++;
      r++;
      continue;
    }

    // The changed part ends at the next line that both sides kept.
    let next = at;
    while (next < old.length && ((inLeft[next] ?? -1) < l || (inRight[next] ?? -1) < r)) next++;
    const isLast = next >= old.length;
    const leftEnd = isLast ? left.length : (inLeft[next] ?? 0);
    const rightEnd = isLast ? right.length : (inRight[next] ?? 0);
    const was = old.slice(at, next);
    const ours = left.slice(l, leftEnd);
    const others = right.slice(r, rightEnd);
    merged.push(...(isSame(ours, was) ? others : ours));
    if (!isSame(ours, was) && !isSame(others, was) && !isSame(ours, others))
      conflicts.push({ line: l + 1, mine: ours.join("\n"), theirs: others.join("\n") });
    [at, l, r] = [next, leftEnd, rightEnd];
  }
  return { text: merged.join("\n"), conflicts };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, at) => line === b[at]);
}

/** Where each line of the old text is in the new one; -1 if it was removed. */
function positionsIn(old: readonly string[], young: readonly string[]): readonly number[] {
  const positions: number[] = [];
  let at = 0;
  for (const { sign } of diffLines(old, young)) {
    if (sign === " ") positions.push(at++);
    else if (sign === "-") positions.push(-1);
    else at++;
  }
  return positions;
}
