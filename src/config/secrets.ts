import { isObject, type JsonObject } from "../base/json.ts";
import { fieldAt } from "./layer.ts";

/**
 * Config values that must not reach a log: those from variables (`expanded`), those that `GUILDHALL__`
 * variables set in env, headers and url, those with a secret's name, and the database password.
 */
export function findSecrets(
  tree: JsonObject,
  variables: JsonObject,
  expanded: readonly string[],
): string[] {
  const secrets = new Set(expanded);
  for (const { env, headers, url } of serversOf(variables)) {
    for (const text of [url, ...valuesOf(env), ...valuesOf(headers)])
      if (typeof text === "string") secrets.add(bare(text));
  }
  for (const { env, headers, oauth } of serversOf(tree)) {
    for (const map of [env, headers, oauth]) {
      for (const [key, text] of Object.entries(isObject(map) ? map : {}))
        if (secretName.test(key) && typeof text === "string") secrets.add(bare(text));
    }
  }
  for (const password of passwordsOf(fieldAt(tree, ["store", "url"]))) secrets.add(password);
  secrets.delete("");
  return [...secrets];
}

const secretName =
  /token|secret|passw|credential|auth|cookie|api[-_]?key|private[-_]?key|access[-_]?key/i;

/** As written, and as sent. */
function passwordsOf(url: unknown): string[] {
  if (typeof url !== "string" || !URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  return [password, safeDecode(password), searchParams.get("password") ?? ""];
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Not percent-encoded: sent as written.
  }
}

/** Without the scheme: a log may show a token without its "Bearer". */
function bare(text: string): string {
  return text.replace(/^(Bearer|Basic|Token) +/i, "");
}

/** The upstream servers and the server of our own client. */
function serversOf({ mcpServers, mcp }: JsonObject): JsonObject[] {
  return [...valuesOf(mcpServers), mcp].filter(isObject);
}

function valuesOf(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [];
}
