import { hashOf } from "../base/json.ts";
import type { ServerConfig } from "../config/schema.ts";
import { readUserTrust } from "../config/unattended.ts";
import { type Ledger, type Review, readAllLedgers } from "../trust/ledger.ts";
import { findInstalled } from "../upstream/installation.ts";
import { findLaunch } from "../upstream/launcher.ts";
import { projectFiles, realProgram } from "../upstream/program.ts";
import { approvalOf } from "../upstream/source.ts";
import type { Settings } from "./settings.ts";

/** A review of the same server that this user did in another folder. */
export interface ReviewElsewhere {
  readonly name: string;
  readonly folder: string;
  readonly review: Review;
}

/**
 * What must be the same for a review to count in another folder: what was approved, the program that runs and the
 * version of its package. Undefined for a server that runs a file of the project, which is another one in each folder.
 */
export function identityOf(config: ServerConfig): string | undefined {
  if (config.type !== "stdio") return hashOf([approvalOf(config)]);
  const program = realProgram(config);
  if (program === undefined || Object.keys(projectFiles(config)).length > 0) return undefined;
  const launch = findLaunch(config);
  const installed = launch && findInstalled(launch);
  return launch && !installed
    ? undefined
    : hashOf([approvalOf(config), program, installed ?? null]);
}

/** Reviews from other folders for the servers that nobody has approved here as they are now; the latest of each. */
export async function findReviewsElsewhere(
  { config: { mcpServers } }: Pick<Settings, "config">,
  ledger: Ledger,
): Promise<readonly ReviewElsewhere[]> {
  const { servers } = await ledger.read();
  const open = Object.entries(mcpServers).filter(
    ([name, config]) =>
      !config.disabled &&
      !(Object.hasOwn(servers, name) && servers[name]?.source === approvalOf(config)),
  );
  if (open.length === 0) return [];
  const others = [...readAllLedgers()].filter(([, { file }]) => file !== ledger.file);
  return open.flatMap(([name, config]) => {
    const identity = identityOrNone(config);
    const found = others.flatMap(([folder, { entries }]) => {
      const reviews = Object.values(entries.servers).filter(
        (review) => identity !== undefined && review.identity === identity,
      );
      return reviews.map((review) => ({ name, folder, review }));
    });
    return found.sort((a, b) => b.review.reviewedAt - a.review.reviewedAt).slice(0, 1);
  });
}

function identityOrNone(config: ServerConfig): string | undefined {
  try {
    return identityOf(config);
  } catch {
    // Starting it reports why.
    return undefined;
  }
}

/** With `trust.scope: "user"` in the user's own file, reviews of other folders count here without a question. */
export async function adoptForUser(settings: Settings, ledger: Ledger): Promise<void> {
  if (settings.config.trust.scope !== "user" || (await readUserTrust()).scope !== "user") return;
  const found = await findReviewsElsewhere(settings, ledger);
  if (found.length === 0) return;
  const adopted = adoptedFrom(found);
  await ledger.change((entries) => ({ ...entries, servers: { ...entries.servers, ...adopted } }));
}

export function adoptedFrom(found: readonly ReviewElsewhere[]): Readonly<Record<string, Review>> {
  // Signatures of hidden values hold for one folder only.
  return Object.fromEntries(
    found.map(({ name, review }) => [name, { ...review, hidden: undefined }]),
  );
}
