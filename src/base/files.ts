import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "./errors.ts";

/** The user's data of all projects: tokens, grants. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env, env.XDG_DATA_HOME, join(".local", "share"));
}

/** Data that can be rebuilt: indexes. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env, env.XDG_CACHE_HOME, ".cache");
}

/** XDG: a relative path must be ignored. */
function folderOf(env: NodeJS.ProcessEnv, given: string | undefined, usual: string): string {
  const home = process.platform === "win32" ? homedir() : env.HOME || homedir();
  return join(given && isAbsolute(given) ? given : join(home, usual), "guildhall");
}

/**
 * Makes a folder that only this user can use. Throws DENIED if it is a link, belongs to another user or is open
 * to others: in a shared folder another user may have made it first.
 */
export function makePrivateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return requirePrivateFolder(folder);
}

/** The same check for a folder that need not exist; does not create it. */
export function requirePrivateFolder(folder: string): string {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) return folder;
  const isOwn = found.uid === (process.geteuid?.() ?? found.uid);
  const isClosed = process.platform === "win32" || (found.mode & 0o077) === 0;
  if (found.isDirectory() && isOwn && isClosed) return folder;
  throw new HallError(
    "DENIED",
    `${folder} must be a folder, owned by you and not accessible to others`,
    { hint: "Remove it: Guildhall creates it again." },
  );
}

/** Files that only this user can read, written atomically because other processes may read them. */
export async function replacePrivate(file: string, contents: string | Uint8Array): Promise<void> {
  await aside(file, contents, (draft) => rename(draft, file));
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

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
