import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import { verifyServers } from "../../hall/build.ts";
import { findChanges, type ServerChanges } from "../../hall/changes.ts";
import type { ServerReview } from "../../hall/review.ts";
import { summariseReview } from "../../hall/review-summary.ts";
import { willAsk } from "../../trust/review.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { createWaiting, reportDiscovery } from "../live.ts";
import { formatFieldChanges, paint, print } from "../print.ts";
import { openReviewer } from "../review.ts";
import { formatReview } from "../review-text.ts";
import { isAttended } from "../terminal.ts";

interface VerifyCommandOptions extends JsonOption {
  readonly yes?: boolean;
}

export async function runVerify(
  server: string | undefined,
  options: VerifyCommandOptions,
): Promise<void> {
  const reviewer = openReviewer(options);
  const { reviews, modules, texts, down } = await verifyServers(await loadProject(), {
    server,
    reviewer,
    progress: reportDiscovery(options.json),
  });
  const noAnswer =
    down.length === 0
      ? undefined
      : new HallError("UNAVAILABLE", `could not review ${down.join(", ")}: no answer`, {
          next: [{ do: "run-command", command: "doctor" }],
        });
  const failure = reviewer?.refusal() ?? noAnswer;
  const lines = [
    ...reviews.map((review) => formatResult(review, isAttended(options))),
    ...modules.map((file) => approved(file, "it runs inside the hall")),
    ...texts.map((name) => approved(name, "models may read it")),
  ];
  const text = lines.length > 0 ? lines.join("\n") : "nothing was approved";
  const value = { servers: reviews.map(summariseReview), modules, texts };
  print(value, text, { ...options, failure });
}

function approved(name: string, meaning: string): string {
  return `${paint("green", "✔")} ${visible(name)} approved: ${meaning}`;
}

/** With --yes the review itself is printed too, because nobody has seen it. */
function formatResult(review: ServerReview, wasAsked: boolean): string {
  const { name, isApproved, isOpen, tools, failure } = review;
  if (failure !== undefined) return wasAsked ? "" : formatReview(review);
  const asking = tools.filter(willAsk).length;
  const summary = isApproved
    ? `${paint("green", "✔")} ${name} approved: ${plural(tools.length, "tool")}, ${asking} require approval`
    : `${paint("yellow", "–")} ${name} not approved; what is new in it is not used`;
  return wasAsked || !isOpen ? summary : `${formatReview(review)}\n${summary}`;
}

export async function runDiff(server: string | undefined, options: JsonOption): Promise<void> {
  const changes = await createWaiting().during(
    "comparing the servers with their reviews",
    findChanges(await loadProject(), server),
  );
  print(changes, formatAll(changes), options);
}

function formatAll(changes: readonly ServerChanges[]): string {
  const shown = changes
    .filter(
      ({ reached, eased, changed, again, added, gone }) =>
        reached !== undefined ||
        eased !== undefined ||
        changed.length + again.length + added.length + gone.length > 0,
    )
    .map(formatChanges);
  return shown.length > 0
    ? `${shown.join("\n\n")}\n\nApprove the changes with \`guildhall verify\`.`
    : "no known changes since the last review";
}

function formatChanges(changes: ServerChanges): string {
  const { name, reached, eased, changed, again, added, gone } = changes;
  const lines = [paint("bold", name)];
  if (reached && reached.before !== reached.now)
    lines.push(
      paint("red", `  - ${visible(reached.before)}`),
      paint("green", `  + ${visible(reached.now)}`),
    );
  else if (reached && reached.hidden.length === 0)
    lines.push("  a hidden value, or a file that it runs, changed");
  for (const value of reached?.hidden ?? []) lines.push(`  the value of ${visible(value)} changed`);
  if (eased)
    lines.push(
      paint("red", `  - your config: ${visible(eased.before) || "nothing"}`),
      paint("green", `  + your config: ${visible(eased.now) || "nothing"}`),
    );
  for (const tool of changed)
    lines.push(
      `  ${paint("yellow", `${visible(tool.name)} changed`)}\n${formatFieldChanges(tool.fields)}`,
    );
  if (again.length > 0)
    lines.push(
      `  reviewed by version 0.1, which did not show all of it: ${again.map(visible).join(", ")}`,
    );
  if (added.length > 0) lines.push(`  new: ${added.map(visible).join(", ")}`);
  if (gone.length > 0) lines.push(`  removed: ${gone.map(visible).join(", ")}`);
  return lines.join("\n");
}
