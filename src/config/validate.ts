import type { JsonObject } from "../base/json.ts";
import type { Problem } from "./error.ts";
import { type Config, configSchema } from "./schema.ts";

/** Validates the merged tree. Returns the config with defaults, or the problems. */
export async function validateTree(
  tree: JsonObject,
): Promise<{ readonly config: Config } | { readonly problems: readonly Problem[] }> {
  // The JIT path compiles a parser first: not worth it for one file.
  const { data, error } = configSchema.safeParse(tree, { jitless: true });
  if (!error) return { config: data };
  return { problems: (await import("./explain.ts")).explainIssues(error.issues, tree) };
}
