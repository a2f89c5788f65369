import { hashOf } from "../base/json.ts";
import type { ServerConfig } from "../config/schema.ts";
import { variablesIn, written } from "../config/variables.ts";

/**
 * The command or URL of a server without the values of variables. A change invalidates the lock entry and
 * the approval. The names of the variables are included: a project must not send another secret to an
 * approved server.
 */
export function sourceOf(config: ServerConfig): string {
  const texts = config[written] ?? {};
  const rest = Object.keys(texts).length > 0 ? [texts] : [];
  if (config.type === "stdio")
    return hashOf([
      config.command,
      config.args,
      Object.keys(config.env).sort(),
      config.cwd ?? null,
      ...rest,
    ]);
  return hashOf([config.type, config.url, Object.keys(config.headers).sort(), ...rest]);
}

/** The same for display. Arguments may contain secrets. */
export function describeSource(config: ServerConfig): string {
  const { env, headers, oauth } = config[written] ?? {};
  if (config.type !== "stdio") {
    const login = [...new Set(Object.values(oauth ?? {}).flatMap(variablesIn))];
    return `${config.url} over ${config.type}${listed(" with headers", config.headers, headers)}${login.length > 0 ? ` and a login with ${login.join(", ")}` : ""}`;
  }
  const line = [config.command, ...config.args]
    .map((word) => (/^[\w./:=@%+,~-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
  return `${line}${config.cwd === undefined ? "" : ` in ${config.cwd}`}${listed(" with", config.env, env)}`;
}

/** The names with the variables that fill them; a variable of the same name is not repeated. */
function listed(
  words: string,
  values: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, unknown>> = {},
): string {
  const names = Object.keys(values).sort();
  const shown = names.map((name) => {
    const from = variablesIn(Object.hasOwn(texts, name) ? texts[name] : undefined).filter(
      (variable) => variable !== name,
    );
    return from.length === 0 ? name : `${name} (from ${from.join(", ")})`;
  });
  return names.length === 0 ? "" : `${words} ${shown.join(", ")}`;
}
