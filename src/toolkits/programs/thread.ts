import { totalmem } from "node:os";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { findWorker } from "../../base/bounded-worker.ts";
import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import {
  type HallReply,
  type Language,
  sharedWords,
  type ThreadOrder,
  type ThreadReport,
  type ThreadStart,
  writeFailure,
} from "./protocol.ts";

export interface ThreadWork {
  readonly scope: Scope;
  /** Answers the program's requests: a HallRequest as JSON in, a HallAnswer as JSON out. May throw HallError. */
  serve(request: string, scope: Scope): Promise<string>;
}

export interface ProgramThreadOptions {
  readonly language: Language;
  /** The folder of the built workers. Default: beside this module, or beside the bundle it is in. */
  readonly workers?: URL | undefined;
  readonly seed: number;
  /** V8's heap; the program's own limit on cells is far below. Default: half of `heapMbOfAll`, at most 512. */
  readonly heapMbMax?: number;
}

/** The heaps of all sessions together: 1 GiB, or a quarter of a smaller machine. */
export const heapMbOfAll = Math.min(1_024, Math.floor(totalmem() / 2 ** 22));
/** One session reaches its own limit before all together reach theirs. */
export const heapMbOfOne = (ofAll: number): number => Math.min(512, Math.floor(ofAll / 2));
/** How long a stopped program may unwind before its thread is terminated. */
const stopMsMax = 1_000;

/**
 * The hall's side of a session's thread. A program blocks only its own thread, also while it waits for a
 * tool: it reads replies from a port by itself, and a counter in shared memory wakes it.
 */
export class ProgramThread {
  readonly #worker: Worker;
  readonly #replies: MessagePort;
  readonly #shared = new Int32Array(
    new SharedArrayBuffer(sharedWords.count * Int32Array.BYTES_PER_ELEMENT),
  );
  /** The scopes of requests under way, by number. */
  readonly #requests = new Map<number, Scope>();
  #ended: HallError | undefined;
  #failRunning: (error: HallError) => void = () => {};

  constructor({
    language,
    workers,
    seed,
    heapMbMax = heapMbOfOne(heapMbOfAll),
  }: ProgramThreadOptions) {
    const { port1, port2 } = new MessageChannel();
    const start: ThreadStart = { replies: port2, shared: this.#shared, seed, heapMbMax };
    this.#replies = port1;
    this.#worker = new Worker(workerOf(language, workers), {
      workerData: start,
      transferList: [port2],
      resourceLimits: {
        maxOldGenerationSizeMb: heapMbMax,
        maxYoungGenerationSizeMb: 32,
        stackSizeMb: 64,
      },
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    // An idle session keeps no process alive.
    this.#worker.unref();
    port1.unref();
    this.#worker.on("error", (cause) => this.#end(explainExit(cause)));
    this.#worker.on("exit", () =>
      this.#end(
        new HallError("EXECUTION", "the session's thread ended", {
          hint: "Its definitions are lost: start a new session.",
        }),
      ),
    );
  }

  /** False once the thread has ended and its state is lost. */
  get isAlive(): boolean {
    return this.#ended === undefined;
  }

  /** As the thread reported it last. */
  get heapMb(): number {
    return this.isAlive ? Atomics.load(this.#shared, sharedWords.heapMb) : 0;
  }

  /** Ends the thread; what it runs fails with the reason. */
  abort(reason: HallError): void {
    this.#end(reason);
    void this.#worker.terminate();
  }

  /** One order at a time. Rejects if the thread ends, or if it ignores the cancelled scope. */
  async run<K extends ThreadReport["kind"]>(
    order: ThreadOrder,
    kind: K,
    work: ThreadWork,
  ): Promise<Extract<ThreadReport, { kind: K }>> {
    if (this.#ended) throw this.#ended;
    Atomics.store(this.#shared, sharedWords.stop, 0);
    Atomics.store(this.#shared, sharedWords.hurry, 0);
    let timer: NodeJS.Timeout | undefined;
    let listen: (report: ThreadReport) => void = () => {};
    const leave = work.scope.onCancel((reason) => {
      timer = this.#stop(reason);
    });
    const leaveHurry = work.scope.onHurry(() => this.#hurry());
    this.#worker.ref();
    try {
      return await new Promise((resolve, reject) => {
        this.#failRunning = reject;
        listen = (report) => {
          if (report.kind === "request") this.#answer(report.number, report.request, work);
          else if (report.kind === "withdrawal") this.#withdraw(report.number);
          else if (report.kind === kind) resolve(report as Extract<ThreadReport, { kind: K }>);
        };
        this.#worker.on("message", listen);
        this.#worker.postMessage(order);
      });
    } finally {
      this.#worker.off("message", listen);
      this.#worker.unref();
      clearTimeout(timer);
      leave();
      leaveHurry();
      for (const number of this.#requests.keys()) this.#withdraw(number);
      this.#failRunning = () => {};
    }
  }

  async close(): Promise<void> {
    this.#replies.close();
    await this.#worker.terminate();
  }

  /** Asks the program to stop, and terminates it if it does not. */
  #stop(reason: HallError): NodeJS.Timeout {
    Atomics.store(this.#shared, sharedWords.stop, 1);
    this.#wake();
    return setTimeout(() => {
      this.abort(
        new HallError(
          reason.code,
          `${reason.message}; the program did not stop, so its session was ended`,
          { cause: reason },
        ),
      );
    }, stopMsMax);
  }

  /** Asks the program to end with what it has. */
  #hurry(): void {
    Atomics.store(this.#shared, sharedWords.hurry, 1);
    this.#wake();
  }

  #end(reason: HallError): void {
    this.#ended ??= reason;
    this.#failRunning(this.#ended);
  }

  #wake(): void {
    Atomics.add(this.#shared, sharedWords.replies, 1);
    Atomics.notify(this.#shared, sharedWords.replies);
  }

  #answer(number: number, request: string, work: ThreadWork): void {
    const scope = new Scope(work.scope);
    this.#requests.set(number, scope);
    const send = (answer: string): void => {
      this.#requests.delete(number);
      this.#replies.postMessage({ number, answer } satisfies HallReply);
      this.#wake();
    };
    const serving = scope.cancelReason
      ? Promise.reject(scope.cancelReason)
      : work.serve(request, scope);
    scope.closeAfter(serving).then(send, (error: unknown) => send(writeFailure(error)));
  }

  #withdraw(number: number): void {
    this.#requests
      .get(number)
      ?.cancel(new HallError("CANCELLED", "the program no longer waits for this call"));
  }
}

function workerOf(language: Language, folder: URL | undefined): URL {
  const name = `${language}-worker`;
  return folder ? new URL(`${name}.js`, folder) : findWorker(name, sources[language]);
}

const sources: Readonly<Record<Language, URL>> = {
  lisp: new URL("./lisp/worker.ts", import.meta.url),
  js: new URL("./js/worker.ts", import.meta.url),
};

function explainExit(cause: Error): HallError {
  const isOutOfMemory = (cause as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isOutOfMemory)
    return new HallError("BUDGET", "the program ran out of memory; its session was ended");
  return new HallError("EXECUTION", `the session's thread ended: ${cause.message}`, { cause });
}
