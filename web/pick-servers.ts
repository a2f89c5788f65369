import type { PageServer } from "../src/hall/page/servers.ts";

/** True if it needs a person. */
export function isBad({ state, run }: Pick<PageServer, "state" | "run">): boolean {
  return state !== "disabled" && (state !== "enabled" || run?.kind === "down");
}

/** At most this many in their order; those that need a person are not left out for others. */
export function pickServers<T extends Pick<PageServer, "state" | "run">>(
  servers: readonly T[],
  most: number,
): readonly T[] {
  const picked = new Set(
    [...servers.filter(isBad), ...servers.filter((server) => !isBad(server))].slice(0, most),
  );
  return servers.filter((server) => picked.has(server));
}
