/** The config's rules for calls of single servers and tools. Keys: `server.tool` or `server.*`. */
export interface TrustSettings {
  readonly policy?: Policy | undefined;
  /** By server. */
  readonly policies?: Readonly<Record<string, Policy>> | undefined;
  readonly overrides?: Readonly<Record<string, "safe" | "destructive">> | undefined;
  readonly unguarded?: readonly string[] | undefined;
}

type Policy = "destructive" | "all";

/**
 * The limits that the user's config eases for servers of this name, in words; undefined if none. Any project can
 * give its server this name, so it counts only for a server whose review has shown these words.
 */
export function easingOf(
  server: string,
  { policy, policies = {}, overrides = {}, unguarded = [] }: TrustSettings,
): string | undefined {
  const isOfServer = (key: string): boolean => key.startsWith(`${server}.`);
  const isExempt = policy === "all" && ownValue(policies, server) === "destructive";
  const safe = Object.keys(overrides).filter((key) => overrides[key] === "safe");
  const words = [
    ...(isExempt ? ["only changing tools ask"] : []),
    ...safe
      .filter(isOfServer)
      .sort()
      .map((key) => `${key} is safe`),
    ...unguarded
      .filter(isOfServer)
      .sort()
      .map((key) => `${key} is unguarded`),
  ];
  return words.length === 0 ? undefined : words.join("; ");
}

/** How the config marks one tool. */
export function overrideOf(
  server: string,
  tool: string,
  { overrides = {} }: TrustSettings,
): "safe" | "destructive" | undefined {
  return ownValue(overrides, `${server}.${tool}`) ?? ownValue(overrides, `${server}.*`);
}

/** True if the config requires approval for every call of the server. See {@link easingOf} for `isEased`. */
export function asksForAll(
  server: string,
  { policy, policies = {} }: TrustSettings,
  isEased: boolean,
): boolean {
  const ofServer = ownValue(policies, server);
  return ofServer === "all" || (policy === "all" && !(isEased && ofServer === "destructive"));
}

export function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
