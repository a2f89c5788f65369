import { execFile } from "node:child_process";
import { appendFileSync, closeSync } from "node:fs";
import { cp, lstat, realpath } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { HallError } from "../base/errors.ts";
import { openProjectFile, readProjectFile } from "../base/project-files.ts";
import { checkInside } from "../workflow/artefacts.ts";
import type { Worktree } from "./state.ts";

/** Worktrees under `.worktrees/`: one checkout per branch, so that features do not get in each other's way. */
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
  const entries = (await readEntries(folder)).filter(({ isGone }) => !isGone);
  const paths = await Promise.all(entries.map(({ path }) => realpath(path).catch(() => path)));
  // Worktrees are inside the main checkout, so the innermost match is the current one.
  const currentPath = paths
    .filter((path) => here === path || here.startsWith(`${path}${sep}`))
    .sort((a, b) => b.length - a.length)[0];
  return Promise.all(
    entries.map(async ({ path, branch }, index) => {
      const isCurrent = paths[index] === currentPath;
      const status = await readStatus(path).catch(() => unknownStatus);
      return { path, branch, isMain: index === 0, isCurrent, ...status };
    }),
  );
}

interface Entry {
  readonly path: string;
  readonly branch: string | undefined;
  /** Its folder was removed without git. */
  readonly isGone: boolean;
}

async function readEntries(folder: string): Promise<readonly Entry[]> {
  // With -z, lines end with a NUL and entries with an empty line.
  const text = await runGit(folder, ["worktree", "list", "--porcelain", "-z"]);
  const blocks = text.split("\0\0").map((block) => block.split("\0").filter(Boolean));
  return blocks
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

type Status = Pick<Worktree, "isDirty" | "ahead" | "behind">;

/** Counts as dirty, so that it is not deleted. */
const unknownStatus: Status = { isDirty: true, ahead: undefined, behind: undefined };

async function readStatus(path: string): Promise<Status> {
  const flags = ["--branch", "--untracked-files=normal", "--ignore-submodules=dirty"];
  const text = await runGit(path, ["status", "--porcelain=v2", ...flags]);
  const lines = text.split("\n").filter(Boolean);
  // Absent without an upstream branch.
  const counts = /^# branch\.ab \+(\d+) -(\d+)$/m.exec(text);
  return {
    isDirty: lines.some((line) => !line.startsWith("#")),
    ahead: counts ? Number(counts[1]) : undefined,
    behind: counts ? Number(counts[2]) : undefined,
  };
}

export async function listBranches(folder: string): Promise<readonly string[]> {
  const text = await runGit(folder, ["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
  return text.split("\n").filter(Boolean);
}

/**
 * The checkout of a branch: an existing one, or a new one under `.worktrees/`. Uncommitted files of
 * the feature are copied into a new one.
 */
export async function openWorktree(
  folder: string,
  branch: string,
  feature: string,
): Promise<string> {
  await runGit(folder, ["check-ref-format", "--branch", branch]);
  const entries = await readEntries(folder);
  const existing = entries.find((entry) => entry.branch === branch && !entry.isGone);
  if (existing) return projectIn(existing.path, folder);
  if (entries.some(({ isGone }) => isGone)) await runGit(folder, ["worktree", "prune"]);

  const main = entries[0]?.path ?? folder;
  const path = join(main, ".worktrees", branch.replaceAll("/", "-"));
  checkInside({ root: main }, path);
  await excludeWorktrees(folder);
  const isKnown =
    (await listBranches(folder)).includes(branch) || (await hasRemoteBranch(folder, branch));
  const target = isKnown ? ["--", path, branch] : ["-b", branch, "--", path];
  await runGit(folder, ["worktree", "add", ...target]);

  const checkout = await projectIn(path, folder);
  await copyFeature(folder, checkout, feature);
  return checkout;
}

async function hasRemoteBranch(folder: string, branch: string): Promise<boolean> {
  const pattern = `refs/remotes/*/${branch}`;
  const args = ["for-each-ref", "--count=1", "--format=%(refname)", pattern];
  return (await runGit(folder, args)).trim() !== "";
}

/** The project's folder inside a checkout; it need not be the repository's root. */
async function projectIn(path: string, folder: string): Promise<string> {
  const prefix = await runGit(folder, ["rev-parse", "--show-prefix"]);
  return join(path, prefix.replace(/\n$/, ""), ".");
}

/** Excludes `.worktrees/` in the repository's own list, not in a committed file. */
async function excludeWorktrees(folder: string): Promise<void> {
  const path = await runGit(folder, ["rev-parse", "--git-path", "info/exclude"]);
  // The repository's folder may be outside the project.
  const repository = resolve(folder, path.trim(), "../..");
  const name = join("info", "exclude");
  const text = (await readProjectFile(repository, name)) ?? "";
  if (/^\/?\.worktrees\/?$/m.test(text)) return;
  const file = openProjectFile(repository, name, { mode: 0o666 });
  appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}/.worktrees/\n`);
  closeSync(file);
}

/** Links are neither copied nor followed: a branch may contain one that leads outside. */
async function copyFeature(folder: string, path: string, feature: string): Promise<void> {
  for (const part of [join("specs", feature), ".specify"]) {
    const [source, copy] = [join(folder, part), join(path, part)];
    if (!(await isFolder(source)) || (await isFolder(copy))) continue;
    checkInside({ root: path }, copy);
    await cp(source, copy, { recursive: true, filter: isFileOrFolder });
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

/** The reason why it must not be deleted, if any. */
export function refuseDelete({ isMain, isCurrent, isDirty }: Worktree): string | undefined {
  if (isMain) return "it is the main checkout";
  if (isCurrent) return "it is in use; switch to another one first";
  if (isDirty) return "it has uncommitted changes; commit or discard them first";
  return undefined;
}

/** Checks again, since it may have changed after the confirmation. Keeps the branch. */
export async function deleteWorktree(source: WorktreeSource, path: string): Promise<void> {
  const found = (await listWorktrees(source)).find((worktree) => worktree.path === path);
  if (!found) throw new HallError("NOT_FOUND", `unknown worktree "${path}"`);
  const reason = refuseDelete(found);
  if (reason !== undefined)
    throw new HallError("EXECUTION", `cannot delete ${path}: ${reason}`, {
      hint: "Nothing was changed.",
    });
  await runGit(source.folder, ["worktree", "remove", "--", path]);
}

const gitMsMax = 60_000;
const outputBytesMax = 16 * 1024 * 1024;

/**
 * Runs git without a shell and returns its stdout. Throws EXECUTION with its message.
 *
 * A folder from an archive has its own `.git/config`, and git runs programs named there, even for
 * `status`. They are switched off here; the user's own settings still apply.
 */
async function runGit(folder: string, args: readonly string[]): Promise<string> {
  const filters = usesFilters.has(args[0] ?? "") ? await filtersOf(folder) : [];
  return execute(folder, args, [...safeSettings, ...filters]);
}

type Setting = readonly [key: string, value: string];

const safeSettings: readonly Setting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  // A folder inside a clone can pose as a bare repository with a config of its own.
  ["safe.bareRepository", "explicit"],
  ["submodule.recurse", "false"],
];

const usesFilters: ReadonlySet<string> = new Set(["status", "worktree"]);

/** Settings that switch off the filters in the repository's own config. */
async function filtersOf(folder: string): Promise<readonly Setting[]> {
  const pattern = "^filter\\..*\\.(clean|smudge|process|required)$";
  const args = ["config", "--null", "--show-scope", "--name-only", "--get-regexp", pattern];
  // Exits with 1 when there are none. Without a repository, the actual command reports that.
  const words = (await execute(folder, args, safeSettings).catch(() => "")).split("\0");
  const own = words.filter(
    (_, index) => index % 2 === 1 && /^(?:local|worktree)$/.test(words[index - 1] ?? ""),
  );
  return own.map((key) => [key, key.endsWith(".required") ? "false" : ""]);
}

function execute(
  folder: string,
  args: readonly string[],
  settings: readonly Setting[],
): Promise<string> {
  // English messages, no prompts, no fetching, and no locks for reading.
  const quiet = {
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOW_PROTOCOL: "none",
  };
  const env = { ...process.env, ...quiet, ...environmentOf(settings) };
  const options = { env, timeout: gitMsMax, maxBuffer: outputBytesMax };
  return new Promise((resolve, reject) => {
    execFile("git", ["-C", folder, ...args], options, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else reject(error.code === "ENOENT" ? gitMissing() : explainGit(stderr, args));
    });
  });
}

/** Added to the user's own `GIT_CONFIG_…`. A key may contain "=", which `-c` cannot express. */
function environmentOf(settings: readonly Setting[]): Record<string, string> {
  const first = Number(process.env.GIT_CONFIG_COUNT) || 0;
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(first + settings.length) };
}

function gitMissing(): HallError {
  return new HallError("UNAVAILABLE", "git was not found", {
    hint: "Install git; only worktrees need it.",
  });
}

function explainGit(stderr: string, args: readonly string[]): HallError {
  if (/not a git repository/i.test(stderr))
    return new HallError("NOT_FOUND", "this folder is not in a git repository", {
      hint: "Run `git init` to use worktrees; everything else works without.",
    });
  const lines = stderr.split("\n").map((line) => line.replace(/^\w+: /, "").trim());
  const reason = lines.filter(Boolean).at(-1) ?? "no message";
  return new HallError("EXECUTION", `git ${args[0]} failed: ${reason}`, {
    hint: "Run the command yourself to see its full output.",
  });
}
