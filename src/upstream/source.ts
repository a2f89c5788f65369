import type { ServerConfig } from "../config/schema.ts";
import { hashOf } from "../trust/pin.ts";

/** How the server is reached, without the values of variables: a change of it makes the lock's entry void, and the approval. */
export function sourceOf(config: ServerConfig): string {
  if (config.type === "stdio") return hashOf([config.command, config.args, Object.keys(config.env).sort(), config.cwd ?? null]);
  return hashOf([config.type, config.url, Object.keys(config.headers).sort()]);
}
