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
import { ConfigError, fieldOf, type Path, type Problem, tellable } from "./error.ts";
import { type ConfigFile, depthMax, partsMax } from "./files.ts";
import type { ParsedFile } from "./layer.ts";

/** A config file in JSON with comments and trailing commas. Throws ConfigError, also for duplicate keys. */
export function parseJsonFile({ file, text }: ConfigFile): ParsedFile {
  const place = (offset: number): string => `${file}:${positionOf(text, offset)}`;
  const root = parseRoot(text, place);
  const faults: Fault[] = [];
  const tree = readValue(root, [], faults);
  if (faults.length > 0)
    throw new ConfigError(
      tellable(faults).map(
        ({ path, offset, text }) => `${place(offset)}: ${fieldOf(path)}: ${text}`,
      ),
    );
  if (!isObject(tree))
    throw new ConfigError(
      `${place(root.offset)}: must be an object; expected { … }; for example {"expose": "tools"}`,
    );
  return { tree, locate: (path) => place(offsetOf(root, path)) };
}

interface Fault extends Problem {
  readonly offset: number;
}

function parseRoot(text: string, place: (offset: number) => string): Node {
  const excess = findExcess(text);
  if (excess) throw new ConfigError(`${place(excess.offset)}: ${excess.text}`);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  // Errors after the first one are mostly consequences of it.
  if (first)
    throw new ConfigError(
      `${place(first.offset)}: not valid JSON; ${wordsOf(first)}; fix it there, comments and trailing commas are allowed`,
    );
  if (!root)
    throw new ConfigError(`${place(0)}: not valid JSON; the file is empty; write {} or remove it`);
  return root;
}

/** Checked before parsing: the parser is recursive and could overflow the stack, and checking a million values takes seconds. */
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

function readValue(node: Node, path: Path, faults: Fault[]): unknown {
  const { type, children = [] } = node;
  if (type === "array")
    return children.map((child, index) => readValue(child, [...path, index], faults));
  if (type !== "object") return node.value;
  const values = new Map<string, unknown>();
  for (const [key, value] of children.map((property) => property.children ?? [])) {
    if (!key || !value) continue;
    const name = String(key.value);
    const inner = [...path, name];
    if (values.has(name))
      faults.push({
        path: inner,
        offset: key.offset,
        text: "duplicate key; expected once; remove one of them",
      });
    if (name === "__proto__")
      faults.push({
        path: inner,
        offset: key.offset,
        text: "cannot be a key; expected a name; rename it",
      });
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

/** "3:5": line and column, counted from one. */
function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split("\n").length}:${offset - before.lastIndexOf("\n")}`;
}

function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .toLowerCase();
}
