import { findWorker, readInWorker } from "../../base/bounded-worker.ts";
import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import type { Analysis } from "./analysis.ts";
import type { ParsedDocument, ParseRequest } from "./parse.ts";
import type { AnalysisType } from "./text.ts";

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

const readMsMax = 15_000;
const workersMax = 2;
const waitingMax = 50;
const memoryMb = 192;

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
        return await readInWorker<ReadResult>(
          worker ?? findWorker("document-worker", new URL("./worker.ts", import.meta.url)),
          request,
          { scope, memoryMb, subject: "the document" },
        );
      } finally {
        scope.close();
        leave();
      }
    },
  };
}
