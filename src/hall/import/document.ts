import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser/lib/esm/main.js";
import { ConfigError, type Path } from "../../config/error.ts";
import { parseTomlLayer } from "../../config/toml.ts";

/** A file of another client, read: JSON with comments, TOML or YAML by its name. */
export interface Document {
  readonly file: string;
  readonly text: string;
  readonly format: Format;
  readonly tree: unknown;
  /** "file:line:column" of a field. */
  locate(path: Path): string;
}

export type Format = "json" | "toml" | "yaml";

const bytesMax = 32 * 1024 * 1024;

function formatOf(file: string): Format {
  if (file.endsWith(".toml")) return "toml";
  return /\.ya?ml$/.test(file) ? "yaml" : "json";
}

/** The files of a path whose folder or name may be `*`, in order. */
export async function expandStar(path: string): Promise<string[]> {
  if (!path.includes("*")) return [path];
  const [before = "", after = ""] = path.split("*");
  const names = await readdir(dirname(join(before, "x"))).catch(() => []);
  // In a folder of blocks, anything may lie around.
  const files = names.sort().map((name) => before + name + after);
  return after === "" ? files.filter((file) => /\.(json|ya?ml)$/.test(basename(file))) : files;
}

/** What stands in a file, or nothing where there is none. Throws ConfigError. */
export async function readDocument(file: string): Promise<Document | undefined> {
  const bytes = await readBytes(file);
  return bytes === undefined ? undefined : parseDocument(file, decode(bytes, file));
}

/** Throws ConfigError naming line and column. */
export async function parseDocument(file: string, text: string): Promise<Document> {
  const format = formatOf(file);
  if (text.trim() === "" || text === "\ufeff")
    return { file, text, format, tree: {}, locate: () => `${file}:1:1` };
  try {
    if (format === "json") return parseJson(file, text);
    if (format === "yaml") return await parseYaml(file, text);
    const { tree, locate } = parseTomlLayer({ file, text });
    return { file, text, format, tree, locate };
  } catch (error) {
    if (error instanceof RangeError)
      throw new ConfigError(
        `${file}:1:1: nested too deeply; expected a config file; look at what stands there`,
      );
    throw error;
  }
}

export async function readBytes(file: string): Promise<Buffer | undefined> {
  // Without waiting: opening a pipe that nobody writes to would hang.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      throw new ConfigError(
        `${file}: cannot be read (${error.code}); expected a file this user may read; check its path and mode`,
      );
    },
  );
  if (!handle) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile())
      throw new ConfigError(
        `${file}: is not a file; expected a config file; look at what stands there`,
      );
    if (stats.size > bytesMax)
      throw new ConfigError(`${file}: has ${stats.size} bytes; expected at most ${bytesMax}`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

export function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${file}: is not UTF-8 text; expected a config file; save it as UTF-8`);
  }
}

function parseJson(file: string, text: string): Document {
  const place = (offset: number): string => `${file}:${positionOf(text, offset)}`;
  const errors: ParseError[] = [];
  // As a space, so that every offset stays what it is in the file.
  const root = parseTree(text.replace(/^\ufeff/, " "), errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first)
    throw new ConfigError(
      `${place(first.offset)}: not valid JSON (${printParseErrorCode(first.error)}); fix it there`,
    );
  if (!root) throw new ConfigError(`${place(0)}: not valid JSON; nothing but comments; write {}`);
  const locate = (path: Path): string => {
    const node = findNodeAtLocation(
      root,
      path.map((key) => (typeof key === "number" ? key : String(key))),
    );
    return place((node?.parent?.type === "property" ? node.parent : (node ?? root)).offset);
  };
  return { file, text, format: "json", tree: readNode(root), locate };
}

/** Built with fromEntries: assigning a key named `__proto__` would change the object instead. */
function readNode({ type, children = [], value }: Node): unknown {
  if (type === "array") return children.map(readNode);
  if (type !== "object") return value;
  return Object.fromEntries(
    children.flatMap(({ children: [key, inner] = [] }) =>
      key && inner ? [[String(key.value), readNode(inner)]] : [],
    ),
  );
}

async function parseYaml(file: string, text: string): Promise<Document> {
  const { isNode, parseDocument: parse } = await import("yaml");
  const document = parse(text, { prettyErrors: true });
  const [first] = document.errors;
  if (first) {
    const { line = 1, col = 1 } = first.linePos?.[0] ?? {};
    throw new ConfigError(
      `${file}:${line}:${col}: not valid YAML (${first.message.split("\n")[0]?.replace(/ at line .*$/, "")}); fix it there`,
    );
  }
  const locate = (path: Path): string => {
    const node = path.length === 0 ? document.contents : document.getIn(path, true);
    return `${file}:${positionOf(text, isNode(node) ? (node.range?.[0] ?? 0) : 0)}`;
  };
  return { file, text, format: "yaml", tree: document.toJS({ maxAliasCount: 100 }) ?? {}, locate };
}

/** "3:5": line and column, counted from one. */
function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split("\n").length}:${offset - before.lastIndexOf("\n")}`;
}
