/** How many columns the text takes on a terminal. */
export function widthOf(text: string): number {
  return narrow.test(text) ? text.length : measure(text);
}

/** ASCII, Latin letters, and the signs that our screens draw: one column each. */
const narrow =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u259f\u25cb\u25cf\u2610\u2611]*$/;

/** Until the tables are loaded, every other character counts as wide. */
let measure = (text: string): number => 2 * text.length;

/** Loads the Unicode tables. They take longer than the whole first frame, so they come after it. */
export async function loadWidths(): Promise<void> {
  measure = (await import("string-width")).default;
}

/** At most that wide; a cut text ends with "…". */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return "";
  // Very long lines are not measured to their end.
  const head = text.slice(0, columns * longestCluster);
  if (head.length === text.length && widthOf(head) <= columns) return head;
  return `${takeColumns(head, columns - 1)}…`;
}

/** Exactly that wide. */
export function pad(text: string, columns: number, side: "left" | "right" = "right"): string {
  const shown = cut(text, columns);
  const blank = " ".repeat(Math.max(0, columns - widthOf(shown)));
  return side === "right" ? shown + blank : blank + shown;
}

/** Lines of at most that width, broken at spaces where possible. At least one line. */
export function wrap(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, columns)));
}

/** At most that many lines; a cut text ends with "…". */
export function wrapUpTo(text: string, columns: number, rows: number): readonly string[] {
  const lines = wrap(text, columns);
  if (lines.length <= rows) return lines;
  const last = cut(`${lines[rows - 1]} ${lines[rows]}`, columns - 1).replace(/…?$/, "…");
  return [...lines.slice(0, rows - 1), last];
}

/** The visible part of a long text. Nothing may be approved before its end has been visible. */
export interface TextWindow {
  readonly lines: readonly string[];
  /** The number of the first visible line. */
  readonly from: number;
  /** How many lines are below; 0 once the end is visible. */
  readonly below: number;
  readonly isWhole: boolean;
}

export interface WindowOptions {
  readonly columns: number;
  readonly rows: number;
  /** The line scrolled to. */
  readonly from: number;
}

/** A text that does not fit leaves one row free for `describeRest`. */
export function windowOf(text: string, { columns, rows, from }: WindowOptions): TextWindow {
  const all = wrap(text, columns);
  if (all.length <= rows) return { lines: all, from: 0, below: 0, isWhole: true };
  const room = Math.max(1, rows - 1);
  const first = Math.max(0, Math.min(from, all.length - room));
  const below = all.length - first - room;
  return { lines: all.slice(first, first + room), from: first, below, isWhole: false };
}

export function describeRest({ below }: TextWindow): string {
  if (below === 0) return "end of text; PgUp goes back";
  return `↓ ${below} more line${below === 1 ? "" : "s"}: PgDn`;
}

/** Characters that one grapheme cluster may have. */
const longestCluster = 16;

/** Splits text into grapheme clusters: a letter with its accents, an emoji with all its parts. */
export function clustersOf(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

// Created when it is first needed, since that takes as long as a frame.
let segmenter: Intl.Segmenter | undefined;

function takeColumns(text: string, columns: number): string {
  if (narrow.test(text)) return text.slice(0, columns);
  let taken = "";
  let width = 0;
  for (const cluster of clustersOf(text)) {
    width += widthOf(cluster);
    if (width > columns) break;
    taken += cluster;
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
    const space = rest[head.length] === " " ? head.length : head.lastIndexOf(" ");
    const isAtWord = space > columns / 4;
    lines.push(isAtWord ? head.slice(0, space) : head);
    rest = isAtWord ? rest.slice(space + 1) : rest.slice(head.length);
  }
  return [...lines, rest];
}
