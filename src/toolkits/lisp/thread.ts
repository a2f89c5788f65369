import { MessageChannel, Worker } from "node:worker_threads";
import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import { findWorker } from "../../base/worker.ts";
import { writeFailure } from "./answer-text.ts";
import { type Order, type Reply, type Report, sharedWords, type ThreadStart } from "./protocol.ts";

/**
 * The hall's end of the thread that runs one session. A program blocks its own thread only, also while it waits for a tool:
 * replies go through a port it reads by itself, and a word of shared memory wakes it.
 */
export interface LispThread {
  /** One order at a time. Rejects when the scope is cancelled and the program does not stop, or when the thread ends. */
  run<K extends Report["kind"]>(
    order: Order,
    kind: K,
    work: Work,
  ): Promise<Extract<Report, { kind: K }>>;
  /** False once the thread has ended: what it held is lost. */
  readonly isAlive: boolean;
  close(): Promise<void>;
}

export interface Work {
  readonly scope: Scope;
  /** Does what the program asks for: a HallRequest as JSON in, an Answer as JSON out. May throw HallError. */
  serve(request: string, scope: Scope): Promise<string>;
}

export interface ThreadOptions {
  /** The built worker. Default: beside this module, or beside the bundle it is in. */
  readonly worker?: URL | undefined;
  readonly seed: number;
}

/** Of V8's heap: the program's own limits on cells are far below. */
const resourceLimits = {
  maxOldGenerationSizeMb: 512,
  maxYoungGenerationSizeMb: 32,
  stackSizeMb: 64,
};
/** A program that was told to stop has so long to unwind. */
const stopMsMax = 1_000;

export function createLispThread({
  worker: file = findWorker("lisp-worker", new URL("./worker.ts", import.meta.url)),
  seed,
}: ThreadOptions): LispThread {
  const { port1: replies, port2 } = new MessageChannel();
  const shared = new Int32Array(
    new SharedArrayBuffer(sharedWords.count * Int32Array.BYTES_PER_ELEMENT),
  );
  const start: ThreadStart = { replies: port2, shared, seed };
  const worker = new Worker(file, {
    workerData: start,
    transferList: [port2],
    resourceLimits,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  // A session that nobody uses keeps no process alive.
  worker.unref();
  replies.unref();
  let ended: HallError | undefined;
  let failRunning: (error: HallError) => void = () => {};
  const end = (reason: HallError): void => {
    ended ??= reason;
    failRunning(ended);
  };
  worker.on("error", (cause) => end(explainDeath(cause)));
  worker.on("exit", () =>
    end(
      new HallError("EXECUTION", "the session's thread ended", {
        hint: "Its definitions are lost: start a new session.",
      }),
    ),
  );

  function wake(): void {
    Atomics.add(shared, sharedWords.replies, 1);
    Atomics.notify(shared, sharedWords.replies);
  }

  /** What the program waits for, by number. */
  const asked = new Map<number, Scope>();

  function answer(number: number, request: string, work: Work): void {
    const scope = new Scope(work.scope);
    asked.set(number, scope);
    const send = (reply: Reply): void => {
      asked.delete(number);
      replies.postMessage(reply);
      wake();
    };
    const serving = scope.cancelled ? Promise.reject(scope.cancelled) : work.serve(request, scope);
    scope.finish(serving).then(
      (text) => send({ number, answer: text }),
      (error: unknown) => send({ number, answer: writeFailure(error) }),
    );
  }

  function withdraw(number: number): void {
    asked.get(number)?.cancel(new HallError("CANCELLED", "the program no longer waits for it"));
  }

  async function run<K extends Report["kind"]>(
    order: Order,
    kind: K,
    work: Work,
  ): Promise<Extract<Report, { kind: K }>> {
    if (ended) throw ended;
    Atomics.store(shared, sharedWords.stop, 0);
    let timer: NodeJS.Timeout | undefined;
    let listen: (report: Report) => void = () => {};
    const leave = work.scope.onCancel((reason) => {
      Atomics.store(shared, sharedWords.stop, 1);
      wake();
      timer = setTimeout(() => {
        end(
          new HallError(
            reason.code,
            `${reason.message}; the program did not stop, so its session was ended`,
            { cause: reason },
          ),
        );
        void worker.terminate();
      }, stopMsMax);
    });
    worker.ref();
    try {
      return await new Promise((resolve, reject) => {
        failRunning = reject;
        listen = (report) => {
          if (report.kind === "request") answer(report.number, report.request, work);
          else if (report.kind === "withdrawal") withdraw(report.number);
          else if (report.kind === kind) resolve(report as Extract<Report, { kind: K }>);
        };
        worker.on("message", listen);
        worker.postMessage(order);
      });
    } finally {
      worker.off("message", listen);
      worker.unref();
      clearTimeout(timer);
      leave();
      for (const number of asked.keys()) withdraw(number);
      failRunning = () => {};
    }
  }

  return {
    run,
    get isAlive() {
      return ended === undefined;
    },
    async close() {
      replies.close();
      await worker.terminate();
    },
  };
}

function explainDeath(cause: Error): HallError {
  const isOutOfMemory = (cause as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isOutOfMemory)
    return new HallError(
      "BUDGET",
      "the program needed more memory than a session may have; its session was ended",
    );
  return new HallError("EXECUTION", `the session's thread ended: ${cause.message}`, { cause });
}
