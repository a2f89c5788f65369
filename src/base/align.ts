/** One line of two texts laid side by side: in both, only in the new one, or only in the old one. */
export interface AlignedLine {
  readonly sign: " " | "+" | "-";
  readonly line: string;
}

/** Past this the middle counts as replaced: nobody waits for a table of a billion cells. */
const cellsMax = 4_000_000;

/** The longest run of lines both have, in order; what only one has is taken out or put in. Ends that are the same are not looked at twice. */
export function alignLines(old: readonly string[], young: readonly string[]): AlignedLine[] {
  let start = 0;
  while (start < old.length && start < young.length && old[start] === young[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < young.length - start &&
    old[old.length - 1 - end] === young[young.length - 1 - end]
  )
    end++;
  const same = (lines: readonly string[]): AlignedLine[] =>
    lines.map((line) => ({ sign: " ", line }));
  return [
    ...same(old.slice(0, start)),
    ...alignMiddle(old.slice(start, old.length - end), young.slice(start, young.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

function alignMiddle(old: readonly string[], young: readonly string[]): AlignedLine[] {
  const width = young.length + 1;
  if ((old.length + 1) * width > cellsMax) {
    return [
      ...old.map((line) => ({ sign: "-", line }) as const),
      ...young.map((line) => ({ sign: "+", line }) as const),
    ];
  }
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
  const lines: AlignedLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < young.length) {
    if (row < old.length && column < young.length && old[row] === young[column]) {
      lines.push({ sign: " ", line: old[row] ?? "" });
      row++;
      column++;
    } else if (
      column >= young.length ||
      (row < old.length && at(row + 1, column) >= at(row, column + 1))
    )
      lines.push({ sign: "-", line: old[row++] ?? "" });
    else lines.push({ sign: "+", line: young[column++] ?? "" });
  }
  return lines;
}
