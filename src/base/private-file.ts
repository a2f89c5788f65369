import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

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
