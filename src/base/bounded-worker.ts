import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { HallError } from "./errors.ts";
import type { Scope } from "./scope.ts";

/** The failure that a worker reports instead of an answer. */
export interface WorkerFailure {
  readonly failure: Pick<HallError, "code" | "message" | "hint">;
}

/** An error as a worker reports it. If it is no HallError, the document caused it. */
export function failureOf(error: unknown, otherwise: (error: unknown) => HallError): WorkerFailure {
  const { code, message, hint } = error instanceof HallError ? error : otherwise(error);
  return { failure: { code, message, hint } };
}

interface BoundedOptions {
  readonly scope: Scope;
  /** Of V8's heap; buffers outside of it are bounded where they are made. */
  readonly memoryMb: number;
  /** Named in errors: "the document". */
  readonly subject: string;
}

/**
 * Parses a document in a worker with limited memory, so that it can neither block the hall nor exhaust its
 * memory. The worker ends with its answer or with the scope.
 */
export async function readInWorker<Answer extends object>(
  file: URL,
  request: { readonly bytes: Uint8Array },
  { scope, memoryMb, subject }: BoundedOptions,
): Promise<Answer> {
  if (scope.cancelReason) throw scope.cancelReason;
  // A copy to transfer: pooled buffers cannot be transferred.
  const bytes = new Uint8Array(request.bytes);
  const worker = new Worker(file, {
    workerData: { ...request, bytes },
    transferList: [bytes.buffer],
    resourceLimits: {
      maxOldGenerationSizeMb: memoryMb,
      maxYoungGenerationSizeMb: 16,
      stackSizeMb: 4,
    },
    env: {},
    execArgv: [],
    // Otherwise its output would go to our stdout, which carries the protocol.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  try {
    const answer = await scope.race(
      new Promise<Answer | WorkerFailure>((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", (cause) => reject(explainDeath(cause, subject)));
        worker.once("exit", () =>
          reject(new HallError("EXECUTION", `the worker ended while reading ${subject}`)),
        );
      }),
    );
    if (!("failure" in answer)) return answer;
    const { code, message, hint } = answer.failure;
    throw new HallError(code, message, { hint });
  } finally {
    await worker.terminate();
  }
}

function explainDeath(cause: Error, subject: string): HallError {
  const isOutOfMemory = (cause as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isOutOfMemory)
    return new HallError("TOO_LARGE", `${subject} exceeds the memory limit for one document`);
  return new HallError("EXECUTION", `the worker ended while reading ${subject}: ${cause.message}`, {
    cause,
  });
}

/**
 * The file a worker thread or a process starts from: in a build `<name>.js` beside the script that
 * contains this module, else the source.
 */
export function findWorker(name: string, source: URL): URL {
  const places = [`./${name}.js`];
  // From source, Node 20 starts no worker: it takes the built one.
  if (!("typescript" in process.features)) places.push(`../../dist/${name}.js`);
  const built = places.map((path) => new URL(path, import.meta.url));
  return built.find((file) => existsSync(file)) ?? source;
}
