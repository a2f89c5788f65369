import { isDeepStrictEqual } from "node:util";
import type { Config, ServerConfig } from "./schema.ts";

/** A server with an invalid entry: the hall runs without it and reports why. */
export interface UnusableServer {
  readonly type: "unusable";
  /** Each names field, expected value, next step and location. */
  readonly problems: readonly string[];
  /** The entry, if only some values are wrong: used to show what is known of the server. Never started. */
  readonly entry?: ServerConfig | undefined;
}

/** All configured servers, usable or not. */
export type ConfiguredServers = Readonly<Record<string, ServerConfig | UnusableServer>>;

export function configuredServers({
  config,
  unusable,
}: {
  readonly config: Config;
  readonly unusable: Readonly<Record<string, UnusableServer>>;
}): ConfiguredServers {
  return { ...config.mcpServers, ...unusable };
}

/** Names of servers by kind of change, so that a reload touches only those. */
export interface ServersDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export function diffServers(before: ConfiguredServers, after: ConfiguredServers): ServersDiff {
  const [old, now] = [Object.keys(before), Object.keys(after)];
  return {
    added: now.filter((name) => !Object.hasOwn(before, name)),
    removed: old.filter((name) => !Object.hasOwn(after, name)),
    changed: now.filter(
      (name) => Object.hasOwn(before, name) && !isDeepStrictEqual(before[name], after[name]),
    ),
  };
}
