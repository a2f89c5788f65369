import { randomBytes, randomInt } from "node:crypto";
import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import type { Caller } from "../../tool.ts";
import type { Holdings } from "./holdings.ts";
import { createJournal, type Entry, type Journal } from "./journal.ts";
import type { ClockReadings, ConditionReport, EvaluationLimits, ToolEntry } from "./protocol.ts";
import { createLispThread, type LispThread } from "./thread.ts";

/** Evaluator state behind a handle: a thread, and what is remembered about it. */
export interface Session {
  readonly handle: string;
  thread: LispThread;
  journal: Journal;
  readonly seed: number;
  limits: EvaluationLimits;
  /** What the thread was last told of the tools there are. */
  tools?: readonly ToolEntry[] | undefined;
  lastError?: ConditionReport | undefined;
  lastRun?: string | undefined;
  /** The tool through which its programs have read what strangers wrote. */
  taintedBy?: string | undefined;
  /** The last run, when a person may still allow it to go on. */
  stopped?: Stopped | undefined;
}

/** A run that waits for an approval, and the one before it. */
export interface Stopped {
  readonly run: string;
  readonly entry: Entry;
  readonly before: string | undefined;
  /** What is behind the handles it has. */
  readonly holdings: Holdings;
  /** What it had read of the clock when it was refused. */
  readonly readings: ClockReadings | undefined;
}

/** All sessions of a hall: isolated from each other, each for the one who opened it, bounded in number and age, for each caller and in all. */
export interface Sessions {
  /**
   * Does `work` in the session meant: the one with the handle, else the line's own, else a new one. What is asked of one session is
   * done in turn. A new one takes the place of the caller's own that was unused the longest; where there is none, that of
   * somebody who has more than the caller. Throws NOT_FOUND for a handle that is not the caller's, OVERLOADED when there is no place.
   */
  use<T>(which: Which, work: (session: Session) => Promise<T>): Promise<T>;
  /** A new thread in place of the session's own, with the same beginning. */
  renew(session: Session): Promise<void>;
  close(): Promise<void>;
}

export interface Which {
  readonly caller: Caller | undefined;
  /** Who is no longer waited for when his turn comes does nothing. */
  readonly scope: Scope;
  readonly handle?: string | undefined;
}

export interface SessionsOptions {
  /** The built worker. Default: beside this module, or beside the bundle it is in. */
  readonly worker?: URL | undefined;
  readonly limits: EvaluationLimits;
  /** Default 16. */
  readonly sessionsMax?: number | undefined;
  /** Of one caller. Default 8. */
  readonly ownMax?: number | undefined;
  /** How long an unused session is kept. Default 1,800,000. */
  readonly idleMsMax?: number | undefined;
}

interface Kept extends Session {
  readonly owner: string;
  readonly line: string | undefined;
  usedAt: number;
  uses: number;
  waiting: number;
  last: Promise<unknown>;
}

const waitingMax = 20;
const sweepMsMax = 60_000;

/** A thread before its session. `last` is what it does before anything is asked of it. */
interface Started {
  readonly thread: LispThread;
  readonly seed: number;
  readonly last: Promise<unknown>;
}

/** A thread that ends meanwhile is not alive when it is wanted. */
async function rehearse(thread: LispThread): Promise<void> {
  const scope = new Scope();
  const serve = (): Promise<never> =>
    Promise.reject(new HallError("EXECUTION", "nothing can be called here"));
  await thread.run({ kind: "rehearsal" }, "rehearsal", { scope, serve }).catch(() => {});
  scope.close();
}

/** Those nobody came back to go first: neither a line's own, nor one whose handle was used again. */
function longestUnused(sessions: readonly Kept[]): Kept | undefined {
  const isKept = ({ line, uses }: Kept): number => Number(line !== undefined || uses > 1);
  const [first] = sessions
    .filter(({ waiting }) => waiting === 0)
    .sort((a, b) => isKept(a) - isKept(b) || a.usedAt - b.usedAt);
  return first;
}

export function createSessions({
  worker,
  limits,
  sessionsMax = 16,
  ownMax = 8,
  idleMsMax = 1_800_000,
}: SessionsOptions): Sessions {
  const kept = new Map<string, Kept>();
  const lines = new Map<string, Kept>();
  /** Started before it is asked for, from the second session on. */
  let spare: Started | undefined;
  /** Of sessions that made room. Ending a thread holds up all others for a moment, so it waits for the answer of the one that needed the room. */
  const left: LispThread[] = [];
  let isClosed = false;
  /** Looks for idle sessions, for as long as there are sessions. */
  let sweep: NodeJS.Timeout | undefined;

  const start = (seed: number): LispThread => createLispThread({ worker, seed });

  function takeThread(): Started {
    const taken = spare?.thread.isAlive ? spare : undefined;
    spare = undefined;
    const seed = taken?.seed ?? randomInt(2 ** 31);
    return taken ?? { thread: start(seed), seed, last: Promise.resolve() };
  }

  /** What need not be done before an answer: ends who left, and starts a thread for who comes. */
  function tidy(): void {
    endLeft();
    if (spare || isClosed || kept.size === 0 || kept.size >= sessionsMax) return;
    const seed = randomInt(2 ** 31);
    const thread = start(seed);
    spare = { thread, seed, last: rehearse(thread) };
  }

  function end(session: Kept): void {
    kept.delete(session.handle);
    if (session.line !== undefined) lines.delete(session.line);
    left.push(session.thread);
  }

  function endLeft(): void {
    for (const thread of left.splice(0)) void thread.close();
  }

  function endIdle(): void {
    const now = performance.now();
    for (const session of kept.values())
      if (session.waiting === 0 && (now - session.usedAt > idleMsMax || !session.thread.isAlive))
        end(session);
  }

  function watchIdle(): void {
    sweep ??= setInterval(
      () => {
        endIdle();
        if (kept.size === 0) stopWatching();
        endLeft();
      },
      Math.min(sweepMsMax, idleMsMax),
    ).unref();
  }

  /** Nobody is there for whom a thread should be ready. */
  function stopWatching(): void {
    clearInterval(sweep);
    sweep = undefined;
    if (spare) left.push(spare.thread);
    spare = undefined;
  }

  function makeRoom(owner: string): void {
    endIdle();
    const own = ownedBy(owner);
    if (own.length < ownMax && kept.size < sessionsMax) return;
    const leaving =
      longestUnused(own) ??
      (own.length < ownMax ? longestUnused(largestShares(own.length)) : undefined);
    if (!leaving)
      throw new HallError(
        "OVERLOADED",
        own.length < ownMax
          ? `all ${sessionsMax} Lisp sessions are in use`
          : `all ${ownMax} of your Lisp sessions are busy`,
      );
    end(leaving);
  }

  const ownedBy = (owner: string): Kept[] =>
    [...kept.values()].filter((session) => session.owner === owner);

  /** The sessions of those who have most, where that is more than `count`. */
  function largestShares(count: number): Kept[] {
    const shares = [...new Set([...kept.values()].map(({ owner }) => owner))].map(ownedBy);
    const most = Math.max(...shares.map(({ length }) => length));
    return most > count ? shares.filter(({ length }) => length === most).flat() : [];
  }

  function open(owner: string, line: string | undefined): Kept {
    makeRoom(owner);
    const handle = `lisp-${randomBytes(9).toString("base64url")}`;
    const session: Kept = {
      handle,
      ...takeThread(),
      journal: createJournal(),
      limits,
      owner,
      line,
      usedAt: 0,
      uses: 0,
      waiting: 0,
    };
    kept.set(handle, session);
    watchIdle();
    if (line !== undefined) lines.set(line, session);
    return session;
  }

  function choose({ caller, handle }: Which): Kept {
    const owner = caller?.principal ?? "";
    if (handle !== undefined) {
      const session = kept.get(handle);
      // Whose it is not need not know that it is there.
      if (session?.owner === owner && session.thread.isAlive) return session;
      if (session?.owner === owner) end(session);
      throw new HallError("NOT_FOUND", `there is no session "${handle.slice(0, 40)}"`, {
        hint: "It has ended, or it was never there. Leave `session` out to start a new one, and define again what you need.",
      });
    }
    const line = caller?.isLasting ? caller.connection : undefined;
    const own = line === undefined ? undefined : lines.get(line);
    if (own?.thread.isAlive) return own;
    if (own) end(own);
    return open(owner, line);
  }

  async function useChosen<T>(
    session: Kept,
    scope: Scope,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    if (session.waiting >= waitingMax)
      throw new HallError("OVERLOADED", `${waitingMax} evaluations are waiting for this session`);
    session.waiting++;
    session.uses++;
    const done = session.last.then(() => {
      if (scope.cancelled) throw scope.cancelled;
      return work(session);
    });
    session.last = done.catch(() => {});
    try {
      return await done;
    } finally {
      session.waiting--;
      session.usedAt = performance.now();
    }
  }

  return {
    async use(which, work) {
      try {
        return await useChosen(choose(which), which.scope, work);
      } finally {
        setImmediate(tidy);
      }
    },
    async renew(session) {
      await session.thread.close();
      session.thread = start(session.seed);
      session.tools = undefined;
    },
    async close() {
      isClosed = true;
      stopWatching();
      const threads = [...Array.from(kept.values(), ({ thread }) => thread), ...left.splice(0)];
      kept.clear();
      lines.clear();
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
