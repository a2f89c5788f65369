import { paint, visibleLines } from "./print.ts";

const contextLines = 2;

/** What becomes of a text, line by line, with a little of what stays around it. */
export function diffTexts(before: string, after: string): string {
  const [old, young] = [linesOf(before), linesOf(after)];
  const marks = align(old, young);
  const isNear = marks.map((_, at) => marks.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ sign }) => sign !== " "));
  const shown = marks.flatMap(({ sign, line }, at) => {
    if (!isNear[at]) return isNear[at - 1] ? ["  …"] : [];
    const text = `${sign} ${visibleLines(line)}`;
    return [sign === "+" ? paint("green", text) : sign === "-" ? paint("red", text) : text];
  });
  return shown.join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

interface Marked {
  readonly sign: " " | "+" | "-";
  readonly line: string;
}

/** The longest run of lines both have, in order; what only one has is taken out or put in. Ends that are the same are not looked at twice. */
function align(old: readonly string[], young: readonly string[]): Marked[] {
  let start = 0;
  while (start < old.length && start < young.length && old[start] === young[start]) start++;
  let end = 0;
  while (end < old.length - start && end < young.length - start && old[old.length - 1 - end] === young[young.length - 1 - end]) end++;
  const same = (lines: readonly string[]): Marked[] => lines.map((line) => ({ sign: " ", line }));
  return [
    ...same(old.slice(0, start)),
    ...alignMiddle(old.slice(start, old.length - end), young.slice(start, young.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

function alignMiddle(old: readonly string[], young: readonly string[]): Marked[] {
  const width = young.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = young.length - 1; column >= 0; column--) {
      lengths[row * width + column] = old[row] === young[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const marks: Marked[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < young.length) {
    if (row < old.length && column < young.length && old[row] === young[column]) {
      marks.push({ sign: " ", line: old[row] ?? "" });
      row++;
      column++;
    } else if (column >= young.length || (row < old.length && at(row + 1, column) >= at(row, column + 1))) marks.push({ sign: "-", line: old[row++] ?? "" });
    else marks.push({ sign: "+", line: young[column++] ?? "" });
  }
  return marks;
}
