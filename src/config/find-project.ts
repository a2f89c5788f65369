import { existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectFilesOf } from "./files.ts";

export interface FoundProject {
  readonly folder: string;
  /** Config files of parent folders that are not used, because another user owns them. */
  readonly ignored: readonly string[];
}

/**
 * The project that a folder belongs to: the nearest folder with a config file, up to the root of the repository.
 * Outside a repository, and if there is no config file, it is the folder itself. Another user may be able to write
 * to a parent folder, so only the user's own files count.
 */
export function findProject(start: string): FoundProject {
  const ignored: string[] = [];
  for (const folder of foldersOfRepository(start)) {
    const files = projectFilesOf(folder).filter(isThere);
    if (files.length === 0) continue;
    if (folder === start || files.every(isOwn)) return { folder, ignored };
    ignored.push(...files.filter((file) => !isOwn(file)));
  }
  return { folder: start, ignored };
}

/** The folder and its parents up to the repository's root. */
function foldersOfRepository(start: string): readonly string[] {
  const root = repositoryRoot(start);
  const folders = [start];
  for (let at = start; root !== undefined && at !== root; ) {
    at = dirname(at);
    folders.push(at);
  }
  return folders;
}

/** The nearest folder with `.git`, if there is one. */
export function repositoryRoot(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : repositoryRoot(parent);
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Windows tells no owner. */
function isOwn(file: string): boolean {
  return process.geteuid === undefined || lstatSync(file).uid === process.geteuid();
}
