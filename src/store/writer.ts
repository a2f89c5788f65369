import { HallError, messageOf } from "../base/errors.ts";
import { backoffMs, monotonicMs } from "../base/timing.ts";
import type { Archive } from "./archive.ts";
import type { FromWriter, PendingWrite, Read, ToWriter } from "./protocol.ts";
import { StoreChanged } from "./seal.ts";

/**
 * Durable writes commit at once; other rows are batched for this long, because a commit costs the
 * same for one row as for many.
 */
const gatherMs = 50;
const retry = { firstMs: 20, maxMs: 1_000 };
/** A database may not answer at all. After this the writer counts as failing, while the attempt continues. */
const silentMs = 2_000;
const checkMs = 250;
const pruneFirstMs = 30_000;
const pruneEveryMs = 10 * 60_000;

type NextCommit =
  | { readonly kind: "none" }
  | { readonly kind: "timer"; readonly timer: NodeJS.Timeout }
  | { readonly kind: "immediate" };

/**
 * The only writer of this process. It puts everything that waits into one transaction (group commit) and confirms it
 * once it is durable. Transient failures are retried until they succeed or the caller's deadline passes.
 */
export class Writer {
  readonly #archive: Archive;
  readonly #send: (message: FromWriter) => void;
  #pending: PendingWrite[] = [];
  #problem: string | null = null;
  /** True if the store is not the one that was written before: waiting does not help. */
  #isChanged = false;
  #failures = 0;
  /** Operations run one at a time, in the order they arrived. */
  #turn: Promise<void> = Promise.resolve();
  #nextCommit: NextCommit = { kind: "none" };
  #pruneTimer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(archive: Archive, send: (message: FromWriter) => void) {
    this.#archive = archive;
    this.#send = send;
  }

  receive(message: ToWriter): void {
    switch (message.kind) {
      case "calls":
        this.#pending.push(message);
        this.#commitIn(gatherMs);
        return;
      case "write":
        this.#pending.push(message);
        if (this.#problem === null) this.#commitNow();
        else this.#commitIn(retry.firstMs);
        return;
      case "read":
        this.#enqueue(() => this.#answer(message.id, message.read));
        return;
      case "close":
        this.#enqueue(() => this.#close());
    }
  }

  #enqueue(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work);
  }

  #commitIn(delayMs: number): void {
    if (this.#nextCommit.kind !== "none") return;
    this.#nextCommit = { kind: "timer", timer: setTimeout(() => this.#startCommit(), delayMs) };
  }

  /** Includes what arrives in the same turn of the event loop. */
  #commitNow(): void {
    if (this.#nextCommit.kind === "immediate") return;
    if (this.#nextCommit.kind === "timer") clearTimeout(this.#nextCommit.timer);
    this.#nextCommit = { kind: "immediate" };
    setImmediate(() => this.#startCommit());
  }

  #startCommit(): void {
    this.#nextCommit = { kind: "none" };
    this.#enqueue(() => this.#commitPending());
  }

  async #commitPending(): Promise<void> {
    if (this.#pending.length === 0) return;
    const batch = this.#pending;
    this.#pending = [];
    try {
      await this.#attempt(batch);
    } catch (error) {
      await this.#onFailure(batch, error);
      return;
    }
    // A timer that starts while closing would keep the thread alive until it is terminated.
    if (!this.#isClosing) this.#pruneTimer ??= setTimeout(() => this.#prune(), pruneFirstMs);
  }

  async #attempt(batch: readonly PendingWrite[]): Promise<void> {
    const started = performance.now();
    let unanswered = batch;
    const check = setInterval(() => {
      if (performance.now() - started < silentMs) return;
      this.#setProblem(`no answer for ${silentMs / 1_000} s`);
      // Their callers get an error in time. The rows are written nevertheless if the attempt succeeds.
      unanswered = this.#rejectOverdue(unanswered);
      this.#pending = this.#rejectOverdue(this.#pending);
    }, checkMs);
    try {
      await this.#archive.commit(batch);
    } finally {
      clearInterval(check);
    }

    this.#failures = 0;
    this.#isChanged = false;
    this.#setProblem(null);
    this.#confirm(batch);
  }

  #confirm(batch: readonly PendingWrite[]): void {
    const last = batch.findLast((item) => item.kind === "calls");
    if (last) this.#send({ kind: "committed", batch: last.batch });
    for (const item of batch)
      if (item.kind === "write") this.#send({ kind: "answer", id: item.id, value: undefined });
  }

  async #onFailure(batch: readonly PendingWrite[], error: unknown): Promise<void> {
    if (this.#archive.isRowError(error)) return this.#commitOneByOne(batch);
    this.#isChanged = error instanceof StoreChanged;
    this.#setProblem(messageOf(error));
    this.#pending = [...this.#rejectOverdue(batch), ...this.#pending];
    if (!this.#isClosing) this.#commitIn(backoffMs(++this.#failures, retry));
  }

  /** A row that cannot be written must not block the others. */
  async #commitOneByOne(batch: readonly PendingWrite[]): Promise<void> {
    for (const [index, item] of batch.entries()) {
      try {
        await this.#attempt([item]);
      } catch (error) {
        if (!this.#archive.isRowError(error)) return this.#onFailure(batch.slice(index), error);
        this.#reject(item, messageOf(error));
      }
    }
  }

  #reject(item: PendingWrite, message: string): void {
    this.#send({ kind: "notice", message: `cannot write a row: ${message}` });
    if (item.kind === "write")
      this.#send({ kind: "rejected", id: item.id, code: "INTERNAL", message, isChanged: false });
    else this.#send({ kind: "committed", batch: item.batch });
  }

  /** Rejects the writes whose deadline has passed and returns the rest. */
  #rejectOverdue(batch: readonly PendingWrite[]): PendingWrite[] {
    const now = monotonicMs();
    const message = `cannot write to the store: ${this.#problem}`;
    const isChanged = this.#isChanged;
    return batch.filter((item) => {
      const isOver = item.kind === "write" && (item.deadline <= now || this.#isClosing);
      if (item.kind === "calls" || !(isOver || isChanged)) return true;
      this.#send({ kind: "rejected", id: item.id, code: "UNAVAILABLE", message, isChanged });
      return false;
    });
  }

  #setProblem(message: string | null): void {
    if (message === this.#problem) return;
    this.#problem = message;
    this.#send({ kind: "problem", message });
  }

  /** Commits first, so that a read sees what its caller has added. */
  async #answer(id: number, read: Read): Promise<void> {
    await this.#commitPending();
    try {
      this.#send({ kind: "answer", id, value: await this.#archive.read(read) });
    } catch (error) {
      const code = error instanceof HallError ? error.code : "UNAVAILABLE";
      const message = `cannot read the store: ${messageOf(error)}`;
      const isChanged = error instanceof StoreChanged;
      this.#send({ kind: "rejected", id, code, message, isChanged });
    }
  }

  #prune(): void {
    this.#enqueue(async () => {
      try {
        await this.#archive.read({ what: "prune", now: Date.now() });
      } catch (error) {
        this.#send({ kind: "notice", message: `cannot remove old rows: ${messageOf(error)}` });
      }
    });
    this.#pruneTimer = setTimeout(() => this.#prune(), pruneEveryMs);
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#pruneTimer);
    // A retry after the end would run native code in a thread that is being terminated, which aborts the process.
    if (this.#nextCommit.kind === "timer") clearTimeout(this.#nextCommit.timer);
    await this.#commitPending();
    // The first attempt may have replaced a damaged file, or found its connection closed.
    if (this.#pending.length > 0) await this.#commitPending();
    try {
      await this.#archive.close();
    } catch (error) {
      this.#send({ kind: "notice", message: `cannot close the store: ${messageOf(error)}` });
    }
    this.#send({ kind: "closed" });
  }
}
