import {
  createScanner,
  findNodeAtLocation,
  type Node,
  parseTree,
} from "jsonc-parser/lib/esm/main.js";

/**
 * Changes to JSON with comments that leave every other character as it is. The parser's own `modify` reformats lines around a
 * change and moves a comment at the end of one to the property after it.
 */
export function setInJson(text: string, path: readonly string[], value: unknown): string {
  const root = parse(text);
  const style = styleOf(text);
  const existing = root && findNodeAtLocation(root, [...path]);
  if (existing) return splice(text, existing, print(value, indentAt(text, existing.offset), style));
  if (!root) return `${print(nest(path, value), "", style)}${style.eol}`;
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const parent = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
    const [name = "", ...rest] = path.slice(depth);
    if (parent?.type === "object")
      return insertProperty(text, parent, name, nest(rest, value), style);
    // What stands in the way is no object: nothing can be put into it.
    if (parent) return text;
  }
  return text;
}

export function removeFromJson(text: string, path: readonly string[]): string {
  const root = parse(text);
  const property = root && findNodeAtLocation(root, [...path])?.parent;
  const siblings = property?.parent?.children ?? [];
  if (!property) return text;
  const end = property.offset + property.length;
  const comma = findComma(text, end);
  if (comma !== undefined)
    return dropLine(
      text.slice(0, property.offset) + text.slice(end, comma) + text.slice(comma + 1),
      property.offset,
    );
  const previous = siblings[siblings.indexOf(property) - 1];
  const without = text.slice(0, property.offset) + text.slice(end);
  const before = previous && findComma(text, previous.offset + previous.length);
  if (before === undefined) return dropLine(without, property.offset);
  return dropLine(without.slice(0, before) + without.slice(before + 1), property.offset - 1);
}

interface Style {
  readonly indent: string;
  readonly eol: string;
}

function insertProperty(
  text: string,
  object: Node,
  name: string,
  value: unknown,
  style: Style,
): string {
  const closing = object.offset + object.length - 1;
  const children = object.children ?? [];
  const last = children.at(-1);
  const outer = indentAt(text, object.offset);
  const isOneLine = last !== undefined && !text.slice(object.offset, closing).includes("\n");
  const lastEnd = last === undefined ? undefined : last.offset + last.length;
  const trailing = lastEnd === undefined ? undefined : findComma(text, lastEnd);
  if (isOneLine && lastEnd !== undefined) {
    const property = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    return trailing === undefined
      ? `${text.slice(0, lastEnd)}, ${property}${text.slice(lastEnd)}`
      : `${text.slice(0, trailing + 1)} ${property},${text.slice(trailing + 1)}`;
  }
  const [first] = children;
  const inner =
    first && isFirstOnLine(text, first.offset)
      ? indentAt(text, first.offset)
      : outer + style.indent;
  const property = `${style.eol}${inner}${JSON.stringify(name)}: ${print(value, inner, style)}${trailing === undefined ? "" : ","}`;
  // Behind comments that follow the last property: they belong to it.
  const lineStart = text.lastIndexOf("\n", closing - 1);
  const isBraceAlone = lineStart > object.offset && text.slice(lineStart, closing).trim() === "";
  const at = isBraceAlone ? (text[lineStart - 1] === "\r" ? lineStart - 1 : lineStart) : closing;
  const end = isBraceAlone ? "" : `${style.eol}${outer}`;
  const before = isBraceAlone ? text.slice(0, at) : text.slice(0, at).trimEnd();
  const inserted = before + property + end + text.slice(at);
  return lastEnd === undefined || trailing !== undefined
    ? inserted
    : `${inserted.slice(0, lastEnd)},${inserted.slice(lastEnd)}`;
}

function parse(text: string): Node | undefined {
  return parseTree(text, [], { allowTrailingComma: true });
}

function splice(text: string, { offset, length }: Node, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length);
}

function print(value: unknown, indent: string, style: Style): string {
  return JSON.stringify(value, null, style.indent).replaceAll("\n", style.eol + indent);
}

/** The comma behind a value, if one follows; comments may stand between. */
function findComma(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}

/** The line of an offset goes if nothing is left on it. */
function dropLine(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const newline = text.indexOf("\n", offset);
  return newline >= 0 && start > 0 && text.slice(start, newline).trim() === ""
    ? text.slice(0, start) + text.slice(newline + 1)
    : text;
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
}

function styleOf(text: string): Style {
  return {
    indent: /^([ \t]+)"/m.exec(text)?.[1] ?? "  ",
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}
