import { randomUUID } from "node:crypto";
import { closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "./errors.ts";

/** The user's data of all projects: tokens, grants. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env.XDG_DATA_HOME, join(".local", "share"));
}

/** Data that can be rebuilt: indexes. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env.XDG_CACHE_HOME, ".cache");
}

/** XDG: a relative path must be ignored. */
function folderOf(given: string | undefined, usual: string): string {
  return join(given && isAbsolute(given) ? given : join(homedir(), usual), "guildhall");
}

/** Files that only this user can read, written atomically because other processes may read them. */
export async function replacePrivate(file: string, text: string): Promise<void> {
  await aside(file, text, (draft) => rename(draft, file));
}

/** False if the file exists already: the first writer wins. */
export async function placePrivate(file: string, contents: string | Uint8Array): Promise<boolean> {
  return aside(file, contents, async (draft) => {
    try {
      await link(draft, file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  });
}

/** Removes a file only if it still has this content: another process may have replaced it. */
export async function removeIfStill(file: string, text: string): Promise<void> {
  const moved = asideOf(file);
  try {
    await rename(file, moved);
    if ((await readFile(moved, "utf8")) !== text) await link(moved, file).catch(() => {});
  } catch {
    // Already removed by another process.
  } finally {
    await rm(moved, { force: true });
  }
}

async function aside<T>(
  file: string,
  contents: string | Uint8Array,
  put: (draft: string) => Promise<T>,
): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = asideOf(file);
  try {
    await writeFile(draft, contents, { mode: 0o600, flag: "wx" });
    return await put(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

function asideOf(file: string): string {
  return `${file}.${randomUUID()}`;
}

const pollMs = 20;

/**
 * Runs work under a lock between processes. The lock is a file with the pid of its holder; it is ignored
 * if the holder has ended or exceeded the time limit. Throws UNAVAILABLE if it cannot be acquired.
 */
export async function withFileLock<T>(
  file: string,
  heldMsMax: number,
  work: () => Promise<T>,
): Promise<T> {
  const own = `${process.pid} ${randomUUID()}`;
  const giveUpAt = performance.now() + 2 * heldMsMax;
  while (!(await placePrivate(file, own))) {
    if (performance.now() > giveUpAt)
      throw new HallError("UNAVAILABLE", `another process holds the lock "${file}"`, {
        hint: "Remove the file if no other guildhall is running.",
      });
    const holder = await findAbandoned(file, heldMsMax);
    if (holder !== undefined) await removeIfStill(file, holder);
    // Jitter, so that waiting processes do not retry together.
    else await sleep(pollMs * (0.5 + Math.random()));
  }
  try {
    return await work();
  } finally {
    await removeIfStill(file, own);
  }
}

/** The content of a stale lock. */
async function findAbandoned(file: string, heldMsMax: number): Promise<string | undefined> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    return Date.now() - mtimeMs > heldMsMax || !isRunning(Number.parseInt(holder, 10))
      ? holder
      : undefined;
  } catch {
    // It was just released.
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/**
 * Creates a folder of ours inside a project. Throws DENIED if a part of the path is a link: a cloned
 * repository could redirect our writes to other files.
 */
export function makeOwnFolder(project: string, ...parts: readonly string[]): string {
  let at = project;
  for (const part of parts) {
    at = join(at, part);
    mkdirSync(at, { recursive: true });
    if (!lstatSync(at).isDirectory())
      throw new HallError("DENIED", `"${at}" is a link, which is not followed`, {
        hint: "Remove it: Guildhall creates a folder instead.",
      });
  }
  return at;
}

/** Opens a file for appending, readable by its owner only. Throws for a link or a pipe. */
export function openOwnFile(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (lstatSync(path).isFile()) return file;
  closeSync(file);
  throw new HallError("DENIED", `"${path}" is not a regular file`);
}
