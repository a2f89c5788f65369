import { Worker } from "node:worker_threads";
import { type ErrorCode, HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import { findWorker } from "../../base/worker.ts";
import type { Analysis } from "./analysis.ts";
import type { ParsedDocument, ParseRequest } from "./parse.ts";
import type { AnalysisType } from "./terms.ts";

/**
 * Reads documents in workers: one for each, with little memory, ended when the time is up or nobody wants the answer any more.
 * A document can then neither block the hall nor grow it.
 */
export interface DocumentReader {
  read(request: ReadRequest, scope: Scope): Promise<ReadResult>;
}

export interface ReadRequest extends ParseRequest {
  readonly analysis?: AnalysisType;
}

export interface ReadResult {
  /** Without its text where an analysis was asked for. */
  readonly parsed: ParsedDocument;
  readonly analysis?: Analysis;
  readonly characters?: number;
}

export type ReadAnswer =
  | ReadResult
  | {
      readonly failure: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly hint?: string;
      };
    };

export interface ReaderOptions {
  /** The built worker. Default: beside this module, or beside the bundle it is in. */
  readonly worker?: URL;
}

const readMsMax = 15_000;
const workersMax = 2;
const waitingMax = 50;
/** Of V8's heap; what lies outside it is bounded where it is made. */
const resourceLimits = {
  maxOldGenerationSizeMb: 192,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 4,
};

export function createDocumentReader({ worker }: ReaderOptions = {}): DocumentReader {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (running < workersMax) running++;
    else if (waiting.length >= waitingMax)
      throw new HallError("OVERLOADED", `${waitingMax} documents are waiting to be read`);
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
  if (scope.cancelled) throw scope.cancelled;
  // A copy, handed over: what came from a pool of buffers cannot be.
  const bytes = new Uint8Array(request.bytes);
  const worker = new Worker(file, {
    workerData: { ...request, bytes },
    transferList: [bytes.buffer],
    resourceLimits,
    env: {},
    execArgv: [],
    // Its stdout would be ours, which belongs to the protocol.
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
          reject(new HallError("EXECUTION", "the document ended the worker that read it")),
        );
      }),
    );
    if (!("failure" in answer)) return answer;
    const { code, message, hint } = answer.failure;
    throw new HallError(code, message, hint === undefined ? {} : { hint });
  } finally {
    await worker.terminate();
  }
}

function explainDeath(cause: Error): HallError {
  const isOutOfMemory = (cause as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isOutOfMemory)
    return new HallError("TOO_LARGE", "the document needs more memory than one document may have");
  return new HallError(
    "EXECUTION",
    `the document ended the worker that read it: ${cause.message}`,
    { cause },
  );
}
