// The ESM build by its path: the package's entry is UMD, whose inner `require` a bundler cannot follow.
import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser/lib/esm/main.js";
import { isObject } from "../base/json.ts";
import { ConfigError, fieldOf, type Path, type Problem, shownProblems } from "./error.ts";
import { type ConfigFile, depthMax, partsMax } from "./files.ts";
import type { ParsedFile } from "./layer.ts";

/** A config file in JSON with comments and trailing commas. Throws ConfigError, also for duplicate keys. */
export function parseJsonFile(file: ConfigFile): ParsedFile {
  const excess = findExcess(file.text);
  if (excess) throw new ConfigError(`${placeIn(file, excess.offset)}: ${excess.text}`);
  const { root, locate } = parseJsonText(file);
  const faults: Fault[] = [];
  const tree = readValue(root, [], faults);
  if (faults.length > 0)
    throw new ConfigError(
      shownProblems(faults).map(
        ({ path, offset, text }) => `${placeIn(file, offset)}: ${fieldOf(path)}: ${text}`,
      ),
    );
  if (!isObject(tree))
    throw new ConfigError(
      `${placeIn(file, root.offset)}: must be an object; expected { … }; for example {"expose": "tools"}`,
    );
  return { tree, locate };
}

interface Fault extends Problem {
  readonly offset: number;
}

/** The syntax tree of a file of any size. Throws ConfigError. */
export function parseJsonText(file: ConfigFile): Pick<ParsedFile, "locate"> & { root: Node } {
  const errors: ParseError[] = [];
  const root = parseTree(file.text, errors, { allowTrailingComma: true });
  const [first] = errors;
  // Errors after the first one are mostly consequences of it.
  if (first)
    throw new ConfigError(
      `${placeIn(file, first.offset)}: not valid JSON; ${wordsOf(first)}; fix it there, comments and trailing commas are allowed`,
    );
  if (!root)
    throw new ConfigError(
      `${placeIn(file, 0)}: not valid JSON; the file is empty; write {} or remove it`,
    );
  return { root, locate: (path) => placeIn(file, offsetOf(root, path)) };
}

/**
 * Checked before parsing: the parser is recursive and could overflow the stack, and checking a
 * million values takes seconds.
 */
function findExcess(text: string): { readonly offset: number; readonly text: string } | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  let count = 0;
  // Only the end token has no length.
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    const [first = ""] = text.slice(offset, offset + 1);
    if ("{[".includes(first)) depth++;
    else if ("}]".includes(first)) depth--;
    if (depth > depthMax)
      return {
        offset,
        text: `nested too deeply; expected at most ${depthMax} levels; remove some`,
      };
    if (++count > partsMax)
      return {
        offset,
        text: `too much; expected at most ${partsMax} values and separators; remove everything that is not config`,
      };
  }
  return undefined;
}

/** The value of a node. Duplicate and unsafe keys are added to the faults. */
export function readValue(node: Node, path: Path = [], faults: Fault[] = []): unknown {
  const { type, children = [] } = node;
  if (type === "array")
    return children.map((child, index) => readValue(child, [...path, index], faults));
  if (type !== "object") return node.value;
  const values = new Map<string, unknown>();
  for (const [key, value] of children.map((property) => property.children ?? [])) {
    if (!key || !value) continue;
    const name = String(key.value);
    const inner = [...path, name];
    const fault = { path: inner, offset: key.offset };
    if (values.has(name))
      faults.push({ ...fault, text: "duplicate key; expected once; remove one of them" });
    if (name === "__proto__")
      faults.push({ ...fault, text: "cannot be a key; expected a name; rename it" });
    values.set(name, readValue(value, inner, faults));
  }
  return Object.fromEntries(values);
}

/** The location of the key if there is one, otherwise of the value. */
function offsetOf(root: Node, path: Path): number {
  const node = findNodeAtLocation(
    root,
    path.map((key) => (typeof key === "number" ? key : String(key))),
  );
  return (node?.parent?.type === "property" ? node.parent : (node ?? root)).offset;
}

function placeIn({ file, text }: ConfigFile, offset: number): string {
  return `${file}:${positionOf(text, offset)}`;
}

/** "3:5": line and column, counted from one. */
export function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split("\n").length}:${offset - before.lastIndexOf("\n")}`;
}

function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .toLowerCase();
}
