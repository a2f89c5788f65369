import { randomBytes, randomInt } from "node:crypto";
import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import type { Caller, Taint } from "../../tool.ts";
import type {
  ClockReadings,
  ConditionSummary,
  EvaluationLimits,
  Language,
  ToolEntry,
} from "./protocol.ts";
import { type HistoryEntry, SessionHistory } from "./recording.ts";
import type { ContentHandles } from "./service.ts";
import { heapMbOfAll, heapMbOfOne, ProgramThread } from "./thread.ts";

/** Evaluator state behind a handle: a thread, and what the hall remembers about it. */
export interface ProgramSession {
  readonly handle: string;
  readonly language: Language;
  thread: ProgramThread;
  history: SessionHistory;
  readonly seed: number;
  limits: EvaluationLimits;
  /** The tools that the thread knows. */
  tools?: readonly ToolEntry[] | undefined;
  lastError?: ConditionSummary | undefined;
  lastRun?: string | undefined;
  /** The content that its programs have read. */
  taint?: Taint | undefined;
  /** The last run, if it can resume after an approval. */
  stopped?: StoppedRun | undefined;
}

export interface StoppedRun {
  readonly run: string;
  readonly entry: HistoryEntry;
  readonly before: string | undefined;
  readonly contents: ContentHandles;
  /** Its clock readings up to the refused call. */
  readonly readings: ClockReadings | undefined;
}

export interface SessionSelector {
  readonly caller: Caller | undefined;
  /** If it is cancelled before the session is free, the work is not started. */
  readonly scope: Scope;
  /** Of a session without a handle. */
  readonly language: Language;
  readonly handle?: string | undefined;
  /** A new session, which ends with the work unless it can resume after an approval. */
  readonly isFresh?: boolean;
}

export interface ProgramSessionsOptions {
  readonly workers?: URL | undefined;
  readonly limits: EvaluationLimits;
  /** Default 16. */
  readonly sessionsMax?: number | undefined;
  /** Per caller. Default 8. */
  readonly ownMax?: number | undefined;
  /** How long an unused session is kept. Default 1,800,000. */
  readonly idleMsMax?: number | undefined;
  /** The heaps of all sessions together. Default `heapMbOfAll`. */
  readonly heapMbMax?: number | undefined;
}

interface OpenSession extends ProgramSession {
  readonly owner: string;
  readonly connection: string | undefined;
  usedAt: number;
  uses: number;
  waiting: number;
  last: Promise<unknown>;
}

/** A thread without a session yet. `last` is its warm-up. */
interface StartedThread {
  readonly thread: ProgramThread;
  readonly seed: number;
  readonly last: Promise<unknown>;
}

const waitingMax = 20;
const sweepMsMax = 60_000;
/** How often the memory is looked at while programs run. */
const watchMs = 100;

/** All sessions of a hall: isolated, private to their caller, bounded in number (per caller and in total) and age. */
export class ProgramSessions {
  readonly #options: ProgramSessionsOptions;
  readonly #sessionsMax: number;
  readonly #ownMax: number;
  readonly #idleMsMax: number;
  readonly #open = new Map<string, OpenSession>();
  /** The default sessions of connections, by connection and language. */
  readonly #byConnection = new Map<string, OpenSession>();
  /** Started ahead of need, from the second session of a language on. */
  readonly #spares = new Map<Language, StartedThread>();
  /** Threads to end. Ending one delays all others for a moment, so it happens after the current answer. */
  readonly #ending: ProgramThread[] = [];
  #isClosed = false;
  /** Runs while there are sessions. */
  #sweep: NodeJS.Timeout | undefined;
  readonly #heapMbMax: number;
  /** Runs while programs run. */
  #watch: NodeJS.Timeout | undefined;
  #running = 0;

  constructor(options: ProgramSessionsOptions) {
    this.#options = options;
    this.#sessionsMax = options.sessionsMax ?? 16;
    this.#ownMax = options.ownMax ?? 8;
    this.#idleMsMax = options.idleMsMax ?? 1_800_000;
    this.#heapMbMax = options.heapMbMax ?? heapMbOfAll;
  }

  /**
   * Runs `work` in the session with the handle, else in the connection's own, else in a new one. Work in
   * one session is serialized. A new session replaces the caller's own that was unused the longest; if
   * there is none, one of a caller who has more. Throws NOT_FOUND for a handle that is not the caller's,
   * OVERLOADED if all sessions are busy.
   */
  async use<T>(
    selector: SessionSelector,
    work: (session: ProgramSession) => Promise<T>,
  ): Promise<T> {
    const session = this.#choose(selector);
    this.#running += 1;
    this.#watch ??= setInterval(() => this.#boundMemory(), watchMs).unref();
    try {
      return await this.#useChosen(session, selector.scope, work);
    } finally {
      this.#running -= 1;
      this.#boundMemory();
      if (this.#running === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
      }
      if (selector.isFresh && !session.stopped) this.#end(session);
      setImmediate(() => this.#tidy(session.language));
    }
  }

  /** Gives the session a fresh thread with the same seed. */
  async renew(session: ProgramSession): Promise<void> {
    await session.thread.close();
    session.thread = this.#start(session.language, session.seed);
    session.tools = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopSweep();
    const threads = [...this.#open.values()].map(({ thread }) => thread);
    threads.push(...this.#ending.splice(0));
    this.#open.clear();
    this.#byConnection.clear();
    await Promise.all(threads.map((thread) => thread.close()));
  }

  #choose({ caller, handle, language, isFresh }: SessionSelector): OpenSession {
    const owner = caller?.principal ?? "";
    if (handle !== undefined) {
      const session = this.#open.get(handle);
      // Other callers must not learn that the session exists.
      if (session?.owner === owner && session.thread.isAlive) return session;
      if (session?.owner === owner) this.#end(session);
      throw new HallError("NOT_FOUND", `no session "${handle.slice(0, 40)}"`, {
        hint: "It has ended or never existed. Leave `session` out to start a new one, and define again what you need.",
      });
    }
    const connection =
      caller?.isLasting && !isFresh ? `${language} ${caller.connection}` : undefined;
    const own = connection === undefined ? undefined : this.#byConnection.get(connection);
    if (own?.thread.isAlive) return own;
    if (own) this.#end(own);
    return this.#create(owner, connection, language);
  }

  #create(owner: string, connection: string | undefined, language: Language): OpenSession {
    this.#makeRoom(owner);
    const handle = `${language}-${randomBytes(9).toString("base64url")}`;
    const session: OpenSession = {
      handle,
      language,
      ...this.#takeThread(language),
      history: new SessionHistory(),
      limits: this.#options.limits,
      owner,
      connection,
      usedAt: 0,
      uses: 0,
      waiting: 0,
    };
    this.#open.set(handle, session);
    this.#startSweep();
    if (connection !== undefined) this.#byConnection.set(connection, session);
    return session;
  }

  async #useChosen<T>(
    session: OpenSession,
    scope: Scope,
    work: (session: ProgramSession) => Promise<T>,
  ): Promise<T> {
    if (session.waiting >= waitingMax)
      throw new HallError("OVERLOADED", `${waitingMax} evaluations already wait for this session`);
    session.waiting++;
    session.uses++;
    const done = session.last.then(() => {
      if (scope.cancelReason) throw scope.cancelReason;
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

  #start(language: Language, seed: number): ProgramThread {
    const heapMbMax = heapMbOfOne(this.#heapMbMax);
    return new ProgramThread({ language, workers: this.#options.workers, seed, heapMbMax });
  }

  #takeThread(language: Language): StartedThread {
    const spare = this.#spares.get(language);
    this.#spares.delete(language);
    if (spare?.thread.isAlive) return spare;
    const seed = randomInt(2 ** 31);
    return { thread: this.#start(language, seed), seed, last: Promise.resolve() };
  }

  /** Work that no answer has to wait for: ends old threads and starts a spare one. */
  #tidy(language: Language): void {
    this.#endThreads();
    const isFull = this.#open.size >= this.#sessionsMax;
    if (this.#spares.has(language) || this.#isClosed || isFull) return;
    const seed = randomInt(2 ** 31);
    const thread = this.#start(language, seed);
    this.#spares.set(language, { thread, seed, last: warmUp(thread) });
    this.#startSweep();
  }

  #end(session: OpenSession): void {
    this.#open.delete(session.handle);
    if (session.connection !== undefined) this.#byConnection.delete(session.connection);
    this.#ending.push(session.thread);
  }

  #endThreads(): void {
    for (const thread of this.#ending.splice(0)) void thread.close();
  }

  #endIdle(): void {
    const now = performance.now();
    for (const session of this.#open.values()) {
      const isIdle = now - session.usedAt > this.#idleMsMax || !session.thread.isAlive;
      if (session.waiting === 0 && isIdle) this.#end(session);
    }
  }

  /** Ends the largest sessions, first of those that run nothing, until the others fit into the limit. */
  #boundMemory(): void {
    const sessions = [...this.#open.values()].sort(
      (a, b) => Number(a.waiting > 0) - Number(b.waiting > 0) || b.thread.heapMb - a.thread.heapMb,
    );
    let total = sessions.reduce((sum, { thread }) => sum + thread.heapMb, 0);
    for (const session of sessions) {
      if (total <= this.#heapMbMax) return;
      total -= session.thread.heapMb;
      session.thread.abort(
        new HallError(
          "BUDGET",
          `all program sessions together use more than ${this.#heapMbMax} MiB of memory, so this one was ended`,
          { hint: "Keep less data in the session, or try again when other programs have ended." },
        ),
      );
      this.#end(session);
    }
  }

  #startSweep(): void {
    this.#sweep ??= setInterval(
      () => {
        this.#endIdle();
        if (this.#open.size === 0) this.#stopSweep();
        this.#endThreads();
      },
      Math.min(sweepMsMax, this.#idleMsMax),
    ).unref();
  }

  /** Without sessions, no spare thread is needed either. */
  #stopSweep(): void {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    this.#ending.push(...[...this.#spares.values()].map(({ thread }) => thread));
    this.#spares.clear();
  }

  #makeRoom(owner: string): void {
    this.#endIdle();
    const own = this.#ownedBy(owner);
    const isBelowOwnMax = own.length < this.#ownMax;
    if (isBelowOwnMax && this.#open.size < this.#sessionsMax) return;
    const replaced =
      longestUnused(own) ??
      (isBelowOwnMax ? longestUnused(this.#largestShares(own.length)) : undefined);
    if (!replaced)
      throw new HallError(
        "OVERLOADED",
        isBelowOwnMax
          ? `all ${this.#sessionsMax} program sessions are busy`
          : `all ${this.#ownMax} of your program sessions are busy`,
      );
    this.#end(replaced);
  }

  #ownedBy(owner: string): OpenSession[] {
    return [...this.#open.values()].filter((session) => session.owner === owner);
  }

  /** The sessions of the callers who have most, if that is more than `count`. */
  #largestShares(count: number): OpenSession[] {
    const owners = new Set([...this.#open.values()].map(({ owner }) => owner));
    const shares = [...owners].map((owner) => this.#ownedBy(owner));
    const most = Math.max(...shares.map(({ length }) => length));
    return most > count ? shares.filter(({ length }) => length === most).flat() : [];
  }
}

async function warmUp(thread: ProgramThread): Promise<void> {
  const scope = new Scope();
  // A thread that fails here is not alive when it is needed, and is replaced.
  await thread.run({ kind: "warm-up" }, "warm-up", { scope, serve: refuseCalls }).catch(() => {});
  scope.close();
}

/** For orders that run no program. */
export function refuseCalls(): Promise<never> {
  return Promise.reject(new HallError("EXECUTION", "no tool can be called here"));
}

/** Prefers sessions that were used once over those of a connection and those whose handle was used again. */
function longestUnused(sessions: readonly OpenSession[]): OpenSession | undefined {
  const wasReused = ({ connection, uses }: OpenSession): number =>
    Number(connection !== undefined || uses > 1);
  const [first] = sessions
    .filter(({ waiting }) => waiting === 0)
    .sort((a, b) => wasReused(a) - wasReused(b) || a.usedAt - b.usedAt);
  return first;
}
