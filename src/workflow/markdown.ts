/** A heading and the lines below it. Lines inside code fences and comments are not headings. */
export interface MarkdownSection {
  readonly title: string;
  readonly level: number;
  /** The line of the heading, and the line after the section, which includes its sub-sections. */
  readonly from: number;
  readonly to: number;
}

export function sectionsOf(text: string): readonly MarkdownSection[] {
  const lines = text.split("\n");
  const heads: { title: string; level: number; from: number }[] = [];
  let fence: string | undefined;
  let isComment = false;
  for (const [at, line] of lines.entries()) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || fence === mark))
      fence = fence === undefined ? mark : undefined;
    if (fence === undefined && !isComment && line.includes("<!--")) isComment = true;
    const head = fence === undefined && !isComment ? /^(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) : null;
    if (isComment && line.includes("-->")) isComment = false;
    if (head) heads.push({ title: head[2] ?? "", level: head[1]?.length ?? 1, from: at });
  }
  return heads.map((head, at) => ({
    ...head,
    to: heads.slice(at + 1).find(({ level }) => level <= head.level)?.from ?? lines.length,
  }));
}

export function findSection(
  text: string,
  title: RegExp,
  within?: MarkdownSection,
): MarkdownSection | undefined {
  return sectionsOf(text).find(
    (section) =>
      title.test(section.title) &&
      (!within || (section.from > within.from && section.to <= within.to)),
  );
}

/** The lines below a heading. */
export function bodyOf(text: string, section: MarkdownSection): string {
  return text
    .split("\n")
    .slice(section.from + 1, section.to)
    .join("\n");
}

/** Adds lines at the end of a section's own text, before its first sub-section. */
export function appendTo(text: string, section: MarkdownSection, added: readonly string[]): string {
  const lines = text.split("\n");
  const inner = sectionsOf(text).find(({ from, to }) => from > section.from && to <= section.to);
  let at = inner?.from ?? section.to;
  while (at > section.from + 1 && (lines[at - 1] ?? "").trim() === "") at--;
  const isList = /^\s*([-*]|\d+\.)\s/.test(lines[at - 1] ?? "");
  const before =
    at === section.from + 1 || (!isList && /^\s*([-*]|\d+\.)\s/.test(added[0] ?? "")) ? [""] : [];
  return [...lines.slice(0, at), ...before, ...added, ...lines.slice(at)].join("\n");
}

/** Adds lines after everything in a section, sub-sections included. */
export function appendToEnd(
  text: string,
  section: MarkdownSection,
  added: readonly string[],
): string {
  const lines = text.split("\n");
  let at = section.to;
  while (at > section.from + 1 && (lines[at - 1] ?? "").trim() === "") at--;
  return [...lines.slice(0, at), ...added, ...lines.slice(at)].join("\n");
}

/** The top-level bullets of a text. */
export function bulletsOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => /^[-*]\s+(.+)$/.exec(line)?.[1]?.trim())
    .filter((line) => line !== undefined);
}

/** Foreign text for a table cell or a bullet. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
}

export function fencedLines(lines: readonly string[]): ReadonlySet<number> {
  const inside = new Set<number>();
  let isFenced = false;
  for (const [at, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    if (isFenced) inside.add(at);
  }
  return inside;
}
