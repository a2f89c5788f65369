import { HallError, messageOf } from "../base/errors.ts";
import type { Archive, Waiting } from "./archive.ts";
import type { FromWriter, Read, ToWriter } from "./protocol.ts";

/**
 * The one writer of this process: takes what comes, puts all that waits into one transaction (group commit), and
 * confirms when it is durable. What fails for a passing reason is tried again until it succeeds, or its time is over.
 */
export interface Writer {
  receive(message: ToWriter): void;
}

/** Nobody who waits for a confirmation waits for company; the rest may wait this long for more to come, as few rows cost a commit as much as many. */
const gatherMs = 50;
const retryMs = { least: 20, most: 1_000 };
/** An archive elsewhere may say nothing at all. From then on the writer counts as failing; the attempt itself goes on. */
const silentMs = 2_000;
const lookMs = 250;
const pruneFirstMs = 30_000;
const pruneEveryMs = 10 * 60_000;

export function createWriter(archive: Archive, tell: (message: FromWriter) => void): Writer {
  let waiting: Waiting[] = [];
  let problem: string | null = null;
  let failures = 0;
  /** One thing at a time, in the order it came. */
  let turn: Promise<void> = Promise.resolve();
  let commitTimer: NodeJS.Timeout | undefined;
  let isHurried = false;
  let isClosing = false;
  let pruneTimer: NodeJS.Timeout | undefined;

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

  async function commitWaiting(): Promise<void> {
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    try {
      await attempt(batch);
    } catch (error) {
      await failed(batch, error);
      return;
    }
    pruneTimer ??= setTimeout(prune, pruneFirstMs);
  }

  async function attempt(batch: readonly Waiting[]): Promise<void> {
    const started = performance.now();
    let waitedFor = batch;
    const look = setInterval(() => {
      if (performance.now() - started < silentMs) return;
      setProblem(`no answer for ${silentMs / 1_000} s`);
      // Whoever waits is refused in time; what is on its way is written all the same, should it arrive.
      waitedFor = giveUpLate(waitedFor);
      waiting = giveUpLate(waiting);
    }, lookMs);
    try {
      await archive.commit(batch);
    } finally {
      clearInterval(look);
    }
    failures = 0;
    setProblem(null);
    confirm(batch);
  }

  function confirm(batch: readonly Waiting[]): void {
    const last = batch.findLast((item) => item.kind === "calls");
    if (last) tell({ kind: "kept", batch: last.batch });
    for (const item of batch)
      if (item.kind === "write") tell({ kind: "answer", id: item.id, value: undefined });
  }

  async function failed(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (archive.isOfRow(error)) return commitOneByOne(batch);
    setProblem(messageOf(error));
    waiting = [...giveUpLate(batch), ...waiting];
    if (!isClosing) schedule(Math.min(retryMs.most, retryMs.least * 2 ** Math.min(10, failures++)));
  }

  /** One row that cannot be written must not hold up the others. */
  async function commitOneByOne(batch: readonly Waiting[]): Promise<void> {
    for (const [index, item] of batch.entries()) {
      try {
        await attempt([item]);
      } catch (error) {
        if (!archive.isOfRow(error)) return failed(batch.slice(index), error);
        refuse(item, error);
      }
    }
  }

  function refuse(item: Waiting, error: unknown): void {
    tell({ kind: "notice", message: `a row could not be written: ${messageOf(error)}` });
    if (item.kind === "write")
      tell({ kind: "refused", id: item.id, code: "INTERNAL", message: messageOf(error) });
    else tell({ kind: "kept", batch: item.batch });
  }

  function giveUpLate(batch: readonly Waiting[]): Waiting[] {
    const now = Date.now();
    return batch.filter((item) => {
      if (item.kind === "calls" || (item.giveUpAt > now && !isClosing)) return true;
      tell({
        kind: "refused",
        id: item.id,
        code: "UNAVAILABLE",
        message: `the store cannot be written: ${problem}`,
      });
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
      tell({ kind: "answer", id, value: await archive.read(read) });
    } catch (error) {
      const code = error instanceof HallError ? error.code : "UNAVAILABLE";
      tell({ kind: "refused", id, code, message: `the store cannot be read: ${messageOf(error)}` });
    }
  }

  function prune(): void {
    turn = turn.then(async () => {
      try {
        await archive.read({ what: "prune", now: Date.now() });
      } catch (error) {
        // Nothing is lost by forgetting later.
        tell({ kind: "notice", message: `old rows could not be removed: ${messageOf(error)}` });
      }
    });
    pruneTimer = setTimeout(prune, pruneEveryMs);
  }

  async function close(): Promise<void> {
    isClosing = true;
    clearTimeout(pruneTimer);
    await commitWaiting();
    // The first attempt may have ended with a file set aside, or a connection that was gone.
    if (waiting.length > 0) await commitWaiting();
    try {
      await archive.close();
    } catch (error) {
      tell({ kind: "notice", message: `the store could not be closed: ${messageOf(error)}` });
    }
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
