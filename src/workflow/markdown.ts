/** A document by its headings. Lines inside code fences and comments are no headings. */
export interface Section {
  readonly title: string;
  readonly level: number;
  /** The line of the heading, and the one after its last; sections inside belong to it. */
  readonly from: number;
  readonly to: number;
}

export function sectionsOf(text: string): readonly Section[] {
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

export function findSection(text: string, title: RegExp, within?: Section): Section | undefined {
  return sectionsOf(text).find(
    (section) =>
      title.test(section.title) &&
      (!within || (section.from > within.from && section.to <= within.to)),
  );
}

/** What stands under a heading, without it. */
export function bodyOf(text: string, section: Section): string {
  return text
    .split("\n")
    .slice(section.from + 1, section.to)
    .join("\n");
}

/** Puts lines at the end of a section's own text: before the sections inside it, behind its last line that says something. */
export function appendTo(text: string, section: Section, added: readonly string[]): string {
  const lines = text.split("\n");
  const inner = sectionsOf(text).find(({ from, to }) => from > section.from && to <= section.to);
  let at = inner?.from ?? section.to;
  while (at > section.from + 1 && (lines[at - 1] ?? "").trim() === "") at--;
  const isList = /^\s*([-*]|\d+\.)\s/.test(lines[at - 1] ?? "");
  const before =
    at === section.from + 1 || (!isList && /^\s*([-*]|\d+\.)\s/.test(added[0] ?? "")) ? [""] : [];
  return [...lines.slice(0, at), ...before, ...added, ...lines.slice(at)].join("\n");
}

/** Bullets of a text, each on one line, without nested ones. */
export function bulletsOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => /^[-*]\s+(.+)$/.exec(line)?.[1]?.trim())
    .filter((line) => line !== undefined);
}

/** Text of others in a table's cell or a bullet. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
}
