import { HallError, messageOf } from "../base/errors.ts";
import type { Archive, Notice, Waiting } from "./archive.ts";
import type { Read, Write } from "./protocol.ts";
import { pruneStore } from "./retention.ts";
import {
  isCorrupt,
  isPassing,
  openStateFile,
  type StateFile,
  setFileAside,
  transact,
} from "./state-file.ts";
import type { Retention } from "./store.ts";

export interface FileOptions {
  readonly path: string;
  readonly retention: Retention;
  /** A file that cannot be read is left where it is. */
  readonly isReader: boolean;
  readonly notice: Notice;
}

/** An archive in a SQLite file. One that turns out to be damaged is set aside, and the next attempt begins with a new one. */
export function createFileArchive({ path, retention, isReader, notice }: FileOptions): Archive {
  let file: StateFile | undefined;
  /** Where a file went that turned out to be damaged, until the next one says so. */
  let setAside: string | undefined;

  async function opened(): Promise<StateFile> {
    if (file) return file;
    file = await openStateFile(path, isReader);
    const aside = file.setAside ?? setAside;
    if (aside !== undefined) announceLoss(file, aside);
    setAside = undefined;
    return file;
  }

  /** A new chain begins; it says what became of the old one. */
  function announceLoss({ audit, database }: StateFile, aside: string): void {
    notice(`the store could not be read: it was set aside as ${aside}, and a new one begun`);
    transact(database, () =>
      audit.append(
        {
          kind: "replaced",
          subject: "store",
          caller: "guildhall",
          reason: `the file before could not be read: ${aside}`,
        },
        Date.now(),
      ),
    );
  }

  async function commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const { database, calls, ...tables } = await opened();
      transact(database, () => {
        for (const item of batch) apply(item, { calls, ...tables });
        calls.count();
      });
    } catch (error) {
      file?.calls.settled(false);
      if (isCorrupt(error) && !isReader) abandonFile();
      throw error;
    }
    file?.calls.settled(true);
  }

  /** The next attempt begins with a new file; what waits goes into it. */
  function abandonFile(): void {
    try {
      file?.close();
    } catch {
      // A file this broken may not even close; it is left to the end of the process.
    }
    const inode = file?.inode;
    file = undefined;
    try {
      if (inode !== undefined) setAside = setFileAside(path, inode);
    } catch (error) {
      notice(`the store is damaged, and cannot be set aside: ${messageOf(error)}`);
    }
  }

  return {
    commit,
    async read(read) {
      return readFrom(await opened(), read, retention);
    },
    isOfRow: (error) => !(isPassing(error) || isCorrupt(error) || error instanceof HallError),
    async close() {
      const last = file;
      file = undefined;
      last?.close();
    },
  };
}

type Tables = Pick<StateFile, "calls" | "audit" | "documents">;

function apply(item: Waiting, tables: Tables): void {
  if (item.kind === "calls") tables.calls.add(item.values);
  else applyWrite(item.write, tables);
}

function applyWrite(write: Write, { calls, audit, documents }: Tables): void {
  switch (write.what) {
    case "begin":
      calls.begin(write.values);
      return;
    case "append":
      audit.append(write.entry, write.at);
      return;
    case "put":
      documents.put(write.shelf, write.key, write.body, write.expiresAt);
      return;
    case "remove":
      documents.remove(write.shelf, write.key);
      return;
    case "flush":
      return;
  }
}

function readFrom(state: StateFile, read: Read, retention: Retention): unknown {
  const { calls, audit, documents } = state;
  switch (read.what) {
    case "calls":
      return calls.list(read.filter);
    case "audit":
      return audit.list(read.filter);
    case "verify":
      return audit.verify();
    case "statistics":
      return calls.statistics(read.since, Date.now());
    case "find":
      return documents.find(read.shelf, read.key, Date.now());
    case "documents":
      return documents.list(read.shelf, read.prefix, Date.now());
    case "prune":
      return pruneStore(state, { retention, now: read.now });
  }
}
