/** The worker's side of reader.ts: reads one document, posts its operations and ends. */
import { parentPort, workerData } from "node:worker_threads";
import { failureOf, type WorkerFailure } from "../../base/bounded-worker.ts";
import { messageOf } from "../../base/errors.ts";
import { fault, parseDocument } from "./document.ts";
import type { Api } from "./operation.ts";
import { readApi } from "./read-api.ts";
import type { ApiReadRequest } from "./reader.ts";

parentPort?.postMessage(await answer(workerData as ApiReadRequest));

async function answer({ bytes, ...options }: ApiReadRequest): Promise<Api | WorkerFailure> {
  try {
    return readApi(await parseDocument(new TextDecoder().decode(bytes)), options);
  } catch (error) {
    // Deep nesting gives a RangeError, garbage a TypeError.
    return failureOf(error, () => fault(`cannot be read: ${messageOf(error)}`));
  }
}
