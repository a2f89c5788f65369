import { HallError } from "../base/errors.ts";

/**
 * The YAML subset of front matter: `key: text`, lists, one level of nested keys, folded text. Parsed by hand because agents are
 * listed before a YAML library is loaded, and because edits must not touch other lines.
 */
export interface FrontMatter {
  readonly fields: ReadonlyMap<string, MatterField>;
  readonly body: string;
  /** All lines of the file; the body begins at `bodyLine`. */
  readonly lines: readonly string[];
  readonly bodyLine: number;
}

export interface MatterField {
  readonly value: string | readonly string[] | Readonly<Record<string, string>>;
  /** Counted from 1. */
  readonly line: number;
  /** The line after its last one. */
  readonly end: number;
}

const charactersMax = 1_048_576;

/** Throws INVALID_PARAMS with the line. */
export function parseFrontMatter(text: string): FrontMatter {
  if (text.length > charactersMax)
    throw new HallError("INVALID_PARAMS", "file exceeds the limit of 1 MiB");
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines[0]?.trim() !== "---")
    throw new HallError(
      "INVALID_PARAMS",
      "line 1: missing front matter (expected a line `---`, then name, description and tools)",
    );
  const close = lines.findIndex((line, at) => at > 0 && line.trim() === "---");
  if (close === -1)
    throw new HallError("INVALID_PARAMS", "the front matter is not closed by a line `---`");
  const fields = new Map<string, MatterField>();
  let at = 1;
  while (at < close) {
    if (isEmpty(lines[at])) {
      at++;
      continue;
    }
    const [key, rest] = splitKey(lines[at] ?? "", at);
    if (fields.has(key)) throw fault(at, `duplicate key "${key}"`);
    let end = at + 1;
    while (end < close && isBelow(lines[end] ?? "")) end++;
    while (end > at + 1 && isEmpty(lines[end - 1])) end--;
    fields.set(key, { value: readValue(rest, lines.slice(at + 1, end), at), line: at + 1, end });
    at = end;
  }
  return { fields, body: lines.slice(close + 1).join("\n"), lines, bodyLine: close + 1 };
}

/** The file with changed fields and body; every other line is unchanged. */
export function replaceFields(
  { fields, lines, bodyLine }: FrontMatter,
  changed: Readonly<Record<string, readonly string[]>>,
  body?: string,
): string {
  const kept = [...lines.slice(0, bodyLine)];
  const places = Object.entries(changed).map(([key, written]) => ({
    field: fields.get(key),
    written,
  }));
  for (const { field, written } of places.sort(
    (a, b) => (b.field?.line ?? 0) - (a.field?.line ?? 0),
  )) {
    if (field) kept.splice(field.line - 1, field.end - field.line + 1, ...written);
    else kept.splice(kept.length - 1, 0, ...written);
  }
  return [...kept, ...(body === undefined ? lines.slice(bodyLine) : ["", body, ""])].join("\n");
}

/** Text as one line of YAML. */
export function writeText(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const isPlain =
    /^\p{L}[\p{L}\p{N} ,.;()'/_*-]*$/u.test(line) &&
    !/^(true|false|null|yes|no|on|off)$/i.test(line);
  return isPlain ? line : JSON.stringify(line);
}

function isEmpty(line: string | undefined): boolean {
  return /^\s*(#.*)?$/.test(line ?? "");
}

/** Whether a line belongs to the key above: indented, a list item, or empty. */
function isBelow(line: string): boolean {
  return /^(\s|- |-$)/.test(line) || line === "";
}

function splitKey(line: string, at: number): readonly [key: string, rest: string] {
  const match = /^([A-Za-z][\w-]*):(?:\s+(.*))?$/.exec(line.trimEnd());
  if (!match) throw fault(at, `"${line.trim().slice(0, 60)}" is not \`key: value\``);
  return [match[1] ?? "", (match[2] ?? "").trim()];
}

function readValue(rest: string, below: readonly string[], at: number): MatterField["value"] {
  const filled = below.filter((line) => !isEmpty(line));
  if (/^[>|][+-]?$/.test(rest))
    return filled.map((line) => line.trim()).join(rest.startsWith(">") ? " " : "\n");
  if (rest.startsWith("[")) return readFlow(rest, at);
  if (rest !== "" && !rest.startsWith("#"))
    return [readScalar(rest, at), ...filled.map((line) => line.trim())].join(" ");
  if (filled.length === 0) return "";
  const isList = filled.every((line) => /^\s*-(\s|$)/.test(line));
  if (isList) return filled.map((line) => readScalar(line.trim().slice(1).trim(), at));
  return Object.fromEntries(
    filled.map((line) => {
      const [key, value] = splitKey(line.trim(), at);
      return [key, readScalar(value, at)];
    }),
  );
}

function readFlow(text: string, at: number): readonly string[] {
  if (!text.endsWith("]"))
    throw fault(at, "a list that begins with [ must end with ] on the same line");
  const inside = text.slice(1, -1).trim();
  return inside === "" ? [] : inside.split(",").map((item) => readScalar(item.trim(), at));
}

function readScalar(text: string, at: number): string {
  if (text.startsWith('"')) {
    try {
      return String(JSON.parse(text));
    } catch {
      throw fault(at, "unterminated double quotes");
    }
  }
  if (text.startsWith("'")) {
    if (text.length < 2 || !text.endsWith("'")) throw fault(at, "unterminated single quotes");
    return text.slice(1, -1).replaceAll("''", "'");
  }
  return text.replace(/\s+#.*$/, "");
}

function fault(at: number, problem: string): HallError {
  return new HallError("INVALID_PARAMS", `line ${at + 1}: ${problem}`);
}
