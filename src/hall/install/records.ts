import { randomBytes } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { dataFolder, placePrivate, replacePrivate } from "../../base/files.ts";
import { parseObject } from "../../base/json.ts";
import { ConfigError } from "../../config/error.ts";
import { resolveInside } from "../../config/files.ts";

/**
 * A record of what `install` did to one file, so that `uninstall` can undo it. The content is in
 * the backup, which only this user can read.
 */
export interface InstallRecord {
  readonly client: string;
  readonly scope: "project" | "user";
  readonly file: string;
  /** The name of the hall in the file. */
  readonly name: string;
  /** Servers that were removed from it. */
  readonly moved: readonly string[];
  /** The file with the previous bytes; null if there was no file. */
  readonly backup: string | null;
  /** Hash of the file after the install; null if it was changed between two installs. */
  readonly left: string | null;
  /** Folders that were created for it. */
  readonly folders: readonly string[];
}

export interface Records {
  readonly folder: string;
  all(): Promise<readonly InstallRecord[]>;
  /** Replaces the record of the same file. */
  save(record: InstallRecord): Promise<void>;
  remove(file: string): Promise<void>;
  /** Returns the path of the backup. */
  backUp(client: string, file: string, bytes: Uint8Array): Promise<string>;
}

export function openRecords(env: NodeJS.ProcessEnv): Records {
  const folder = join(dataFolder(env), "installs");
  const index = join(folder, "installs.json");

  async function all(): Promise<readonly InstallRecord[]> {
    const text = await readFile(index, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return '{"installs":[]}';
      throw error;
    });
    return parse(text, index);
  }

  async function write(installs: readonly InstallRecord[]): Promise<void> {
    await replacePrivate(index, `${JSON.stringify({ version: 1, installs }, null, 2)}\n`);
  }

  return {
    folder,
    all,
    save: async (record) =>
      write([...(await all()).filter(({ file }) => file !== record.file), record]),
    remove: async (file) => write((await all()).filter((record) => record.file !== file)),
    async backUp(client, file, bytes) {
      const time = new Date().toISOString().replace(/[:.]/g, "-");
      for (let count = 1; ; count++) {
        const number = count === 1 ? "" : `-${count}`;
        const backup = join(folder, `${time}${number}-${client}-${basename(file)}`);
        if (await placePrivate(backup, bytes)) return backup;
      }
    },
  };
}

function parse(text: string, index: string): readonly InstallRecord[] {
  const { installs } = parseObject(text) ?? {};
  if (Array.isArray(installs)) return installs as InstallRecord[];
  throw new ConfigError(`${index}: not a list of installs; move the file away`);
}

/**
 * Writes a file of another program atomically: follows links, for a file of a project only inside of it, and
 * keeps the mode. Returns the folders it created.
 */
export async function writeThrough(
  file: string,
  content: string | Uint8Array,
  project?: string,
): Promise<readonly string[]> {
  const target = await (project === undefined ? targetOf(file) : resolveInside(project, file));
  const before = await stat(target).catch(() => undefined);
  const folders = before ? [] : await createFolders(dirname(target));
  // Replacing a file with several links, or of another user, would create a different file.
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

/** False if the folder is not writable. */
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
async function createFolders(folder: string): Promise<string[]> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return [];
  const made = [folder];
  while (made[0] !== first && made[0] !== undefined && made[0] !== dirname(made[0]))
    made.unshift(dirname(made[0]));
  return made;
}
