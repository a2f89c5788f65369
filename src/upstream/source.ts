import { hashOf } from "../base/hash.ts";
import type { ServerConfig } from "../config/schema.ts";
import { variablesIn, written } from "../config/written.ts";

/**
 * How the server is reached, without the values of variables: a change of it makes the lock's entry void, and the approval. Which variables it
 * gets is part of it: a project must not send another secret to a server that was approved for one.
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

/** The same for people: what would run or be reached. Arguments may hold secrets. */
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

/** The names, and the variables whose values go there; a variable under its own name is said once. */
function listed(
  words: string,
  values: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, unknown>> = {},
): string {
  const names = Object.keys(values).sort();
  const told = names.map((name) => {
    const from = variablesIn(Object.hasOwn(texts, name) ? texts[name] : undefined).filter(
      (variable) => variable !== name,
    );
    return from.length === 0 ? name : `${name} (from ${from.join(", ")})`;
  });
  return names.length === 0 ? "" : `${words} ${told.join(", ")}`;
}
