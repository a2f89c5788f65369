// What a task marks as a value by how it is written: brackets, quotes, links, paths, codes, formulas.

import type { Make, Mention } from "./mention.ts";

/** Objects and lists in brackets, in JSON or with single quotes. */
export function* readJson(text: string, make: Make): Generator<Mention> {
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== "[" && text[at] !== "{") continue;
    const end = findClose(text, at);
    if (end === undefined) continue;
    const json = parse(text.slice(at, end));
    if (json === undefined) continue;
    yield make("json", at, end, { json });
    at = end - 1;
  }
}

function findClose(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "[" || text[at] === "{") depth++;
    if ((text[at] === "]" || text[at] === "}") && --depth === 0) return at + 1;
  }
  return undefined;
}

function parse(text: string): unknown {
  for (const candidate of [text, text.replaceAll("'", '"')]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // Not JSON in this spelling.
    }
  }
  // A list without quotes: [red, green].
  const inner = /^\[([\p{L}\p{N}\s,._-]+)\]$/u.exec(text)?.[1];
  return inner === undefined ? undefined : inner.split(",").map((part) => part.trim());
}

const quotes =
  /(?<![\p{L}\p{N}])(?:"([^"\n]{1,600})"|“([^”]{1,600})”|`([^`\n]{1,600})`|«([^»]{1,600})»|「([^」]{1,600})」|‘([^’\n]{1,300})’|'((?:[^'’\n]|['’](?=\p{L})){1,300})['’](?![\p{L}\p{N}]))/gu;

export function* readQuoted(text: string, make: Make): Generator<Mention> {
  for (const match of text.matchAll(quotes)) {
    const inner = match.slice(1).find((group) => group !== undefined) ?? "";
    const start = match.index + match[0].indexOf(inner);
    yield make("quoted", start, start + inner.length);
  }
}

const link = /\b(?:[a-z][a-z0-9+.-]*:\/\/|www\.)[^\s"'<>`]+[^\s"'<>`.,;:!?)\]}]/giu;
const email = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/giu;
const path =
  /(?<![\p{L}\p{N}:/])(?:~?\.{0,2}\/[\p{L}\p{N}._-]+(?:\/[\p{L}\p{N}._-]*)*|[A-Za-z]:\\[^\s"'<>|]+|[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}._-]+)+|[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.[a-z][a-z0-9]{1,4})(?![\p{L}\p{N}])/gu;
/** Letters with digits, underscores or dashes inside: what only a machine would say. */
const code =
  /(?<![\p{L}\p{N}_.-])(?=[\p{L}\p{N}_-]*[\p{N}_]|\p{Ll}+\p{Lu})(?=[\p{L}\p{N}_-]*\p{L}|\d+[-_]\d)[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*(?![\p{L}\p{N}_])|#[\p{L}\p{N}_-]+|(?<![\p{L}\p{N}])\p{L}(?:#|\+\+)(?![\p{L}\p{N}])|\+?\d[\d() -]{8,}\d|(?<![\p{L}\p{N}.])v?\d+(?:\.\d+){2,}(?![\p{L}\p{N}.])|(?<![\p{L}\p{N}])\p{L}+(?:-\p{L}+)+(?![\p{L}\p{N}])/gu;

export function* readMarked(text: string, make: Make): Generator<Mention> {
  const taken: { start: number; end: number }[] = [];
  for (const match of text.matchAll(located)) {
    const end = match.index + match[0].length;
    const start = end - (match[1] ?? "").length;
    taken.push({ start, end });
    yield make("path", start, end);
  }
  for (const [kind, pattern] of [
    ["link", link],
    ["email", email],
    ["path", path],
    ["code", code],
  ] as const) {
    for (const match of text.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].length];
      if (taken.some((other) => other.start < end && start < other.end)) continue;
      // "and/or", "6/2": no path.
      if (
        kind === "path" &&
        /^\p{L}+\/\p{L}+$|^[\d/]+$|^\d+\.\p{L}+$/u.test(match[0]) &&
        !/^[./~]/.test(match[0])
      )
        continue;
      taken.push({ start, end });
      yield make(kind, start, end);
    }
  }
}

/** "the directory docs": one word after the noun, with nothing behind it that it could belong to. */
const located =
  /\b(?:directory|folder|dir)\s+(?:(?:named|called)\s+)?(?!(?:named|called|and|or|in|to|from|for|with|of|on|as|at|by|is|are|has|that|which|where|if|using|here|please|structure|tree|contents?|listing|names?|path|paths|sizes?|recursively|now|again|first|then)\b)([\p{L}\p{N}_-]+)(?=[.?!]*\s*$|[,;]|\s+(?:and|to|into|in|from|with|for)\b)/giu;

/** `3x^2 + 2x - 1`, `y = x**3`: a letter alone, a sign of arithmetic. */
export function* readFormulas(text: string, make: Make): Generator<Mention> {
  for (const match of text.matchAll(
    /(?<![\p{L}\p{N}])(?:[yf](?:\(x\))?\s*=\s*)?((?:(?:sin|cos|tan|exp|log|sqrt)\([^)]*\)|\d*\.?\d*[a-z](?![\p{L}])(?:\([a-z]\))?|\d+(?:\.\d+)?|\([^()]{1,40}\))(?:\s*(?:\*\*|[-+*/^])\s*(?:(?:sin|cos|tan|exp|log|sqrt)\([^)]*\)|\d*\.?\d*[a-z](?!\p{L})|\d+(?:\.\d+)?|\([^()]{1,40}\)))+)(?![\p{L}\p{N}])/gu,
  )) {
    const inner = match[1] ?? "";
    if (!/[a-z(]/.test(inner) && !/[*^+/]/.test(inner)) continue;
    const start = match.index + match[0].length - inner.length;
    yield make("formula", start, start + inner.length);
  }
}
