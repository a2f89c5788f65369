import { HallError } from "../base/errors.ts";
import { collectServers } from "../config/configured-servers.ts";
import { writeLock } from "../upstream/lock.ts";
import { notifyHall } from "./admin-client.ts";
import { type DiscoverOptions, discoverForReview, mergeIntoLock } from "./discover.ts";
import { hasUnapprovedModules } from "./module-review.ts";
import { recordInProject } from "./project-store.ts";
import {
  findWaitingTexts,
  openReview,
  type Reviewer,
  reviewDiscoveries,
  type ServerReview,
  selectStartable,
  takeOver,
} from "./review.ts";
import { getServer, type Settings } from "./settings.ts";

export interface VerifyOptions extends Pick<DiscoverOptions, "progress"> {
  /** One server. Default: all. */
  readonly server?: string | undefined;
  readonly reviewer: Reviewer | undefined;
}

export interface VerifyReport {
  readonly reviews: readonly ServerReview[];
  /** Servers that did not answer. */
  readonly down: readonly string[];
}

/** Starts servers, has what they offer reviewed, and notifies the running hall. */
export async function verifyServers(
  settings: Settings,
  { server, reviewer, progress }: VerifyOptions,
): Promise<VerifyReport> {
  const configured = Object.keys(collectServers(settings.loaded));
  const opened = await openReview(settings, reviewer);
  if (server !== undefined) getServer(server, settings.loaded);
  const chosen = server === undefined ? configured : [server];
  const hasOther =
    (await hasUnapprovedModules(opened)) || (await findWaitingTexts(opened)).length > 0;
  if (chosen.length === 0 && !hasOther)
    throw new HallError("NOT_FOUND", "nothing to review: no servers are configured", {
      hint: "Add servers under mcpServers in guildhall.json.",
      next: [{ do: "run-command", command: "init" }],
    });

  if (!reviewer)
    throw new HallError("INVALID_PARAMS", "a review needs a person at a terminal", {
      hint: "Run it in a terminal.",
    });

  const session = await takeOver(opened, chosen);
  const names = await selectStartable(session, chosen);
  const discoveries = await discoverForReview(session, { names, progress });
  await writeLock(settings.folder, await mergeIntoLock(settings.folder, discoveries, configured));
  const { reviews, decision } = await reviewDiscoveries(session, discoveries);
  await recordInProject(settings, { decision, discoveries });
  await notifyHall(settings.folder, { trustChanged: {} });

  const down = discoveries.filter((discovery) => !("found" in discovery));
  return { reviews, down: down.map(({ name }) => name) };
}
