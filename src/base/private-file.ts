import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Files of this user in a folder of this user, which nobody else can read. Each is written whole or not at all, since others may be reading. */
export async function replacePrivate(file: string, text: string): Promise<void> {
  await aside(file, text, (draft) => rename(draft, file));
}

/** False where there is one already: whoever was first is right. */
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

/** Removes a file that still says this; what another process has put in its place meanwhile stays. */
export async function removeIfStill(file: string, text: string): Promise<void> {
  const moved = asideOf(file);
  try {
    await rename(file, moved);
    if ((await readFile(moved, "utf8")) !== text) await link(moved, file).catch(() => {});
  } catch {
    // It is gone: somebody else was faster.
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
