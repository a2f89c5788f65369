/** Loaded only where a saved program is read: bundled, `import("yaml")` itself would have no named exports. */
import { parse } from "yaml";

/** Throws if it is no YAML. Aliases are refused: a few lines of them can stand for gigabytes. */
export function parseMatter(text: string): unknown {
  return parse(text, { maxAliasCount: 0 });
}
