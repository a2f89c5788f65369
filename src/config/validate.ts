import type { JsonObject } from "../base/json.ts";
import type { Problem } from "./error.ts";
import { type Config, configSchema } from "./schema.ts";

/** Holds a merged tree against the schema. Gives the config with its defaults, or every field that does not fit. */
export async function validateTree(
  tree: JsonObject,
): Promise<{ readonly config: Config } | { readonly problems: readonly Problem[] }> {
  // The fast path compiles a parser first: not worth it for one file.
  const { data, error } = configSchema.safeParse(tree, { jitless: true });
  if (!error) return { config: data };
  return { problems: (await import("./explain.ts")).explainIssues(error.issues, tree) };
}
