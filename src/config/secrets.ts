import { isObject, type JsonObject } from "../base/json.ts";

/**
 * The values of a config that must not reach a log: what variables put into servers (`expanded`), what `GUILDHALL__` variables set
 * in env, headers and url, and what stands in a file under a name that says so.
 */
export function findSecrets(tree: JsonObject, variables: JsonObject, expanded: readonly string[]): string[] {
  const secrets = new Set(expanded);
  for (const { env, headers, url } of serversOf(variables)) {
    for (const text of [url, ...valuesOf(env), ...valuesOf(headers)]) if (typeof text === "string") secrets.add(bare(text));
  }
  for (const { env, headers, oauth } of serversOf(tree)) {
    for (const map of [env, headers, oauth]) {
      for (const [key, text] of Object.entries(isObject(map) ? map : {})) if (secretName.test(key) && typeof text === "string") secrets.add(bare(text));
    }
  }
  secrets.delete("");
  return [...secrets];
}

const secretName = /token|secret|passw|credential|auth|cookie|api[-_]?key|private[-_]?key|access[-_]?key/i;

/** Without the word before it: a log may show a token without its "Bearer". */
function bare(text: string): string {
  return text.replace(/^(Bearer|Basic|Token) +/i, "");
}

/** Those behind the hall, and our own client's. */
function serversOf({ mcpServers, mcp }: JsonObject): JsonObject[] {
  return [...valuesOf(mcpServers), mcp].filter(isObject);
}

function valuesOf(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [];
}
