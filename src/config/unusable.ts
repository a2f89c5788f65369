import { isObject, type JsonObject } from "../base/json.ts";
import type { Path, Problem } from "./error.ts";
import type { Config, ServerConfig } from "./schema.ts";

/** A server whose entry cannot be used, for a reason that is its own: the hall goes on without it, and says why. */
export interface UnusableServer {
  readonly type: "unusable";
  /** Each names its field, what was expected, the next move, and the place. */
  readonly problems: readonly string[];
  /** The entry, where only values in it are wrong: what is known of the server is shown as it says. Never started. */
  readonly entry?: ServerConfig;
}

/** All that the config names, whether it can be used or not. */
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

/** The problems of each server that are its own, by name, and those that concern everything. */
export interface SortedProblems {
  readonly ofServers: ReadonlyMap<string, readonly Problem[]>;
  readonly ofAll: readonly Problem[];
}

/** A server's name is everybody's concern: tools, trust and the lock go by it. */
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

/** Whose field it is, where it is a server's. */
export function serverOf([section, name]: Path): string | undefined {
  return section === "mcpServers" && name !== undefined ? String(name) : undefined;
}

/** A tree or a config without these servers. */
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
