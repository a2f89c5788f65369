/** The worker's side of reader.ts: parses one document, posts the result and ends. */
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
    if (analysis === undefined) return { parsed };
    return {
      parsed: { ...parsed, text: "" },
      analysis: analyze(parsed.text, analysis),
      characters: parsed.text.length,
    };
  } catch (error) {
    if (error instanceof HallError)
      return { failure: { code: error.code, message: error.message, hint: error.hint } };
    // The document caused it: deep nesting gives a RangeError, garbage a TypeError.
    return {
      failure: { code: "EXECUTION", message: `cannot read the document: ${messageOf(error)}` },
    };
  }
}
