import type { JsonObject } from "../base/json.ts";
import { createOneAtATime } from "../base/one-at-a-time.ts";
import { noEntries } from "../trust/ledger.ts";
import type { OfferKind } from "../trust/pin.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { Hall } from "./hall.ts";
import { openAgents } from "./project-texts.ts";

/**
 * Makes a hall follow the user's decisions, whichever process wrote them: loads approved modules and
 * agents, lists again, starts and stops servers. Returns a function that does it now.
 */
export function createFollowTrust(hall: Hall, folder: string): () => Promise<void> {
  const following = createOneAtATime(async () => {
    await hall.modules.scan();
    hall.groups.replace(await openAgents(folder, hall.trust?.entries() ?? noEntries, hall.log));
    hall.server.refreshLists();
    await reconcileUpstreams(hall);
  });
  const follow = (): Promise<void> => following.run("trust");
  hall.trust?.onChange(() => {
    follow().catch((err: unknown) => hall.log.error({ err }, "could not follow a change of trust"));
  });
  return follow;
}

/** After a change of trust: restarts refused servers, stops those no longer approved, and discovers those with something held back again. */
async function reconcileUpstreams({ fleet, trust }: Hall): Promise<void> {
  if (!trust) return;
  const { servers } = trust.entries();
  const holdsSome = (upstream: Upstream): boolean =>
    Object.entries(upstream.offer()).some(([kind, definitions]) =>
      definitions.some((definition: JsonObject) =>
        trust.holds(upstream, kind as OfferKind, definition),
      ),
    );
  const work = fleet.all().map(async (upstream) => {
    const isApproved = Object.hasOwn(servers, upstream.id);
    if (!isApproved || upstream.state().kind === "down") await upstream.restart();
    if (isApproved && holdsSome(upstream)) await upstream.discover();
  });
  // A server that fails reports it at its next call.
  await Promise.allSettled(work);
}
