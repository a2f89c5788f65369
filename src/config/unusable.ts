import { isObject, type JsonObject } from "../base/json.ts";
import type { Path, Problem } from "./error.ts";
import type { Config, ServerConfig } from "./schema.ts";

/** A server with an invalid entry: the hall runs without it and reports why. */
export interface UnusableServer {
  readonly type: "unusable";
  /** Each names field, expected value, next step and location. */
  readonly problems: readonly string[];
  /** The entry, if only some values are wrong: used to show what is known of the server. Never started. */
  readonly entry?: ServerConfig;
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

/** The problems of single servers, by name, and those of the whole config. */
export interface SortedProblems {
  readonly ofServers: ReadonlyMap<string, readonly Problem[]>;
  readonly ofAll: readonly Problem[];
}

/** An invalid server name concerns the whole config: tools, trust and the lock depend on it. */
export function sortProblems(
  problems: readonly Problem[],
  nameProblems: readonly Problem[],
): SortedProblems {
  const ofServers = new Map<string, Problem[]>();
  const ofAll: Problem[] = [];
  for (const problem of problems) {
    const name = nameProblems.includes(problem) ? undefined : serverOf(problem.path);
    if (name === undefined) ofAll.push(problem);
    else ofServers.set(name, [...(ofServers.get(name) ?? []), problem]);
  }
  return { ofServers, ofAll };
}

/** The server that a field belongs to, if any. */
export function serverOf([section, name]: Path): string | undefined {
  return section === "mcpServers" && name !== undefined ? String(name) : undefined;
}

/** A copy without these servers. */
export function withoutServers<T extends JsonObject | Config>(
  tree: T,
  names: { has(name: string): boolean },
): T {
  const { mcpServers } = tree;
  if (!isObject(mcpServers)) return tree;
  return {
    ...tree,
    mcpServers: Object.fromEntries(Object.entries(mcpServers).filter(([name]) => !names.has(name))),
  };
}
