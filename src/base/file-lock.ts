import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "./errors.ts";
import { placePrivate, removeIfStill } from "./private-file.ts";

const pollMs = 20;

/**
 * Does work that one process of this user may do at a time. The lock is a file that names its holder; one that is gone, or has
 * held it for longer than anybody may, does not count. Throws UNAVAILABLE when it cannot be had.
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
      throw new HallError("UNAVAILABLE", `${file} is held by another process`, {
        hint: "Remove it if no other guildhall runs.",
      });
    const holder = await findAbandoned(file, heldMsMax);
    if (holder !== undefined) await removeIfStill(file, holder);
    // Those who wait must not come back together.
    else await sleep(pollMs * (0.5 + Math.random()));
  }
  try {
    return await work();
  } finally {
    await removeIfStill(file, own);
  }
}

/** What a lock says that nobody holds any more. */
async function findAbandoned(file: string, heldMsMax: number): Promise<string | undefined> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    return Date.now() - mtimeMs > heldMsMax || !isRunning(Number.parseInt(holder, 10))
      ? holder
      : undefined;
  } catch {
    // It has just been given back.
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
