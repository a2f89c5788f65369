import { collectServers, type UnusableServer } from "./configured-servers.ts";
import { builtinNames, type Config } from "./schema.ts";

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
