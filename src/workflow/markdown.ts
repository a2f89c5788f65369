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
  const fenced = fencedLines(lines);
  const heads: { title: string; level: number; from: number }[] = [];
  let isComment = false;
  for (const [at, line] of lines.entries()) {
    if (fenced.has(at)) continue;
    isComment ||= line.includes("<!--");
    const [, marks, title = ""] = /^(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) ?? [];
    if (marks !== undefined && !isComment) heads.push({ title, level: marks.length, from: at });
    if (line.includes("-->")) isComment = false;
  }
  return heads.map((head, at) => ({
    ...head,
    to: heads.slice(at + 1).find(({ level }) => level <= head.level)?.from ?? lines.length,
  }));
}

/** The numbers of the lines in code fences. A fence ends with the mark it began with. */
export function fencedLines(lines: readonly string[]): ReadonlySet<number> {
  const inside = new Set<number>();
  let fence: string | undefined;
  for (const [at, line] of lines.entries()) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (fence !== undefined || mark !== undefined) inside.add(at);
    if (fence === undefined) fence = mark;
    else if (fence === mark) fence = undefined;
  }
  return inside;
}

export function findSection(text: string, title: RegExp): MarkdownSection | undefined {
  return sectionsOf(text).find((section) => title.test(section.title));
}

/** The lines below a heading. */
export function bodyOf(text: string, section: MarkdownSection): string {
  return text
    .split("\n")
    .slice(section.from + 1, section.to)
    .join("\n");
}

/** Empty if the text has no such heading. */
export function bodyUnder(text: string, title: RegExp): string {
  const section = findSection(text, title);
  return section ? bodyOf(text, section).trim() : "";
}

/** Adds lines at the end of a section, after its sub-sections. A list stays one list. */
export function appendTo(text: string, section: MarkdownSection, added: readonly string[]): string {
  const lines = text.split("\n");
  let at = section.to;
  while (at > section.from + 1 && (lines[at - 1] ?? "").trim() === "") at--;
  const isList = (line = ""): boolean => /^\s*([-*]|\d+\.)\s/.test(line);
  const gap = isList(added[0]) && !isList(lines[at - 1]) ? [""] : [];
  return [...lines.slice(0, at), ...gap, ...added, ...lines.slice(at)].join("\n");
}

/** The top-level bullets of a text. */
export function bulletsOf(text: string): readonly string[] {
  return [...text.matchAll(/^[-*]\s+(.+)$/gm)].map(([, bullet = ""]) => bullet.trim());
}

/** Foreign text for a table cell or a bullet. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
}
