import { parse, TomlError } from "smol-toml";
import { ConfigError } from "./error.ts";
import { type ConfigFile, depthMax, partsMax } from "./files.ts";
import type { ParsedFile } from "./layer.ts";

/** A config file in TOML. Throws ConfigError with the parser's line. */
export function parseTomlFile({ file, text }: ConfigFile): ParsedFile {
  return {
    tree: parseTree(text, file),

    locate: (path) => `${file}:${findKey(text, path.map(String))}`,
  };
}

function parseTree(text: string, file: string): ParsedFile["tree"] {
  // A rough count: text contains dots and commas too, but not twenty thousand.
  const partCount = text.match(/[=.,[{]/g)?.length ?? 0;
  if (partCount > partsMax)
    throw new ConfigError(
      `${file}:1:1: too much; expected at most ${partsMax} values and separators; remove everything that is not config`,
    );
  try {
    return parse(text, { maxDepth: depthMax, unsafeKeyBehaviour: "throw" });
  } catch (error) {
    if (error instanceof TomlError) {
      const [what = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
      throw new ConfigError(
        `${file}:${error.line}:${error.column}: not valid TOML; ${what}; fix it there`,
      );
    }
    throw new ConfigError(
      `${file}:1:1: not valid TOML; ${error instanceof RangeError ? "nested too deeply" : String(error)}; remove some levels`,
    );
  }
}

/**
 * "3:1": line and column of a key or its nearest parent. The parser keeps no locations, so this finds
 * headers and keys at line starts; good enough for a message about a file that was parsed.
 */
function findKey(text: string, wanted: readonly string[]): string {
  let best = { length: 0, place: "1:1" };
  let table: readonly string[] = [];
  let line = 0;
  for (const source of text.split("\n", 50_000)) {
    line++;
    const found =
      /^(\s*)(\[\[?)?\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*[\]=]/.exec(
        source.slice(0, 400),
      );
    if (!found) continue;
    const [, indent = "", header, dotted = ""] = found;
    const keys = keysOf(dotted);
    if (header) table = keys;
    const path = header ? keys : [...table, ...keys];
    const length =
      path.length <= wanted.length && path.every((key, index) => key === wanted[index])
        ? path.length
        : 0;
    if (length > best.length) best = { length, place: `${line}:${indent.length + 1}` };
  }
  return best.place;
}

/** The keys of a dotted key. */
export function keysOf(dotted: string): string[] {
  return Array.from(
    dotted.matchAll(/[\w-]+|"([^"]*)"|'([^']*)'/g),
    ([bare, double, single]) => double ?? single ?? bare,
  );
}
