import { Worker } from "node:worker_threads";
import { findWorker } from "../base/bounded-worker.ts";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { FieldError } from "./validate.ts";
import type { WorkerJob } from "./validation-worker.ts";

const validateMsMax = 50;
const compileMsMax = 5_000;

interface WorkerAnswer {
  readonly failure?: string;
  readonly errors?: readonly FieldError[];
  readonly value?: unknown;
}

/**
 * A thread that checks values against schemas of unknown cost, one after the other. One that takes
 * longer than 50 ms is ended, and the next value gets a new thread.
 */
export class ValidationWorker {
  #thread: Worker | undefined;
  /** Schemas that the current thread has compiled. */
  #compiled = new Map<JsonObject, number>();
  #last: Promise<unknown> = Promise.resolve();

  /** Fills in defaults in place. Throws BUDGET if the check takes too long. */
  validate(schema: JsonObject, value: unknown): Promise<readonly FieldError[]> {
    const checked = this.#last.then(() => this.#check(schema, value));
    this.#last = checked.catch(() => {});
    return checked;
  }

  async #check(schema: JsonObject, value: unknown): Promise<readonly FieldError[]> {
    let id = this.#compiled.get(schema);
    if (id === undefined) {
      id = this.#compiled.size;
      await this.#ask({ kind: "compile", id, schema }, compileMsMax);
      this.#compiled.set(schema, id);
    }
    const answer = await this.#ask({ kind: "validate", id, value }, validateMsMax);
    if (isObject(value) && isObject(answer.value)) Object.assign(value, answer.value);
    return answer.errors ?? [];
  }

  #ask(job: WorkerJob, msMax: number): Promise<WorkerAnswer> {
    const thread = this.#open();
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        this.#thread = undefined;
        this.#compiled = new Map();
        void thread.terminate();
        settle(() =>
          reject(new HallError("BUDGET", `cannot check against the tool's schema: ${reason}`)),
        );
      };
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        thread.removeAllListeners("message");
        thread.removeAllListeners("error").on("error", () => {});
        thread.unref();
        finish();
      };
      const timer = setTimeout(() => fail(`it takes longer than ${msMax} ms`), msMax);
      thread.ref();
      thread.once("error", ({ message }) => fail(message));
      thread.once("message", (answer: WorkerAnswer) => {
        if (answer.failure === undefined) settle(() => resolve(answer));
        else fail(answer.failure);
      });
      thread.postMessage(job);
    });
  }

  #open(): Worker {
    const file = findWorker(
      "validation-worker",
      new URL("./validation-worker.ts", import.meta.url),
    );
    this.#thread ??= new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: 256 } });
    return this.#thread;
  }
}
