import { parse, TomlError } from "smol-toml";
import { ConfigError } from "./error.ts";
import { type ConfigFile, depthMax, partsMax } from "./files.ts";
import type { Layer } from "./layer.ts";

/** A layer of TOML. Throws ConfigError with the parser's line. */
export function parseTomlLayer({ file, text }: ConfigFile): Layer {
  return {
    tree: parseTree(text, file),
    kind: "file",
    locate: (path) => `${file}:${findKey(text, path.map(String))}`,
  };
}

function parseTree(text: string, file: string): Layer["tree"] {
  // Counted roughly: text has dots and commas as well, but nobody writes twenty thousand.
  const partCount = text.match(/[=.,[{]/g)?.length ?? 0;
  if (partCount > partsMax)
    throw new ConfigError(
      `${file}:1:1: too much; expected at most ${partsMax} values and separators; remove what is not config`,
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
 * "3:1": line and column of a key or of what is nearest above it. The parser keeps no places, so this looks for headers and
 * keys at the starts of lines; good enough for a message about a file that has been parsed.
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

function keysOf(dotted: string): string[] {
  return Array.from(
    dotted.matchAll(/[\w-]+|"([^"]*)"|'([^']*)'/g),
    ([bare, double, single]) => double ?? single ?? bare,
  );
}
