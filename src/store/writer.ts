import { HallError } from "../base/errors.ts";
import type { FromWriter, Read, ToWriter, Write, WriterOptions } from "./protocol.ts";
import { pruneStore } from "./retention.ts";
import { isCorrupt, isPassing, openStateFile, type StateFile, setFileAside } from "./state-file.ts";

/**
 * The one writer of this process: takes what comes, puts all that waits into one transaction (group commit), and
 * confirms when it is on disk. What fails for a passing reason is tried again until it succeeds, or its time is over.
 */
export interface Writer {
  receive(message: ToWriter): void;
}

type Waiting = Extract<ToWriter, { kind: "calls" | "write" }>;

/** Nobody who waits for a confirmation waits for company; the rest may wait this long for more to come, as few rows cost a commit as much as many. */
const gatherMs = 50;
const retryMs = { least: 20, most: 1_000 };
const pruneFirstMs = 30_000;
const pruneEveryMs = 10 * 60_000;

export function createWriter({ path, retention, isReader = false }: WriterOptions, tell: (message: FromWriter) => void): Writer {
  let waiting: Waiting[] = [];
  let file: StateFile | undefined;
  let problem: string | null = null;
  let failures = 0;
  /** One thing at a time, in the order it came. */
  let turn: Promise<void> = Promise.resolve();
  let commitTimer: NodeJS.Timeout | undefined;
  let isHurried = false;
  let isClosing = false;
  let pruneTimer: NodeJS.Timeout | undefined;
  /** Where a file went that turned out to be damaged, until the next one says so. */
  let setAside: string | undefined;

  function commit(): void {
    clearTimeout(commitTimer);
    commitTimer = undefined;
    isHurried = false;
    turn = turn.then(commitWaiting);
  }

  function schedule(delayMs: number): void {
    commitTimer ??= setTimeout(commit, delayMs);
  }

  /** Takes along what came in the same moment, and waits for nothing else. */
  function hurry(): void {
    if (isHurried) return;
    isHurried = true;
    setImmediate(commit);
  }

  async function opened(): Promise<StateFile> {
    if (file) return file;
    file = await openStateFile(path, isReader);
    const aside = file.setAside ?? setAside;
    if (aside !== undefined) announceLoss(file, aside);
    setAside = undefined;
    pruneTimer ??= setTimeout(prune, pruneFirstMs);
    return file;
  }

  /** A new chain begins; it says what became of the old one. */
  function announceLoss({ audit, database }: StateFile, aside: string): void {
    tell({ kind: "notice", message: `the store could not be read: it was set aside as ${aside}, and a new one begun` });
    transact(database, () =>
      audit.append({ kind: "replaced", subject: "store", caller: "guildhall", reason: `the file before could not be read: ${aside}` }, Date.now()),
    );
  }

  async function commitWaiting(): Promise<void> {
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    try {
      const { database, calls, ...tables } = await opened();
      transact(database, () => {
        for (const item of batch) apply(item, { calls, ...tables });
        calls.count();
      });
    } catch (error) {
      file?.calls.settled(false);
      await failed(batch, error);
      return;
    }
    file?.calls.settled(true);
    failures = 0;
    setProblem(null);
    confirm(batch);
  }

  function apply(item: Waiting, tables: Pick<StateFile, "calls" | "audit" | "documents">): void {
    if (item.kind === "calls") tables.calls.add(item.values);
    else applyWrite(item.write, tables);
  }

  function confirm(batch: readonly Waiting[]): void {
    const last = batch.findLast((item) => item.kind === "calls");
    if (last) tell({ kind: "kept", batch: last.batch });
    for (const item of batch) if (item.kind === "write") tell({ kind: "answer", id: item.id, value: undefined });
  }

  async function failed(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (isCorrupt(error) && !isReader) abandonFile();
    else if (!isOfTheFile(error) && batch.length > 1) {
      await commitOneByOne(batch);
      return;
    } else if (!isOfTheFile(error)) {
      refuse(batch, error);
      return;
    }
    setProblem(explain(error));
    waiting = [...giveUpLate(batch), ...waiting];
    if (!isClosing) schedule(Math.min(retryMs.most, retryMs.least * 2 ** Math.min(10, failures++)));
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
      tell({ kind: "notice", message: `the store is damaged, and cannot be set aside: ${explain(error)}` });
    }
  }

  /** One row that cannot be written must not hold up the others. */
  async function commitOneByOne(batch: readonly Waiting[]): Promise<void> {
    const later = waiting;
    for (const item of batch) {
      waiting = [item];
      await commitWaiting();
    }
    waiting = [...waiting, ...later];
  }

  function refuse(batch: readonly Waiting[], error: unknown): void {
    tell({ kind: "notice", message: `a row could not be written: ${explain(error)}` });
    for (const item of batch) {
      if (item.kind === "write") tell({ kind: "refused", id: item.id, code: "INTERNAL", message: explain(error) });
      else tell({ kind: "kept", batch: item.batch });
    }
  }

  function giveUpLate(batch: readonly Waiting[]): readonly Waiting[] {
    const now = Date.now();
    return batch.filter((item) => {
      if (item.kind === "calls" || (item.giveUpAt > now && !isClosing)) return true;
      tell({ kind: "refused", id: item.id, code: "UNAVAILABLE", message: `the store cannot be written: ${problem}` });
      return false;
    });
  }

  function setProblem(message: string | null): void {
    if (message === problem) return;
    problem = message;
    tell({ kind: "problem", message });
  }

  async function answer(id: number, read: Read): Promise<void> {
    // Whoever reads finds what it has added before.
    await commitWaiting();
    try {
      tell({ kind: "answer", id, value: readFrom(await opened(), read) });
    } catch (error) {
      const code = error instanceof HallError ? error.code : "UNAVAILABLE";
      tell({ kind: "refused", id, code, message: `the store cannot be read: ${explain(error)}` });
    }
  }

  function readFrom(state: StateFile, read: Read): unknown {
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
        return pruneStore(state, { retention, now: read.now, transact });
    }
  }

  function prune(): void {
    turn = turn.then(async () => {
      try {
        if (file) pruneStore(file, { retention, now: Date.now(), transact });
      } catch (error) {
        // Nothing is lost by forgetting later.
        tell({ kind: "notice", message: `old rows could not be removed: ${explain(error)}` });
      }
    });
    pruneTimer = setTimeout(prune, pruneEveryMs);
  }

  async function close(): Promise<void> {
    isClosing = true;
    clearTimeout(pruneTimer);
    await commitWaiting();
    // The first attempt may have ended with the file set aside.
    if (waiting.length > 0) await commitWaiting();
    try {
      file?.close();
    } catch (error) {
      tell({ kind: "notice", message: `the store could not be closed: ${explain(error)}` });
    }
    file = undefined;
    tell({ kind: "closed" });
  }

  return {
    receive(message) {
      switch (message.kind) {
        case "calls":
          waiting.push(message);
          schedule(gatherMs);
          return;
        case "write":
          waiting.push(message);
          if (problem === null) hurry();
          else schedule(retryMs.least);
          return;
        case "read":
          turn = turn.then(() => answer(message.id, message.read));
          return;
        case "close":
          turn = turn.then(close);
      }
    },
  };
}

function applyWrite(write: Write, { calls, audit, documents }: Pick<StateFile, "calls" | "audit" | "documents">): void {
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

/** Immediate: whoever reads before it writes must not find out at the end that another was faster. */
export function transact<T>(database: StateFile["database"], work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // A full disk has rolled it back already.
    }
    throw error;
  }
}

/** Not the fault of a row: the next attempt may succeed, and another row would fail as well. */
function isOfTheFile(error: unknown): boolean {
  return isPassing(error) || isCorrupt(error) || error instanceof HallError;
}

function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
