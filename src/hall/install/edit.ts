import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  createScanner,
  findNodeAtLocation,
  type Node,
  parseTree,
} from "jsonc-parser/lib/esm/main.js";
import { stringify } from "smol-toml";
import { isObject, type JsonObject } from "../../base/json.ts";
import { ConfigError, type Path } from "../../config/error.ts";
import { projectFilesOf, readConfigFiles, userFileOf } from "../../config/files.ts";
import { fieldAt, parseConfigFile } from "../../config/layer.ts";
import { keysOf } from "../../config/toml.ts";
import { type ConfigDocument, type ImportPlaces, parseDocument } from "../import/document.ts";
import type { ImportedServer } from "../import/import.ts";

/** A change to the map of servers in a file. */
export interface Edit {
  /** The path of the map. */
  readonly at: Path;
  readonly put?: JsonObject;
  readonly remove?: readonly string[];
}

/**
 * Returns the text after the edit. Everything else stays as it is, including comments. The new text is parsed again to
 * check that it has exactly the intended content. Throws ConfigError if the edit is not possible.
 */
export async function editDocument(
  document: ConfigDocument,
  { at, put = {}, remove = [] }: Edit,
): Promise<string> {
  if (!isObject(document.tree))
    throw new ConfigError(`${document.file}: the content is not an object`);
  const path = at.map(String);
  const mark = document.text.startsWith("\ufeff") ? "\ufeff" : "";
  let text = document.text.slice(mark.length);
  const { removeOne, setOne } = editorOf(document);
  for (const name of remove) text = removeOne(text, [...path, name]);
  for (const [name, entry] of Object.entries(put)) text = setOne(text, [...path, name], entry);
  const after = await parseDocument(document.file, mark + text).catch(() => undefined);
  const map = fieldAt(document.tree, at);
  const kept = Object.entries(isObject(map) ? map : {}).filter(([name]) => !remove.includes(name));
  if (
    !after ||
    !isDeepStrictEqual(
      plain(after.tree),
      plain(withMap(document.tree, path, { ...Object.fromEntries(kept), ...put })),
    )
  ) {
    throw new ConfigError(
      `${document.locate(at)}: cannot edit this file without other changes; edit it by hand`,
    );
  }
  return mark + text;
}

interface Editor {
  removeOne(text: string, path: readonly string[]): string;
  setOne(text: string, path: readonly string[], entry: unknown): string;
}

function editorOf({ file, format }: ConfigDocument): Editor {
  if (format === "json") return { removeOne: removeFromJson, setOne: setInJson };
  if (format === "yaml")
    throw new ConfigError(`${file}: editing YAML is not supported; edit it by hand`);
  return {
    removeOne: removeFromToml,
    setOne: (text, path, entry) =>
      appendToToml(removeFromToml(text, path), stringify(nest(path, entry)).trim()),
  };
}

function withMap(tree: JsonObject, [key, ...rest]: readonly string[], map: JsonObject): JsonObject {
  if (key === undefined) return map;
  const inner = tree[key];
  return { ...tree, [key]: withMap(isObject(inner) ? inner : {}, rest, map) };
}

/** Without empty maps, because TOML loses them when their last table is removed. */
function plain(value: unknown): unknown {
  const read: unknown = JSON.parse(JSON.stringify(value));
  return dropEmpty(read);
}

function dropEmpty(value: unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, dropEmpty(inner)] as const);
  return Object.fromEntries(
    entries.filter(([, inner]) => !(isObject(inner) && Object.keys(inner).length === 0)),
  );
}

/** A table at the end cannot change the meaning of what is before it. */
function appendToToml(text: string, table: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const start = text.trimEnd();
  return `${start}${start === "" ? "" : eol + eol}${table.replaceAll("\n", eol)}${eol}`;
}

/** Removes a table and its sub-tables, each from its header to the next one. */
function removeFromToml(text: string, path: readonly string[]): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let isInside = false;
  let isDropped = false;
  for (const line of lines) {
    const keys = headerOf(line);
    if (keys) {
      isInside = path.every((key, index) => keys[index] === key);
      isDropped ||= isInside;
      if (isInside && kept.at(-1)?.startsWith("# from ")) kept.pop();
    }
    if (!isInside) kept.push(line);
  }
  return isDropped ? kept.join("").replace(/(\r?\n){3,}$/, "$1") : text;
}

function headerOf(line: string): string[] | undefined {
  const [, inner] =
    /^\s*\[\[?\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*\]\]?\s*(?:#.*)?$/.exec(
      line.trimEnd(),
    ) ?? [];
  return inner === undefined ? undefined : keysOf(inner);
}

/**
 * Leaves every other character as it is. The parser's own `modify` reformats the lines around a
 * change and moves a comment at the end of a line to the next property.
 */
export function setInJson(text: string, path: readonly string[], value: unknown): string {
  const root = parseJson(text);
  const style = styleOf(text);
  const existing = root && findNodeAtLocation(root, [...path]);
  if (existing) return splice(text, existing, print(value, indentAt(text, existing.offset), style));
  if (!root) return `${print(nest(path, value), "", style)}${style.eol}`;
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const parent = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
    const [name = "", ...rest] = path.slice(depth);
    if (parent?.type === "object")
      return insertProperty(text, parent, name, nest(rest, value), style);
    // Nothing can be added to a value that is not an object.
    if (parent) return text;
  }
  return text;
}

export function removeFromJson(text: string, path: readonly string[]): string {
  const root = parseJson(text);
  const property = root && findNodeAtLocation(root, [...path])?.parent;
  const siblings = property?.parent?.children ?? [];
  if (!property) return text;
  const [, origin] =
    /(?:^|\n)([ \t]*\/\/ from [^\n]+\n[ \t]*)$/.exec(text.slice(0, property.offset)) ?? [];
  // The line that `init` writes above an entry.
  if (origin !== undefined)
    return removeFromJson(
      text.slice(0, property.offset - origin.length) + text.slice(property.offset),
      path,
    );
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
  // After comments that follow the last property, because they belong to it.
  const lineStart = text.lastIndexOf("\n", closing - 1);
  const isBraceAlone = lineStart > object.offset && text.slice(lineStart, closing).trim() === "";
  const lineEnd = text[lineStart - 1] === "\r" ? lineStart - 1 : lineStart;
  const at = isBraceAlone ? lineEnd : closing;
  const end = isBraceAlone ? "" : `${style.eol}${outer}`;
  const before = isBraceAlone ? text.slice(0, at) : text.slice(0, at).trimEnd();
  const inserted = before + property + end + text.slice(at);
  return lastEnd === undefined || trailing !== undefined
    ? inserted
    : `${inserted.slice(0, lastEnd)},${inserted.slice(lastEnd)}`;
}

function parseJson(text: string): Node | undefined {
  return parseTree(text, [], { allowTrailingComma: true });
}

function splice(text: string, { offset, length }: Node, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length);
}

function print(value: unknown, indent: string, style: Style): string {
  return JSON.stringify(value, null, style.indent).replaceAll("\n", style.eol + indent);
}

/** The comma after a value, if there is one; comments may be in between. */
function findComma(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}

/** Removes the line of an offset if it is empty. */
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

function nest<T>(path: readonly string[], value: T): T | JsonObject {
  return path.reduceRight<T | JsonObject>((inner, key) => ({ [key]: inner }), value);
}

/** The project's config file. */
export interface ProjectFile {
  readonly file: string;
  /** Undefined if there is no file. */
  readonly text: string | undefined;
  /** The servers in it and in the user's own config. */
  readonly servers: JsonObject;
}

/** Throws ConfigError with file and line for an invalid file, which is never overwritten. */
export async function readProjectFile({ folder, env }: ImportPlaces): Promise<ProjectFile> {
  const places = projectFilesOf(folder);
  const userFile = userFileOf(env);
  const files = await readConfigFiles(userFile, places);
  const servers: JsonObject = {};
  for (const { file, text } of files) {
    const { tree, locate } = await parseConfigFile({ file, text });
    const { mcpServers = {} } = tree;
    if (!isObject(mcpServers))
      throw new ConfigError(`${locate(["mcpServers"])}: mcpServers must be an object`);
    Object.assign(servers, mcpServers);
  }
  const own = files.find(({ file }) => file !== userFile);
  return { file: own?.file ?? places[0] ?? "guildhall.json", text: own?.text, servers };
}

/** A server to write, with its origin if another client has it. */
type NewServer = Pick<ImportedServer, "name" | "server"> &
  Partial<Pick<ImportedServer, "sightings" | "notes">>;

/** The text of a new file, or of the existing one with these servers added. */
export async function addToProjectFile(
  { file, text }: ProjectFile,
  servers: readonly NewServer[],
  isNew = text === undefined,
): Promise<string> {
  if (isNew || text === undefined)
    return file.endsWith(".toml") ? newToml(servers) : newJson(file, servers);
  if (servers.length === 0) return text;
  const document = await parseDocument(file, text);
  return editDocument(document, {
    at: ["mcpServers"],
    put: Object.fromEntries(servers.map(({ name, server }) => [name, server])),
  });
}

const schemaFile = "./node_modules/guildhall/guildhall.schema.json";

function newJson(file: string, servers: readonly NewServer[]): string {
  // An editor warns of a schema that is not there.
  const hasSchema = existsSync(join(dirname(file), schemaFile));
  const entries = servers.map((imported, index) => {
    const value = JSON.stringify(imported.server, null, 2).replaceAll("\n", "\n    ");
    return `${commentOf(imported, "    //")}    ${JSON.stringify(imported.name)}: ${value}${index < servers.length - 1 ? "," : ""}\n`;
  });
  const example = `    // "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] }\n`;
  return `// Guildhall: the servers behind one hall, for every MCP client of this project.
// Comments and trailing commas are allowed; docs/config.md of the package has every field.
{
${hasSchema ? `  "$schema": "${schemaFile}",\n\n` : ""}  // The map every MCP client uses. \${NAME} is a secret (\`guildhall secret set NAME\`) or an environment variable.
  "mcpServers": {
${entries.length > 0 ? entries.join("") : example}  }
}
`;
}

function newToml(servers: readonly NewServer[]): string {
  const tables = servers.map(
    (imported) =>
      `${commentOf(imported, "#")}${stringify({ mcpServers: { [imported.name]: imported.server } }).trim()}\n`,
  );
  return `# Guildhall: the servers behind one hall, for every MCP client of this project.\n# \${NAME} is a secret (\`guildhall secret set NAME\`) or an environment variable.\n\n${tables.join("\n")}`;
}

/** Where a server comes from, without characters that could end the comment. */
function commentOf({ sightings, notes = [] }: NewServer, start: string): string {
  if (!sightings) return "";
  const [{ client, place }] = sightings;
  const text = [`from ${client.name}: ${place.replace(/:\d+:\d+$/, "")}`, ...notes].join("; ");
  return `${start} ${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "?")}\n`;
}
