import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { dataFolder } from "../../base/data-folder.ts";
import { isObject } from "../../base/json.ts";
import { ConfigError } from "../../config/error.ts";
import { writeThrough } from "./write-through.ts";

/** What `install` did to one file, so that `uninstall` can undo it. Holds no content: that is in the backup, readable by this user only. */
export interface InstallRecord {
  readonly client: string;
  readonly scope: "project" | "user";
  readonly file: string;
  /** The hall's name in it. */
  readonly name: string;
  /** Servers that were taken out of it. */
  readonly moved: readonly string[];
  /** The bytes from before; null where there was no file. */
  readonly backup: string | null;
  /** What the file was left as; null once it was changed by somebody else in between. */
  readonly left: string | null;
  /** Folders that were made for it. */
  readonly folders: readonly string[];
}

export interface Records {
  readonly folder: string;
  all(): Promise<readonly InstallRecord[]>;
  /** Takes the place of the record of the same file. */
  save(record: InstallRecord): Promise<void>;
  forget(file: string): Promise<void>;
  /** Keeps bytes under the time and the client's name; returns where. */
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
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeThrough(index, `${JSON.stringify({ version: 1, installs }, null, 2)}\n`);
    await chmod(index, 0o600);
  }

  return {
    folder,
    all,
    save: async (record) =>
      write([...(await all()).filter(({ file }) => file !== record.file), record]),
    forget: async (file) => write((await all()).filter((record) => record.file !== file)),
    async backUp(client, file, bytes) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const time = new Date().toISOString().replace(/[:.]/g, "-");
      for (let count = 1; ; count++) {
        const backup = join(
          folder,
          `${time}${count === 1 ? "" : `-${count}`}-${client}-${basename(file)}`,
        );
        try {
          await writeFile(backup, bytes, { mode: 0o600, flag: "wx" });
          return backup;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        }
      }
    },
  };
}

/** Removes a backup that is no longer needed: the file itself is as it was. */
export async function dropBackup(backup: string): Promise<void> {
  await rm(backup, { force: true });
}

function parse(text: string, index: string): readonly InstallRecord[] {
  try {
    const read: unknown = JSON.parse(text);
    if (isObject(read) && Array.isArray(read.installs)) return read.installs as InstallRecord[];
  } catch {
    // Told below: it is not ours, whatever it is.
  }
  throw new ConfigError(
    `${index}: is not a list of installs; expected what \`guildhall install\` wrote; move it away`,
  );
}
