// In a file of its own, loaded when a client has YAML. A dynamic import of the package itself would
// have no named exports in the bundle, because the package is CommonJS.
import { isNode, parseDocument } from "yaml";
import { ConfigError, type Path } from "../../config/error.ts";
import { positionOf } from "../../config/json.ts";
import type { ConfigDocument } from "./document.ts";

/** Throws ConfigError with line and column. */
export function parseYaml(file: string, text: string): ConfigDocument {
  const document = parseDocument(text, { prettyErrors: true });
  const [first] = document.errors;
  if (first) {
    const { line = 1, col = 1 } = first.linePos?.[0] ?? {};
    throw new ConfigError(
      `${file}:${line}:${col}: invalid YAML (${first.message.split("\n")[0]?.replace(/ at line .*$/, "")})`,
    );
  }
  const locate = (path: Path): string => {
    const node = path.length === 0 ? document.contents : document.getIn(path, true);
    return `${file}:${positionOf(text, isNode(node) ? (node.range?.[0] ?? 0) : 0)}`;
  };
  return { file, text, format: "yaml", tree: document.toJS({ maxAliasCount: 100 }) ?? {}, locate };
}
