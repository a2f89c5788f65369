import { Worker } from "node:worker_threads";
import { findWorker } from "../base/bounded-worker.ts";
import { type ErrorCode, HallError, type HallErrorOptions } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { monotonicMs } from "../base/timing.ts";
import { CallQueue } from "./calls.ts";
import type {
  FromWriter,
  Read,
  StoreLocation,
  ToWriter,
  Write,
  WriterOptions,
} from "./protocol.ts";
import { StoreChanged } from "./seal.ts";
import type { CallRow } from "./store.ts";

export interface WriterThreadOptions extends WriterOptions {
  readonly log: Pick<Log, "warn" | "error">;
  /** Shown in the log: a path, or a URL without its password. */
  readonly name: string;
  /** Default: beside this module, or beside the bundle it is in. */
  readonly worker?: URL | undefined;
  /** Waiting rows at which clients should no longer be read. Default 16,384. */
  readonly fullAt?: number | undefined;
  /** Removes secrets from a call. */
  scrub(row: CallRow): CallRow;
}

type ThreadState =
  | { readonly kind: "stopped" }
  | { readonly kind: "running"; readonly worker: Worker }
  | { readonly kind: "restarting"; readonly timer: NodeJS.Timeout };

interface PendingRequest {
  readonly message: Extract<ToWriter, { kind: "write" | "read" }>;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Calls are gathered this long: waking the writer for each of them would cost more than the row itself. */
const batchMs = 25;
/** Calls that are described together: the first one of a batch costs several times as much as the others. */
const describedAtOnce = 64;
/** While the writer fails, this many times the usual number of rows may wait; more are counted as lost. */
const heldTimes = 4;
const charactersFull = 32 * 1024 * 1024;
const durableMsMax = 2_000;
const closeMsMax = 10_000;
const exitMsMax = 1_000;
const restartMs = 1_000;
const threadEnded = "the writer thread ended";
/** V8's usual 48 MB take 20 MB more memory, and make nothing faster. */
const maxYoungGenerationSizeMb = 8;

/**
 * The hall's end of the writer. It batches rows, so that recording a call takes the hall's thread microseconds, and
 * keeps each until the writer confirms it. The thread starts with the first row and keeps no process alive.
 */
export class WriterThread {
  readonly #options: WriterThreadOptions;
  readonly #fullAt: number;
  readonly #queue = new CallQueue();
  readonly #requests = new Map<number, PendingRequest>();
  readonly #listeners = new Set<(isFull: boolean) => void>();
  readonly #waitingForSent: (() => void)[] = [];
  #undescribed: (() => CallRow)[] = [];
  #thread: ThreadState = { kind: "stopped" };
  #sealTimer: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  #isOverLimit = false;
  #lost = 0;
  #lastId = 0;
  #isClosing = false;
  #closing: Promise<void> | undefined;
  #onClosed = (): void => {};

  constructor(options: WriterThreadOptions) {
    this.#options = options;
    this.#fullAt = options.fullAt ?? 16_384;
  }

  /** False while the writer fails: waiting for it would stop all calls. */
  get isFull(): boolean {
    return this.#isOverLimit && this.#problem === undefined;
  }

  onFull(listener: (isFull: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  state(): {
    readonly problem: string | undefined;
    readonly waiting: number;
    readonly lost: number;
  } {
    this.#describeCalls();
    return { problem: this.#problem, waiting: this.#queue.rows, lost: this.#lost };
  }

  readonly add = (row: CallRow | (() => CallRow)): void => {
    if (typeof row !== "function") {
      this.#describeCalls();
      this.#add(row);
    } else if (this.#undescribed.push(row) < describedAtOnce) this.#sealSoon();
    else this.#describeCalls();
  };

  #describeCalls(): void {
    if (this.#undescribed.length === 0) return;
    const described = this.#undescribed;
    this.#undescribed = [];
    for (const describe of described) {
      try {
        this.#add(describe());
      } catch (err) {
        // The call is already answered, so the log is the only place to report this.
        this.#options.log.error({ err }, "a call could not be described and is not recorded");
      }
    }
  }

  #add(row: CallRow): void {
    if (this.#problem !== undefined && this.#isOver(heldTimes)) {
      this.#lost++;
      return;
    }
    if (this.#queue.add(this.#options.scrub(row))) this.#seal();
    else this.#sealSoon();
    if (!this.#isOverLimit && this.#isOver(1)) this.#update({ isOverLimit: true });
  }

  /** Resolves when it is durable. Calls that were added before are written before. */
  write(write: Write): Promise<void> {
    this.#seal();
    const deadline = monotonicMs() + durableMsMax;
    return this.#request({ kind: "write", id: ++this.#lastId, write, deadline });
  }

  /** Sees everything that was added before. */
  async read<T>(read: Read): Promise<T> {
    await this.#allSent();
    return this.#request<T>({ kind: "read", id: ++this.#lastId, read });
  }

  async flush(): Promise<void> {
    await this.#allSent();
    await this.write({ what: "flush" });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #isOver(times: number): boolean {
    const { rows, characters } = this.#queue;
    return rows >= this.#fullAt * times || characters >= charactersFull * times;
  }

  #sealSoon(): void {
    this.#sealTimer ??= setTimeout(() => this.#seal(), batchMs).unref();
  }

  #seal(): void {
    this.#describeCalls();
    clearTimeout(this.#sealTimer);
    this.#sealTimer = undefined;
    this.#queue.seal();
    this.#sendCalls();
  }

  #sendCalls(countMax?: number): void {
    for (const { number, calls } of this.#queue.take(countMax))
      this.#post({ kind: "calls", batch: number, calls });
    if (!this.#queue.hasWaiting) for (const resolve of this.#waitingForSent.splice(0)) resolve();
  }

  /** Waits until the writer has everything added so far. Not while it fails, because that may never happen. */
  async #allSent(): Promise<void> {
    this.#seal();
    if (this.#queue.hasWaiting && this.#problem === undefined)
      await new Promise<void>((resolve) => this.#waitingForSent.push(resolve));
  }

  #request<T>(message: PendingRequest["message"]): Promise<T> {
    if (this.#isClosing) return Promise.reject(this.#error("UNAVAILABLE", "the store is closed"));
    return new Promise<T>((resolve, reject) => {
      this.#requests.set(message.id, {
        message,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#post(message);
      this.#updateRef();
    });
  }

  /** A thread that starts gets everything unconfirmed, so nothing is posted before. */
  #post(message: ToWriter): void {
    if (this.#thread.kind === "running") this.#thread.worker.postMessage(message);
    else if (this.#thread.kind === "stopped" && !this.#isClosing) this.#start();
    else if (this.#isClosing && message.kind === "calls")
      // A new thread would not know which rows are those of running calls, and would never be closed.
      this.#options.log.error(
        { store: this.#options.name },
        "calls ended after the store was closed and are not recorded",
      );
  }

  #start(): void {
    const { location, retention, isReader, seal, worker: file, log } = this.#options;
    const worker = new Worker(
      file ?? findWorker("store-worker", new URL("./store-worker.ts", import.meta.url)),
      {
        workerData: { location, retention, isReader, seal } satisfies WriterOptions,
        env: {},
        execArgv: [],
        resourceLimits: { maxYoungGenerationSizeMb },
        stdout: true,
        stderr: true,
      },
    );
    this.#thread = { kind: "running", worker };
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on("message", (message: FromWriter) => this.#onMessage(message));
    worker.on("error", (err) => log.error({ err }, "the writer thread of the store failed"));
    worker.on("exit", () => this.#onExit(worker));

    for (const { number, calls } of this.#queue.sent)
      this.#post({ kind: "calls", batch: number, calls });
    for (const { message } of this.#requests.values()) this.#post(message);
    this.#updateRef();
  }

  #onExit(worker: Worker): void {
    if (this.#thread.kind !== "running" || this.#thread.worker !== worker) return;
    this.#thread = { kind: "stopped" };
    if (this.#isClosing) {
      this.#onClosed();
      return;
    }
    this.#update({ problem: threadEnded });
    this.#rejectUnanswered();
    const timer = setTimeout(() => this.#start(), restartMs);
    if (this.#requests.size === 0) timer.unref();
    this.#thread = { kind: "restarting", timer };
  }

  /** The next thread repeats writes while their callers wait; a thread that cannot start would never answer a read. */
  #rejectUnanswered(): void {
    for (const [id, { message, reject }] of this.#requests) {
      if (message.kind === "write" && message.deadline > monotonicMs()) continue;
      this.#requests.delete(id);
      reject(this.#error("UNAVAILABLE", `the store does not answer: ${threadEnded}`));
    }
  }

  /** Requests keep the process alive; rows do not. */
  #updateRef(): void {
    if (this.#thread.kind !== "running") return;
    if (this.#requests.size > 0 || this.#isClosing) this.#thread.worker.ref();
    else this.#thread.worker.unref();
  }

  #onMessage(message: FromWriter): void {
    switch (message.kind) {
      case "committed":
        if (this.#problem === threadEnded) this.#update({ problem: undefined });
        this.#queue.confirm(message.batch);
        this.#sendCalls();
        if (this.#isOverLimit && !this.#isOver(0.5)) this.#update({ isOverLimit: false });
        return;
      case "answer":
        this.#takeRequest(message.id)?.resolve(message.value);
        return;
      case "rejected":
        this.#takeRequest(message.id)?.reject(
          message.isChanged
            ? new HallError(message.code, message.message, StoreChanged)
            : this.#error(message.code, message.message),
        );
        return;
      case "problem":
        this.#update({ problem: message.message ?? undefined });
        return;
      case "notice":
        this.#options.log.error({ store: this.#options.name }, message.message);
        return;
      case "closed":
        this.#onClosed();
    }
  }

  #takeRequest(id: number): PendingRequest | undefined {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    this.#updateRef();
    return request;
  }

  /** Changes what `isFull` depends on, and notifies those who listen if it changes. */
  #update(
    change: { readonly isOverLimit: boolean } | { readonly problem: string | undefined },
  ): void {
    const wasFull = this.isFull;
    const before = this.#problem;
    if ("isOverLimit" in change) this.#isOverLimit = change.isOverLimit;
    else this.#problem = change.problem;
    if (this.isFull !== wasFull) for (const listener of this.#listeners) listener(this.isFull);

    if (before === undefined && this.#problem !== undefined) this.#reportProblem(this.#problem);
    if (before !== undefined && this.#problem === undefined) this.#reportRecovery(before);
  }

  #reportProblem(problem: string): void {
    this.#options.log.error(
      { store: this.#options.name, problem },
      "cannot write to the store: calls continue, except those that must be recorded first",
    );
  }

  #reportRecovery(problem: string): void {
    const lost = this.#lost;
    this.#options.log.warn({ store: this.#options.name, lost }, "the store can be written again");
    if (lost === 0) return;
    this.#lost = 0;
    const reason = `${lost} calls were not recorded: ${problem}`;
    const entry = { kind: "gap", subject: "calls", caller: "guildhall", reason };
    // If this fails as well, the log still has the number.
    this.write({ what: "append", entry, at: Date.now() }).catch(() => {});
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    if (this.#thread.kind === "restarting") {
      clearTimeout(this.#thread.timer);
      this.#thread = { kind: "stopped" };
    }
    this.#describeCalls();
    const hasWork = this.#queue.rows > 0 || this.#requests.size > 0;
    if (this.#thread.kind === "stopped" && !hasWork) return;

    await this.#finish();
    for (const { reject } of this.#requests.values())
      reject(this.#error("UNAVAILABLE", "the store is closed"));
    this.#requests.clear();
    await this.#terminate();

    if (this.#queue.rows > 0)
      this.#options.log.error(
        { store: this.#options.name, rows: this.#queue.rows, problem: this.#problem },
        "calls were not recorded: the store could not be written before closing",
      );
  }

  /** Sends everything and waits until the writer has closed, for a limited time. */
  async #finish(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
    });
    const timer = setTimeout(this.#onClosed, closeMsMax);
    if (this.#thread.kind === "stopped") this.#start();
    this.#seal();
    this.#sendCalls(Number.POSITIVE_INFINITY);
    this.#post({ kind: "close" });
    this.#updateRef();
    await closed;
    clearTimeout(timer);
  }

  /** A thread that has closed the store ends by itself; termination is for one that hangs. */
  async #terminate(): Promise<void> {
    const thread = this.#thread;
    this.#thread = { kind: "stopped" };
    if (thread.kind !== "running") return;
    const timer = setTimeout(() => thread.worker.terminate(), exitMsMax);
    await new Promise((resolve) => thread.worker.once("exit", resolve));
    clearTimeout(timer);
  }

  #error(code: ErrorCode, message: string): HallError {
    return new HallError(code, message, {
      ...adviceFor(this.#options.location),
      next: [{ do: "run-command", command: "status" }],
    });
  }
}

function adviceFor(location: StoreLocation): Pick<HallErrorOptions, "hint" | "details"> {
  return "url" in location
    ? {
        hint: "Recording resumes on its own once the database accepts rows again.",
        details: { retryAfterSeconds: 1 },
      }
    : { hint: "Free disk space, or end the process that locks the file." };
}
