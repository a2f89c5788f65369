/** The worker's side of reader.ts: parses one document, posts the result and ends. */
import { parentPort, workerData } from "node:worker_threads";
import { failureOf, type WorkerFailure } from "../../base/bounded-worker.ts";
import { HallError, messageOf } from "../../base/errors.ts";
import { analyze } from "./analysis.ts";
import { parseDocument } from "./parse.ts";
import type { ReadRequest, ReadResult } from "./reader.ts";

const request = workerData as ReadRequest;
parentPort?.postMessage(await answer(request));

async function answer({ analysis, ...document }: ReadRequest): Promise<ReadResult | WorkerFailure> {
  try {
    const parsed = await parseDocument(document);
    const characters = parsed.text.length;
    if (analysis === undefined) return { parsed, characters };
    return {
      parsed: { ...parsed, text: "" },
      characters,
      analysis: analyze(parsed.text, analysis),
    };
  } catch (error) {
    // Deep nesting gives a RangeError, garbage a TypeError.
    return failureOf(
      error,
      () => new HallError("EXECUTION", `cannot read the document: ${messageOf(error)}`),
    );
  }
}
