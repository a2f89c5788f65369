import { realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { readRegular } from "../base/project-files.ts";
import { repositoryRoot } from "./find-project.ts";
import { realOf } from "./project-limits.ts";

/**
 * For a folder in a linked worktree of git, the same folder in the main worktree; else undefined. The main worktree
 * must name the linked one too: a clone could only claim to be a worktree of another repository.
 */
export async function findMainWorktree(folder: string): Promise<string | undefined> {
  const root = repositoryRoot(folder);
  if (root === undefined) return undefined;

  const link = await readLine(join(root, ".git"));
  const [, main, name] =
    /^gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\]([^/\\]+)$/.exec(link ?? "") ?? [];
  if (main === undefined || name === undefined) return undefined;

  const mainRoot = resolve(root, main);
  const linked = await readLine(join(mainRoot, ".git", "worktrees", name, "gitdir"));
  if (linked === undefined || realOf(resolve(mainRoot, linked)) !== realOf(join(root, ".git")))
    return undefined;
  return join(realpathSync(mainRoot), relative(root, folder));
}

/** Undefined where git has no such file. */
async function readLine(file: string): Promise<string | undefined> {
  const read = await readRegular(file, 4_096).catch(() => undefined);
  return read?.kind === "read" ? read.bytes.toString("utf8").trim() : undefined;
}
