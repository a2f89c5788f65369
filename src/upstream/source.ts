import { hashOf } from "../base/hash.ts";
import type { ServerConfig } from "../config/schema.ts";

/** How the server is reached, without the values of variables: a change of it makes the lock's entry void, and the approval. */
export function sourceOf(config: ServerConfig): string {
  if (config.type === "stdio") return hashOf([config.command, config.args, Object.keys(config.env).sort(), config.cwd ?? null]);
  return hashOf([config.type, config.url, Object.keys(config.headers).sort()]);
}

/** The same for people: what would run or be reached. Arguments may hold secrets. */
export function describeSource(config: ServerConfig): string {
  if (config.type !== "stdio") return `${config.url} over ${config.type}${listed(" with headers", Object.keys(config.headers))}`;
  const line = [config.command, ...config.args].map((word) => (/^[\w./:=@%+,~-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
  return `${line}${config.cwd === undefined ? "" : ` in ${config.cwd}`}${listed(" with", Object.keys(config.env))}`;
}

function listed(words: string, names: readonly string[]): string {
  return names.length === 0 ? "" : `${words} ${[...names].sort().join(", ")}`;
}
