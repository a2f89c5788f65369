import { statSync } from "node:fs";
import { basename, isAbsolute, resolve } from "node:path";
import { hashOf } from "../base/json.ts";
import type { ServerConfig } from "../config/schema.ts";
import { readUserTrust } from "../config/user-trust.ts";
import { type Entries, type Ledger, type Review, readAllLedgers } from "../trust/ledger.ts";
import { findInstalled } from "../upstream/installation.ts";
import { findLaunch } from "../upstream/launcher.ts";
import { isOfProject, realProgram } from "../upstream/program.ts";
import { approvalOf } from "../upstream/source.ts";
import type { Settings } from "./settings.ts";

/** A review of the same server that this user did in another folder. */
export interface ReviewElsewhere {
  readonly name: string;
  readonly folder: string;
  readonly review: Review;
}

/**
 * The facts that must be the same for a review to count in another folder: what was approved, the
 * program that runs and the version of its package. Undefined for a server that may run what the
 * folder has, which is another one in each folder. So only remote servers, installed packages and
 * programs with an absolute path have an identity.
 */
export function identityOf(config: ServerConfig): string | undefined {
  if (config.type !== "stdio") return hashOf([approvalOf(config)]);
  const program = realProgram(config);
  if (program === undefined || isOfProject(program) || namesProjectFile(config)) return undefined;
  const launch = findLaunch(config);
  const installed = launch && findInstalled(launch);
  const isFixed = launch ? installed !== undefined : isAbsolute(config.command);
  const words = launch
    ? [...launch.packages, launch.bin ?? "", ...launch.args]
    : [config.command, program, ...config.args];
  if (!isFixed || words.some(namesRunner)) return undefined;
  return hashOf([approvalOf(config), program, installed ?? null]);
}

type Program = Extract<ServerConfig, { readonly type: "stdio" }>;

function namesProjectFile({ args, env, cwd = "" }: Program): boolean {
  const paths = [...args, ...Object.values(env)].flatMap(wordsIn);
  return paths.map((path) => resolve(cwd, path)).some((path) => isFile(path) && isOfProject(path));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Programs that run scripts, build files or whatever a line says: what these do is up to the folder. */
const runner = new RegExp(
  `^(${[
    "node(js|mon)?|deno|bun|bunx|tsx|ts-node|vite-node|npm|npx|pnpm|pnpx|yarn|corepack|nx|turbo",
    "python[\\d.]*|pypy[\\d.]*|uvx?|pipx?|poetry|pdm|hatch|conda|ruby|bundle|rake|perl|php|composer|lua|java",
    "mvn|gradle|gradlew|sbt|dotnet|cargo|go|swift|Rscript|pwsh|sh|bash|dash|zsh|ksh|fish|busybox",
    "make|gmake|cmake|ninja|just|task|mise|nix|bazel|docker|docker-compose|podman|kubectl|direnv|git|ssh",
    "env|exec|eval|sudo|xargs|nice|nohup|timeout|watch|watchexec|concurrently",
  ].join("|")})$`,
);

/** Also inside a line for a shell, and with a version. */
function namesRunner(text: string): boolean {
  return wordsIn(text).some((word) => runner.test(basename(word).replace(/@.*$/, "")));
}

function wordsIn(text: string): readonly string[] {
  return [text, ...text.split(/[\s=;&|<>()'"`]+/)].filter(Boolean);
}

/** The latest review from another folder for each server that is not approved here as it is now. */
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

/**
 * With `trust.scope: "user"` in the user's own file, reviews of other folders count here without a question. Returns
 * the names of the servers.
 */
export async function adoptForUser(settings: Settings, ledger: Ledger): Promise<readonly string[]> {
  if ((await readUserTrust()).scope !== "user") return [];
  const found = await findReviewsElsewhere(settings, ledger);
  if (found.length > 0) await adopt(found, ledger);
  return found.map(({ name }) => name);
}

export function adopt(found: readonly ReviewElsewhere[], ledger: Ledger): Promise<Entries> {
  // Signatures of hidden values hold for one folder only.
  const adopted = found.map(({ name, review }) => [name, { ...review, hidden: undefined }]);
  return ledger.change((entries) => ({
    ...entries,
    servers: { ...entries.servers, ...Object.fromEntries(adopted) },
  }));
}
