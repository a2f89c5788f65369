/** Loaded only where a saved program has to be read. */
import { parse } from "yaml";

/** Throws if it is no YAML. Aliases are refused: a few lines of them can stand for gigabytes. */
export function parseMatter(text: string): unknown {
  return parse(text, { maxAliasCount: 0 });
}
