/** The worker's side of document-reader.ts: one document, one answer, then it ends. */
import { parentPort, workerData } from "node:worker_threads";
import { HallError, messageOf } from "../../base/errors.ts";
import { analyze } from "./analysis.ts";
import { parseDocument } from "./parse.ts";
import type { ReadAnswer, ReadRequest } from "./reader.ts";

const request = workerData as ReadRequest;
parentPort?.postMessage(await answer(request));

async function answer({ analysis, ...document }: ReadRequest): Promise<ReadAnswer> {
  try {
    const parsed = await parseDocument(document);
    return analysis === undefined
      ? { parsed }
      : {
          parsed: { ...parsed, text: "" },
          analysis: analyze(parsed.text, analysis),
          characters: parsed.text.length,
        };
  } catch (error) {
    if (error instanceof HallError)
      return { failure: { code: error.code, message: error.message, hint: error.hint } };
    // Whatever it was, the document caused it: deep nesting ends in a RangeError, nonsense in a TypeError.
    return {
      failure: { code: "EXECUTION", message: `the document cannot be read: ${messageOf(error)}` },
    };
  }
}
