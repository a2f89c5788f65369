export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly line: string;
}

/** With a larger table of lengths, the whole middle counts as replaced. */
const cellsMax = 4_000_000;

/** The lines of both texts in order: kept, removed or added. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;

  const oldMiddle = before.slice(start, before.length - end);
  const newMiddle = after.slice(start, after.length - end);
  return [
    ...withSign(" ", before.slice(0, start)),
    ...diffMiddle(oldMiddle, newMiddle),
    ...withSign(" ", before.slice(before.length - end)),
  ];
}

function withSign(sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] {
  return lines.map((line) => ({ sign, line }));
}

/** Follows the longest common subsequence. */
function diffMiddle(oldLines: readonly string[], newLines: readonly string[]): DiffLine[] {
  const width = newLines.length + 1;
  if ((oldLines.length + 1) * width > cellsMax)
    return [...withSign("-", oldLines), ...withSign("+", newLines)];

  // Each is the length of the longest subsequence of the old lines from `row` on that is also one
  // of the new lines from `column` on.
  const lengths = new Uint32Array((oldLines.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = oldLines.length - 1; row >= 0; row--) {
    for (let column = newLines.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        oldLines[row] === newLines[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }

  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < oldLines.length && column < newLines.length) {
    const [oldLine = "", newLine = ""] = [oldLines[row], newLines[column]];
    if (oldLine === newLine) {
      lines.push({ sign: " ", line: oldLine });
      row++;
      column++;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) {
      lines.push({ sign: "-", line: oldLine });
      row++;
    } else {
      lines.push({ sign: "+", line: newLine });
      column++;
    }
  }
  return [
    ...lines,
    ...withSign("-", oldLines.slice(row)),
    ...withSign("+", newLines.slice(column)),
  ];
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

/**
 * Merges two texts that were changed from the same base: `mine` is the user's, which wins, and
 * `theirs` is the one to merge into it. A part that both changed differently is a conflict.
 */
export function mergeTexts(base: string, mine: string, theirs: string): MergedText {
  const baseLines = base.split("\n");
  const [myLines, theirLines] = [mine.split("\n"), theirs.split("\n")];
  const [inMine, inTheirs] = [positionsIn(baseLines, myLines), positionsIn(baseLines, theirLines)];
  const merged: string[] = [];
  const conflicts: MergeConflict[] = [];
  let [baseAt, myAt, theirAt] = [0, 0, 0];
  while (baseAt < baseLines.length || myAt < myLines.length || theirAt < theirLines.length) {
    if (inMine[baseAt] === myAt && inTheirs[baseAt] === theirAt) {
      merged.push(baseLines[baseAt] ?? "");
      baseAt++;
      myAt++;
      theirAt++;
      continue;
    }

    // The changed part ends at the next line that both sides kept.
    let baseEnd = baseAt;
    while (
      baseEnd < baseLines.length &&
      ((inMine[baseEnd] ?? -1) < myAt || (inTheirs[baseEnd] ?? -1) < theirAt)
    )
      baseEnd++;
    const isLast = baseEnd >= baseLines.length;
    const myEnd = isLast ? myLines.length : (inMine[baseEnd] ?? 0);
    const theirEnd = isLast ? theirLines.length : (inTheirs[baseEnd] ?? 0);

    const basePart = baseLines.slice(baseAt, baseEnd);
    const myPart = myLines.slice(myAt, myEnd);
    const theirPart = theirLines.slice(theirAt, theirEnd);
    const isChangedByMe = !hasSameLines(myPart, basePart);
    merged.push(...(isChangedByMe ? myPart : theirPart));
    if (isChangedByMe && !hasSameLines(theirPart, basePart) && !hasSameLines(myPart, theirPart))
      conflicts.push({ line: myAt + 1, mine: myPart.join("\n"), theirs: theirPart.join("\n") });
    [baseAt, myAt, theirAt] = [baseEnd, myEnd, theirEnd];
  }
  return { text: merged.join("\n"), conflicts };
}

function hasSameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

/** The index of each old line in the new text; -1 if it was removed. */
function positionsIn(oldLines: readonly string[], newLines: readonly string[]): readonly number[] {
  const positions: number[] = [];
  let newIndex = 0;
  for (const { sign } of diffLines(oldLines, newLines)) {
    if (sign === " ") positions.push(newIndex++);
    else if (sign === "-") positions.push(-1);
    else newIndex++;
  }
  return positions;
}
