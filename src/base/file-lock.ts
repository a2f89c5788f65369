import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "./errors.ts";
import { placePrivate, removeIfStill } from "./private-file.ts";

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
