import { appendFile, cp, lstat, mkdir, readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { HallError } from "../base/errors.ts";
import { checkInside } from "../workflow/place.ts";
import { runGit } from "./git.ts";
import type { Worktree } from "./state.ts";

/** The checkouts of a repository: one for each branch that is worked on, under `.worktrees/`, so that work on one feature leaves the others alone. */
export interface WorktreeSource {
  /** The project's own checkout. */
  readonly folder: string;
  /** The checkout steps work in. */
  readonly current: string;
}

export async function listWorktrees({
  folder,
  current,
}: WorktreeSource): Promise<readonly Worktree[]> {
  const here = await realpath(current).catch(() => current);
  const entries = parseList(await runGit(folder, ["worktree", "list", "--porcelain", "-z"]));
  const standing = entries.filter(({ isGone }) => !isGone);
  const inside = await Promise.all(
    standing.map(async ({ path }) => isInside(here, await realpath(path).catch(() => path))),
  );
  // Worktrees lie inside the main checkout: the innermost is meant.
  const home = standing
    .filter((_, index) => inside[index])
    .reduce<Entry | undefined>(
      (best, one) => (best && best.path.length > one.path.length ? best : one),
      undefined,
    );
  return Promise.all(
    standing.map(async (entry, index) => {
      const { path, branch } = entry;
      // What cannot be looked at counts as dirty, so that nobody deletes it, and hides none of the others.
      const status = await readStatus(path).catch(() => ({
        isDirty: true,
        ahead: undefined,
        behind: undefined,
      }));
      return { path, branch, isMain: index === 0, isCurrent: entry === home, ...status };
    }),
  );
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

interface Entry {
  readonly path: string;
  readonly branch: string | undefined;
  /** Its folder was removed without git. */
  readonly isGone: boolean;
}

/** `-z` ends every line with a zero character and every entry with an empty one. */
function parseList(text: string): readonly Entry[] {
  return text
    .split("\0\0")
    .map((block) => block.split("\0").filter(Boolean))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const find = (key: string): string | undefined =>
        lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
      return {
        path: find("worktree") ?? "",
        branch: find("branch")?.replace(/^refs\/heads\//, ""),
        isGone: lines.some((line) => line === "prunable" || line.startsWith("prunable ")),
      };
    });
}

async function readStatus(path: string): Promise<Pick<Worktree, "isDirty" | "ahead" | "behind">> {
  const lines = (
    await runGit(path, [
      "status",
      "--porcelain=v2",
      "--branch",
      "--untracked-files=normal",
      "--ignore-submodules=dirty",
    ])
  )
    .split("\n")
    .filter(Boolean);
  // Absent where the branch follows nothing, or what it followed was deleted.
  const counts = /^# branch\.ab \+(\d+) -(\d+)$/.exec(
    lines.find((line) => line.startsWith("# branch.ab ")) ?? "",
  );
  return {
    isDirty: lines.some((line) => !line.startsWith("#")),
    ahead: counts ? Number(counts[1]) : undefined,
    behind: counts ? Number(counts[2]) : undefined,
  };
}

export async function listBranches(folder: string): Promise<readonly string[]> {
  return (await runGit(folder, ["for-each-ref", "--format=%(refname:short)", "refs/heads"]))
    .split("\n")
    .filter(Boolean);
}

/**
 * The checkout of a branch: the one there is, wherever it lies, or a new one under `.worktrees/`. What the feature has in `specs/` and is not
 * committed comes along into a new one, so that no work is left behind.
 */
export async function openWorktree(
  folder: string,
  branch: string,
  feature: string,
): Promise<string> {
  await runGit(folder, ["check-ref-format", "--branch", branch]);
  const entries = parseList(await runGit(folder, ["worktree", "list", "--porcelain", "-z"]));
  const existing = entries.find((entry) => entry.branch === branch && !entry.isGone);
  if (existing) return inCheckout(existing.path, folder);
  if (entries.some(({ isGone }) => isGone)) await runGit(folder, ["worktree", "prune"]);
  const main = entries[0]?.path ?? folder;
  const path = join(main, ".worktrees", branch.replaceAll("/", "-"));
  await checkInside({ root: main }, path);
  await hideWorktrees(folder);
  const isKnown =
    (await listBranches(folder)).includes(branch) || (await hasRemoteBranch(folder, branch));
  await runGit(
    folder,
    isKnown
      ? ["worktree", "add", "--", path, branch]
      : ["worktree", "add", "-b", branch, "--", path],
  );
  const place = await inCheckout(path, folder);
  await bringAlong(folder, place, feature);
  return place;
}

async function hasRemoteBranch(folder: string, branch: string): Promise<boolean> {
  return (
    (
      await runGit(folder, [
        "for-each-ref",
        "--count=1",
        "--format=%(refname)",
        `refs/remotes/*/${branch}`,
      ])
    ).trim() !== ""
  );
}

/** The same folder inside another checkout: a project need not be the whole repository. */
async function inCheckout(path: string, folder: string): Promise<string> {
  return join(path, (await runGit(folder, ["rev-parse", "--show-prefix"])).replace(/\n$/, ""), ".");
}

/** In the repository's own list, not in a file that is committed. */
async function hideWorktrees(folder: string): Promise<void> {
  const file = resolve(
    folder,
    (await runGit(folder, ["rev-parse", "--git-path", "info/exclude"])).trim(),
  );
  const text = await readFile(file, "utf8").catch(() => "");
  if (/^\/?\.worktrees\/?$/m.test(text)) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}/.worktrees/\n`);
}

/** Links stay behind, and none is followed: a branch may bring one that leads elsewhere. */
async function bringAlong(folder: string, path: string, feature: string): Promise<void> {
  for (const part of [join("specs", feature), ".specify"]) {
    const [isHere, isThere] = await Promise.all(
      [folder, path].map((base) => isFolder(join(base, part))),
    );
    if (!isHere || isThere) continue;
    await checkInside({ root: path }, join(path, part));
    await cp(join(folder, part), join(path, part), { recursive: true, filter: isFileOrFolder });
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

async function isFileOrFolder(path: string): Promise<boolean> {
  const found = await lstat(path);
  return found.isFile() || found.isDirectory();
}

/** Why it must not be deleted; undefined when it may. */
export function refuseDelete({ isMain, isCurrent, isDirty }: Worktree): string | undefined {
  if (isMain) return "it is the repository's main checkout";
  if (isCurrent) return "you are working in it: switch to another first";
  if (isDirty) return "it has changes that are not committed: commit or discard them first";
  return undefined;
}

/** Looks again before it deletes: much may have happened since a person was asked. The branch stays. Throws EXECUTION. */
export async function deleteWorktree(source: WorktreeSource, path: string): Promise<void> {
  const found = (await listWorktrees(source)).find((worktree) => worktree.path === path);
  if (!found) throw new HallError("NOT_FOUND", `there is no worktree ${path}`);
  const reason = refuseDelete(found);
  if (reason !== undefined)
    throw new HallError("EXECUTION", `${path} was not deleted: ${reason}`, {
      hint: "Nothing was changed.",
    });
  await runGit(source.folder, ["worktree", "remove", "--", path]);
}
