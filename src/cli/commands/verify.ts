import { HallError } from "../../base/errors.ts";
import { visible } from "../../base/sanitize.ts";
import { plural } from "../../base/text.ts";
import {
  findChanges,
  type ServerChanges,
  type ServerReview,
  summariseReview,
  verifyServers,
} from "../../hall/review.ts";
import type { JsonOption } from "../declaration.ts";
import { loadProject } from "../hall.ts";
import { formatFieldChanges, paint, print } from "../print.ts";
import { formatReview, openReviewer, reportDiscovery } from "../review.ts";
import { isAttended } from "../terminal.ts";

interface VerifyCommandOptions extends JsonOption {
  readonly yes?: boolean;
}

export async function runVerify(
  server: string | undefined,
  options: VerifyCommandOptions,
): Promise<void> {
  const reviewer = openReviewer(options);
  const { reviews, down } = await verifyServers(await loadProject(), {
    server,
    reviewer,
    onDiscovery: reportDiscovery(options.json),
  });
  const noAnswer =
    down.length === 0
      ? undefined
      : new HallError("UNAVAILABLE", `could not review ${down.join(", ")}: no answer`, {
          next: [{ do: "run-command", command: "doctor" }],
        });
  const failure = reviewer?.refusal() ?? noAnswer;
  const text = reviews.map((review) => formatResult(review, isAttended(options))).join("\n");
  print({ servers: reviews.map(summariseReview) }, text, { ...options, failure });
}

/** With --yes the review itself is printed too, because nobody has seen it. */
function formatResult(review: ServerReview, wasAsked: boolean): string {
  const { name, isApproved, isOpen, tools } = review;
  const asking = tools.filter(({ isDestructive }) => isDestructive).length;
  const summary = isApproved
    ? `${paint("green", "✔")} ${name} approved: ${plural(tools.length, "tool")}, ${asking} require approval`
    : `${paint("yellow", "–")} ${name} not approved; it will not be started`;
  return wasAsked || !isOpen ? summary : `${formatReview(review)}\n${summary}`;
}

export async function runDiff(server: string | undefined, options: JsonOption): Promise<void> {
  const changes = await findChanges(await loadProject(), server);
  print(changes, formatAll(changes), options);
}

function formatAll(changes: readonly ServerChanges[]): string {
  const shown = changes
    .filter(
      ({ reached, changed, added, gone }) =>
        reached !== undefined || changed.length + added.length + gone.length > 0,
    )
    .map(formatChanges);
  return shown.length > 0
    ? `${shown.join("\n\n")}\n\nApprove the changes with \`guildhall verify\`.`
    : "no known changes since the last review";
}

function formatChanges({ name, reached, changed, added, gone }: ServerChanges): string {
  const lines = [paint("bold", name)];
  if (reached)
    lines.push(
      paint("red", `  - ${visible(reached.before)}`),
      paint("green", `  + ${visible(reached.now)}`),
    );
  for (const tool of changed)
    lines.push(
      `  ${paint("yellow", `${visible(tool.name)} changed`)}\n${formatFieldChanges(tool.fields)}`,
    );
  if (added.length > 0) lines.push(`  new: ${added.map(visible).join(", ")}`);
  if (gone.length > 0) lines.push(`  removed: ${gone.map(visible).join(", ")}`);
  return lines.join("\n");
}
