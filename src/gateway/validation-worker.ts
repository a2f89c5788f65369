// Validates values against expensive schemas, in a thread that the hall can end.
import { parentPort } from "node:worker_threads";
import type { JsonObject } from "../base/json.ts";
import { type CompiledSchema, compileSchema } from "./compiler.ts";

/** Messages to the worker: a schema once, then values for it. */
export type WorkerJob =
  | { readonly kind: "compile"; readonly id: number; readonly schema: JsonObject }
  | { readonly kind: "validate"; readonly id: number; readonly value: unknown };

const compiled = new Map<number, CompiledSchema>();

parentPort?.on("message", (job: WorkerJob) => {
  try {
    parentPort?.postMessage(answer(job));
  } catch (cause) {
    parentPort?.postMessage({ failure: cause instanceof Error ? cause.message : String(cause) });
  }
});

function answer(job: WorkerJob): object {
  if (job.kind === "compile") {
    const { $schema, ...safe } = job.schema;
    compiled.set(job.id, compileSchema(safe, { $schema }));
    return {};
  }
  const errors = compiled.get(job.id)?.(job.value) ?? [];
  // With the defaults that were filled in.
  return { errors, value: job.value };
}
