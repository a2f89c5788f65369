import type { ServerConfig } from "../config/schema.ts";

/** `include` and `exclude` are names with `*` for any run of characters. */
export function createToolFilter(filter: ServerConfig["tools"]): (name: string) => boolean {
  const include = filter?.include?.map(globToExpression);
  const exclude = filter?.exclude?.map(globToExpression) ?? [];
  return (name) =>
    (include?.some((glob) => glob.test(name)) ?? true) && !exclude.some((glob) => glob.test(name));
}

function globToExpression(glob: string): RegExp {
  return new RegExp(
    `^${glob
      .split("*")
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join("[^]*")}$`,
  );
}
