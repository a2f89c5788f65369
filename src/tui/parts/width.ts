import stringWidth from "string-width";

/** Texts as wide as they are on a terminal. Ink measures the same way. */

/** How many columns it takes. */
export function widthOf(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** At most that wide; what was cut leaves "…". */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return "";
  // A character takes a column or none; very long lines are not measured to their end.
  const head =
    text.length > columns * longestCluster ? text.slice(0, columns * longestCluster) : text;
  if (head.length === text.length && widthOf(head) <= columns) return head;
  return `${takeColumns(head, columns - 1)}…`;
}

/** Exactly that wide. */
export function pad(text: string, columns: number, side: "left" | "right" = "right"): string {
  const shown = cut(text, columns);
  const blank = " ".repeat(Math.max(0, columns - widthOf(shown)));
  return side === "right" ? shown + blank : blank + shown;
}

/** Lines at most that wide, broken at spaces where there are some. Always at least one. */
export function wrap(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, columns)));
}

/** No more lines than that; what was left out leaves "…". */
export function wrapUpTo(text: string, columns: number, rows: number): readonly string[] {
  const lines = wrap(text, columns);
  if (lines.length <= rows) return lines;
  return [
    ...lines.slice(0, rows - 1),
    cut(`${lines[rows - 1]} ${lines[rows]}`, columns - 1).replace(/…?$/, "…"),
  ];
}

const longestCluster = 16;

function isPlain(text: string): boolean {
  return !/[^ -~]/.test(text);
}

const clusters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function takeColumns(text: string, columns: number): string {
  if (isPlain(text)) return text.slice(0, columns);
  let taken = "";
  let width = 0;
  for (const { segment } of clusters.segment(text)) {
    width += stringWidth(segment);
    if (width > columns) break;
    taken += segment;
  }
  return taken;
}

function wrapLine(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let rest = line;
  while (
    rest.length > columns / 2 &&
    (rest.length > columns * longestCluster || widthOf(rest) > columns)
  ) {
    const head = takeColumns(rest.slice(0, columns * longestCluster), columns) || rest.slice(0, 1);
    const isAtSpace = rest[head.length] === " ";
    const space = isAtSpace ? head.length : head.lastIndexOf(" ");
    const isWord = space > columns / 4;
    lines.push(isWord ? head.slice(0, space) : head);
    rest = isWord ? rest.slice(space + 1) : rest.slice(head.length);
  }
  return [...lines, rest];
}
