import { isObject, type JsonObject } from "../../base/json.ts";
import type { Client } from "./client.ts";
import { excludeTools, includeTools, nothing, texts, timeout, usualMeanings } from "./entry.ts";
import { noReferences, variable } from "./references.ts";

/** `config.toml`. Values are plain text; variables are named by keys of their own. */
export const codex: Client = {
  id: "codex",
  name: "Codex",
  places: [
    { scope: "project", path: "./.codex/config.toml", at: ["mcp_servers"] },
    { scope: "user", path: "$CODEX_HOME/config.toml", at: ["mcp_servers"] },
  ],
  references: noReferences,
  meanings: {
    ...usualMeanings,
    env_vars: (names) => ({ env: referTo(namesOf(names)) }),
    http_headers: texts("headers"),
    env_http_headers: (map) => ({
      headers: isObject(map)
        ? Object.fromEntries(
            Object.entries(map).map(([key, name]) => [key, variable(String(name))]),
          )
        : {},
    }),
    bearer_token_env_var: (name) => ({
      headers: { Authorization: `Bearer ${variable(String(name))}` },
    }),
    bearer_token: (token) => ({ headers: { Authorization: `Bearer ${token}` } }),
    enabled_tools: includeTools,
    disabled_tools: excludeTools,
    tool_timeout_sec: timeout(1),
    scopes: (scopes) =>
      Array.isArray(scopes) && scopes.length > 0 ? { oauth: { scope: scopes.join(" ") } } : {},
    startup_timeout_sec: nothing,
    startup_timeout_ms: nothing,
    required: nothing,
    supports_parallel_tool_calls: nothing,
  },
};

/** Names of variables, or `{name, source}`: those of another source are not this machine's. */
function namesOf(list: unknown): string[] {
  return (Array.isArray(list) ? list : []).flatMap((item: unknown) => {
    if (typeof item === "string") return [item];
    return isObject(item) && typeof item.name === "string" ? [item.name] : [];
  });
}

function referTo(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, variable(name)]));
}
