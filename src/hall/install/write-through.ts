import { randomBytes } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Writes a file that others own: what a link points to instead of the link, its mode kept, whole or not at all. Returns folders it had to make. */
export async function writeThrough(
  file: string,
  content: string | Uint8Array,
): Promise<readonly string[]> {
  const target = await targetOf(file);
  const before = await stat(target).catch(() => undefined);
  const folders = before ? [] : await makeFolders(dirname(target));
  // A file with several names, or of another user, would become another file if it were replaced.
  const isPlain =
    before === undefined ||
    (before.nlink === 1 && before.uid === (process.geteuid?.() ?? before.uid));
  if (isPlain && (await replace(target, content, before?.mode))) return folders;
  await writeFile(target, content);
  return folders;
}

async function targetOf(file: string): Promise<string> {
  return realpath(file).catch(async () => {
    const link = await lstat(file).catch(() => undefined);
    return link?.isSymbolicLink() ? resolve(dirname(file), await readlink(file)) : file;
  });
}

/** Says false where the folder does not let us. */
async function replace(
  target: string,
  content: string | Uint8Array,
  mode: number | undefined,
): Promise<boolean> {
  const beside = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}`);
  const handle = await open(beside, "wx", mode === undefined ? 0o666 : 0o600).catch(
    () => undefined,
  );
  if (!handle) return false;
  try {
    await handle.writeFile(content);
    await handle.sync();
    await handle.close();
    if (mode !== undefined) await chmod(beside, mode & 0o7777);
    await rename(beside, target);
    return true;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(beside, { force: true });
    throw error;
  }
}

/** The folders that were missing, outermost first. */
async function makeFolders(folder: string): Promise<string[]> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return [];
  const made = [folder];
  while (made[0] !== first && made[0] !== undefined && made[0] !== dirname(made[0]))
    made.unshift(dirname(made[0]));
  return made;
}
