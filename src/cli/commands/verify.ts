import { HallError } from "../../base/errors.ts";
import { configuredServers } from "../../config/unusable.ts";
import { discoverServers, saveDiscoveries } from "../../hall/discover.ts";
import { keepFailures } from "../../hall/last-failures.ts";
import { tellTrustChanged } from "../../hall/project-trust.ts";
import { loadSettings } from "../../hall/settings.ts";
import { formatDiscovery } from "../discovery.ts";
import { paint, print } from "../print.ts";
import { getServer } from "../servers.ts";
import { askLine, isAttended } from "../terminal.ts";
import {
  confirmStarts,
  describeReview,
  modulesWait,
  openReviewing,
  reviewLooks,
  type ServerReview,
  summariseReview,
} from "./review.ts";

export interface VerifyOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** A person reviews what the servers offer: how each is reached, what its tools say, and which of them ask first. */
export async function runVerify(server: string | undefined, options: VerifyOptions): Promise<void> {
  const settings = await loadSettings({}, "error");
  const configured = Object.keys(configuredServers(settings.loaded));
  if (server !== undefined) getServer(server, settings.loaded);
  const chosen = server === undefined ? configured : [server];
  const isAsking = isAttended(options);
  const reviewing = await openReviewing(
    settings,
    isAsking ? { kind: "ask", ask: askLine } : { kind: "yes" },
  );
  if (chosen.length === 0 && !modulesWait(reviewing))
    throw new HallError("NOT_FOUND", "there is nothing to review: no servers are configured", {
      hint: "Add some under mcpServers in guildhall.json.",
    });
  if (!isAsking && !options.yes)
    throw new HallError("INVALID_PARAMS", "a review needs a person", {
      hint: "Run it on a terminal, or with --yes to approve everything as it is marked.",
    });
  const looks = await discoverServers(settings, {
    names: await confirmStarts(reviewing, chosen),
    done: (look) => {
      if (!options.json) process.stderr.write(`${formatDiscovery(look)}\n`);
    },
  });
  await saveDiscoveries(process.cwd(), looks, configured);
  await keepFailures(settings, looks);
  const reviews = await reviewLooks(reviewing, looks);
  await tellTrustChanged();
  const down = looks.filter((look) => !("found" in look)).map(({ name }) => name);
  const failure =
    down.length === 0
      ? undefined
      : new HallError("UNAVAILABLE", `${down.join(", ")} could not be reviewed`, {
          hint: "Run `guildhall doctor` to see why.",
        });
  print(
    { servers: reviews.map(summariseReview) },
    { json: options.json, text: () => describeAll(reviews, isAsking), failure },
  );
}

/** A person who was asked has seen it all; with --yes it is shown now. */
function describeAll(reviews: readonly ServerReview[], wasAsked: boolean): string {
  const lines = reviews.map((review) => {
    const asking = review.tools.filter(({ isDestructive }) => isDestructive).length;
    const summary = !review.isApproved
      ? `${paint("yellow", "–")} ${review.name} was not approved: it is not started`
      : `${paint("green", "✔")} ${review.name} is approved: ${review.tools.length} tools, ${asking} of them ask first`;
    return wasAsked || !review.isOpen ? summary : `${describeReview(review)}\n${summary}`;
  });
  return lines.join("\n");
}
