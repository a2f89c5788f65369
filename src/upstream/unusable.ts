import type { Advice } from "../base/advice.ts";
import { HallError } from "../base/errors.ts";
import type { UnusableServer } from "../config/configured-servers.ts";
import { createToolFilter, emptyOffer } from "./lists.ts";
import { isLockedServer, type LockedServer } from "./lock.ts";
import type { Upstream } from "./upstream.ts";

/**
 * An upstream for a server with an invalid config entry. Never started: its known tools are still listed,
 * so that groups keep them, and every call fails with the problem.
 */
export function createUnusable(
  name: string,
  { problems, unset, entry }: UnusableServer,
  locked: LockedServer | undefined,
): Upstream {
  const reason = problems.join("; ");
  // Clients read this: a problem quotes the file, and a project's file may contain instructions to a model.
  const shownReason = describeUnset(unset) ?? "its config entry is invalid";
  const offer = entry && isLockedServer(locked) ? locked.offer : emptyOffer;
  const isShown = createToolFilter(entry?.tools ?? { include: [], exclude: [] });
  const refuse = (why: string) => async (): Promise<never> => {
    throw new HallError("UNAVAILABLE", `server "${name}" cannot be used: ${why}`, {
      hint: "Correct its entry in the config; other servers are not affected.",
      next: [...adviseUnset(unset), { do: "run-command", command: "doctor" }],
      details: { upstream: name, reason: `cannot be used: ${why}` },
    });
  };
  return {
    id: name,
    source: "upstream",
    version: "unknown",
    prefix: entry?.prefix,
    counts: { calls: 0, errors: 0, lastError: undefined },
    state: () => ({ kind: "unusable", reason }),
    handshake: () => undefined,
    offer: () => offer,
    stderr: () => [],
    isInstalling: () => false,
    restart: refuse(reason),
    explain: () => undefined,
    discover: refuse(reason),
    list: async () => offer.tools.filter((tool) => isShown(tool.name)),
    call: refuse(shownReason),
    health: async () => ({ state: "unavailable", reason: shownReason }),
    problem: () => `cannot be used: ${shownReason}`,
    async close() {},
  };
}

/** The name is the file's, so it may be no longer than that of a server, which clients see too. */
function describeUnset(unset: UnusableServer["unset"]): string | undefined {
  const [first] = unset;
  return first && first.name.length <= 40 ? `the variable ${first.name} ${first.why}` : undefined;
}

/** The next steps for variables without a value. */
export function adviseUnset(unset: UnusableServer["unset"]): readonly Advice[] {
  const names = new Set(unset.map(({ name }) => name).filter((name) => name.length <= 40));
  return [...names].map((name) => ({ do: "run-command", command: `secret set ${name}` }));
}
