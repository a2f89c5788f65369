import { HallError } from "../base/errors.ts";
import type { Answer, Id, Invalid } from "./message.ts";

/** Requests of ours that wait for an answer. Each is settled once: by its answer, by what is wrong with it, or by the end of the line. */
export class Asked {
  readonly #waiting = new Map<Id, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  wait(id: Id, method: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { method, resolve, reject }));
  }

  /** True when somebody was still waiting. */
  forget(id: Id): boolean {
    return this.#waiting.delete(id);
  }

  /** False for an answer nobody waits for: unknown, late or repeated. */
  answer({ id, outcome }: Answer): boolean {
    const waiting = this.#take(id);
    if (!waiting) return false;
    if ("result" in outcome) waiting.resolve(outcome.result);
    else if ("error" in outcome) waiting.reject(new HallError("EXECUTION", outcome.error.message, { relayed: outcome.error }));
    else waiting.reject(new HallError("BAD_ANSWER", `the answer to ${waiting.method} is malformed: ${outcome.bad}`));
    return true;
  }

  /** An unreadable message that begins or ends with an id we wait for is a bad answer: better now than at the deadline. */
  unreadable({ answerId, reason }: Invalid): boolean {
    const waiting = this.#take(answerId);
    waiting?.reject(new HallError("BAD_ANSWER", `the answer to ${waiting.method} is malformed: ${reason}`));
    return waiting !== undefined;
  }

  tooLarge(id: Id | undefined, bytesMax: number): void {
    const waiting = this.#take(id);
    waiting?.reject(new HallError("TOO_LARGE", `the answer to ${waiting.method} is over ${bytesMax} bytes`));
  }

  fail(id: Id, reason: HallError): void {
    this.#take(id)?.reject(reason);
  }

  giveUp(reason: HallError): void {
    for (const { reject } of [...this.#waiting.values()]) reject(reason);
    this.#waiting.clear();
  }

  #take(id: Id | undefined): Waiting | undefined {
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id !== undefined) this.#waiting.delete(id);
    return waiting;
  }
}

interface Waiting {
  readonly method: string;
  resolve(result: unknown): void;
  reject(reason: HallError): void;
}
