import { isDeepStrictEqual } from "node:util";
import type { UnsetVariable } from "./error.ts";
import type { Config, ServerConfig } from "./schema.ts";

/** A server with an invalid entry: the hall runs without it and reports why. */
export interface UnusableServer {
  readonly type: "unusable";
  /** One per wrong field: its name, the expected value, how to correct it, and file and line. */
  readonly problems: readonly string[];
  /** The variables that have no value. */
  readonly unset: readonly UnsetVariable[];
  /**
   * The entry, if only a value is wrong, such as a variable that is not set. It tells which known
   * tools to list; the server is never started.
   */
  readonly entry?: ServerConfig | undefined;
}

/** All configured servers, usable or not. */
export type ConfiguredServers = Readonly<Record<string, ServerConfig | UnusableServer>>;

export function collectServers({
  config,
  unusable,
}: {
  readonly config: Config;
  readonly unusable: Readonly<Record<string, UnusableServer>>;
}): ConfiguredServers {
  return { ...config.mcpServers, ...unusable };
}

/** Names of servers by kind of change: a reload touches no others. */
export interface ServerChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export function diffServers(before: ConfiguredServers, after: ConfiguredServers): ServerChanges {
  const [oldNames, newNames] = [Object.keys(before), Object.keys(after)];
  return {
    added: newNames.filter((name) => !Object.hasOwn(before, name)),
    removed: oldNames.filter((name) => !Object.hasOwn(after, name)),
    changed: newNames.filter(
      (name) => Object.hasOwn(before, name) && !isDeepStrictEqual(before[name], after[name]),
    ),
  };
}
