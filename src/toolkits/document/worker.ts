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
    const characters = parsed.text.length;
    if (analysis === undefined) return { parsed, characters };
    return {
      parsed: { ...parsed, text: "" },
      characters,
      analysis: analyze(parsed.text, analysis),
    };
  } catch (error) {
    if (error instanceof HallError)
      return { failure: { code: error.code, message: error.message, hint: error.hint } };
    // The document caused it: deep nesting gives a RangeError, garbage a TypeError.
    const { code, message, hint } = new HallError(
      "EXECUTION",
      `cannot read the document: ${messageOf(error)}`,
    );
    return { failure: { code, message, hint } };
  }
}
