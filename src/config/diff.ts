import { isDeepStrictEqual } from "node:util";
import type { ConfiguredServers } from "./unusable.ts";

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
