import { HallError } from "../base/errors.ts";
import type { UnusableServer } from "../config/unusable.ts";
import { emptyOffer } from "./lists.ts";
import { isLockedServer, type LockedServer } from "./lock.ts";
import { createToolFilter } from "./tool-filter.ts";
import type { Upstream } from "./upstream.ts";

/**
 * A server whose entry in the config cannot be used, as an upstream that is never started: what was known of it is still
 * shown, so that groups keep their tools, and every call of it fails at once with what to change.
 */
export function createUnusable(
  name: string,
  { problems, entry }: UnusableServer,
  locked: LockedServer | undefined,
): Upstream {
  const reason = problems.join("; ");
  const offer = entry && isLockedServer(locked) ? locked.offer : emptyOffer;
  const isShown = createToolFilter(entry?.tools ?? { include: [], exclude: [] });
  const refuse = async (): Promise<never> => {
    throw new HallError("UNAVAILABLE", `${name} cannot be used: ${reason}`, {
      hint: "Correct its entry in the config; nothing else is affected.",
      details: { upstream: name, reason: `cannot be used: ${reason}` },
    });
  };
  return {
    id: name,
    source: "upstream",
    version: "unknown",
    ...(entry?.prefix === undefined ? {} : { prefix: entry.prefix }),
    counts: { calls: 0, errors: 0, lastError: undefined },
    state: () => ({ kind: "unusable", reason }),
    handshake: () => undefined,
    offer: () => offer,
    stderr: () => [],
    restart: refuse,
    discover: refuse,
    list: async () => offer.tools.filter((tool) => isShown(tool.name)),
    call: refuse,
    health: async () => ({ state: "unavailable", reason }),
    problem: () => `cannot be used: ${reason}`,
    async close() {},
  };
}
