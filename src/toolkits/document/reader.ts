import { Worker } from "node:worker_threads";
import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import { findWorker } from "../../base/worker.ts";
import type { Analysis } from "./analysis.ts";
import type { ParsedDocument, ParseRequest } from "./parse.ts";
import type { AnalysisType } from "./terms.ts";

/**
 * Reads each document in a worker with little memory, which ends with the call or its time limit. So a
 * document can neither block the hall nor exhaust its memory.
 */
export interface DocumentReader {
  read(request: ReadRequest, scope: Scope): Promise<ReadResult>;
}

export interface ReadRequest extends ParseRequest {
  readonly analysis?: AnalysisType | undefined;
}

export interface ReadResult {
  /** Without its text if an analysis was requested. */
  readonly parsed: ParsedDocument;
  /** Length of the whole text. */
  readonly characters: number;
  readonly analysis?: Analysis;
}

export type ReadAnswer =
  | ReadResult
  | { readonly failure: Pick<HallError, "code" | "message" | "hint"> };

const readMsMax = 15_000;
const workersMax = 2;
const waitingMax = 50;
/** These cover V8's heap; buffers outside it are bounded where they are made. */
const resourceLimits = {
  maxOldGenerationSizeMb: 192,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 4,
};

/** `worker`: default, the built one. */
export function createDocumentReader({ worker }: { readonly worker?: URL } = {}): DocumentReader {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (running < workersMax) running++;
    else if (waiting.length >= waitingMax)
      throw new HallError("OVERLOADED", "50 documents are already waiting to be read");
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  return {
    async read(request, parent) {
      await enter();
      const scope = new Scope(parent, readMsMax, "the document");
      try {
        return await runWorker(
          worker ?? findWorker("document-worker", new URL("./worker.ts", import.meta.url)),
          request,
          scope,
        );
      } finally {
        scope.close();
        leave();
      }
    },
  };
}

async function runWorker(file: URL, request: ReadRequest, scope: Scope): Promise<ReadResult> {
  if (scope.cancelReason) throw scope.cancelReason;
  // A copy to transfer: pooled buffers cannot be transferred.
  const bytes = new Uint8Array(request.bytes);
  const worker = new Worker(file, {
    workerData: { ...request, bytes },
    transferList: [bytes.buffer],
    resourceLimits,
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
      new Promise<ReadAnswer>((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", (cause) => reject(explainDeath(cause)));
        worker.once("exit", () =>
          reject(new HallError("EXECUTION", "the worker ended while reading the document")),
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

function explainDeath(cause: Error): HallError {
  const isOutOfMemory = (cause as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isOutOfMemory)
    return new HallError("TOO_LARGE", "the document exceeds the memory limit for one document");
  return new HallError(
    "EXECUTION",
    `the worker ended while reading the document: ${cause.message}`,
    { cause },
  );
}
