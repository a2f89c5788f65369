import { isObject, type JsonObject } from "../base/json.ts";
import type { Path, Problem } from "./error.ts";
import { type Config, configSchema } from "./schema.ts";

type Validated = { readonly config: Config } | { readonly problems: readonly Problem[] };

/** Validates the merged tree. Returns the config with defaults, or the problems. */
export async function validateTree(tree: JsonObject): Promise<Validated> {
  // The JIT path compiles a parser first: not worth it for one file.
  const { data, error } = configSchema.safeParse(tree, { jitless: true });
  if (!error) return { config: data };
  return { problems: (await import("./explain.ts")).explainIssues(error.issues, tree) };
}

/** Validates the tree, and without its invalid servers if nothing else is invalid. Adds to the problems found. */
export async function validateWithout(
  tree: JsonObject,
  found: readonly Problem[],
): Promise<{ readonly config: Config | undefined; readonly problems: readonly Problem[] }> {
  const result = await validateTree(tree);
  if ("config" in result) return { config: result.config, problems: found };
  const names = new Set(result.problems.map(({ path }) => serverOf(path)));
  const rest = names.has(undefined)
    ? undefined
    : await validateTree(withoutServers(tree, names as ReadonlySet<string>));
  return {
    config: rest && "config" in rest ? rest.config : undefined,
    problems: [...found, ...result.problems],
  };
}

/** The server that a field belongs to, if any. */
export function serverOf([section, name]: Path): string | undefined {
  return section === "mcpServers" && name !== undefined ? String(name) : undefined;
}

/** A copy without these servers. */
export function withoutServers<T extends JsonObject | Config>(
  tree: T,
  names: { has(name: string): boolean },
): T {
  const { mcpServers } = tree;
  if (!isObject(mcpServers)) return tree;
  return {
    ...tree,
    mcpServers: Object.fromEntries(Object.entries(mcpServers).filter(([name]) => !names.has(name))),
  };
}
