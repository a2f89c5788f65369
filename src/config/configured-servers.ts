import { isDeepStrictEqual } from "node:util";
import type { UnsetVariable } from "./error.ts";
import type { Config, ServerConfig } from "./schema.ts";

export const serverNamePattern = /^[A-Za-z0-9_-]{1,40}$/;

/** The names other clients use for the same transport. */
export const transportAliases: Readonly<Record<string, "http" | "ws">> = {
  "streamable-http": "http",
  websocket: "ws",
};

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

export function collectServers({ config, unusable }: Configured): ConfiguredServers {
  return { ...config.mcpServers, ...unusable };
}

/** Names of servers by kind of change: a reload touches no others. */
export interface ServerDifferences {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export function diffServers(
  before: ConfiguredServers,
  after: ConfiguredServers,
): ServerDifferences {
  const [oldNames, newNames] = [Object.keys(before), Object.keys(after)];
  return {
    added: newNames.filter((name) => !Object.hasOwn(before, name)),
    removed: oldNames.filter((name) => !Object.hasOwn(after, name)),
    changed: newNames.filter(
      (name) => Object.hasOwn(before, name) && !isDeepStrictEqual(before[name], after[name]),
    ),
  };
}

/** The built-in toolkits that `builtin` may name. */
export const builtinNames = [
  "calculator",
  "document_analyzer",
  "image_generator",
  "search_tool",
  "speckit",
  "time_tool",
] as const;

export type BuiltinName = (typeof builtinNames)[number];

interface Configured {
  readonly config: Config;
  readonly unusable: Readonly<Record<string, UnusableServer>>;
}

export function isBuiltinName(name: string): name is BuiltinName {
  return (builtinNames as readonly string[]).includes(name);
}

/** A hall with servers adds nothing that its config does not name. */
export function isBuiltinOn(name: string, loaded: Configured): boolean {
  const { builtin } = loaded.config;
  if (builtin === undefined) return Object.keys(collectServers(loaded)).length === 0;
  return builtin === "all" || builtin.some((each) => each === name);
}

/** The value of `builtin` that turns this one on beside those that are on. */
export function builtinWith(
  name: BuiltinName,
  { builtin }: Pick<Config, "builtin">,
): NonNullable<Config["builtin"]> {
  if (builtin === "all") return "all";
  return [...new Set([...(builtin ?? []), name])];
}
