import { errorTable, HallError } from "../base/errors.ts";
import { formatBytes } from "../base/text.ts";
import type { AnswerFrame } from "./exchange.ts";
import {
  errorFrame,
  type Id,
  isLonger,
  type Request,
  type RpcError,
  resultFrame,
  type UnreadableId,
} from "./message.ts";

export type Reply = { readonly result: unknown } | { readonly error: RpcError };

/** Turns a failure into what the peer expects: an error, or a result that carries it. */
export type Explain = (failure: unknown, request: Request | undefined) => Reply;

/** Writes answers: anything a handler returned or threw becomes a frame. Nothing here throws. */
export class Answers {
  readonly #explain: Explain;
  readonly #bytesMax: number;
  /** How to address an answer to something unreadable. */
  unreadableId: UnreadableId = "null";

  constructor(explain: Explain, bytesMax: number) {
    this.#explain = explain;
    this.#bytesMax = bytesMax;
  }

  result(request: Request, result: unknown): AnswerFrame {
    let frame: string;
    try {
      frame = resultFrame(request.id, result);
    } catch (cause) {
      return this.failure(
        request,
        new HallError("SERIALIZATION", `cannot serialize the answer to ${request.method} as JSON`, {
          cause,
        }),
      );
    }
    if (!isLonger(frame, this.#bytesMax)) return { frame, kind: "result" };
    return this.failure(
      request,
      new HallError(
        "TOO_LARGE",
        `the answer to ${request.method} exceeds the limit of ${formatBytes(this.#bytesMax)}`,
      ),
    );
  }

  /** Falls back to a plain error when the explanation itself cannot be sent. */
  failure(request: Request, failure: unknown): AnswerFrame {
    try {
      const reply = this.#explain(failure, request);
      const answer: AnswerFrame =
        "result" in reply
          ? { frame: resultFrame(request.id, reply.result), kind: "result" }
          : this.error(request.id, reply.error);
      if (!isLonger(answer.frame, this.#bytesMax)) return answer;
    } catch {
      // The failure cannot be explained or serialized: the plain error below is sent instead.
    }
    return this.error(request.id, {
      code: -32603,
      message: "the error could not be serialized as JSON",
    });
  }

  /** The answer to something that is not a request, with its id if it could be read. */
  refusal(id: Id | undefined, failure: HallError): AnswerFrame {
    return this.error(id, this.#explainRefusal(failure));
  }

  error(id: Id | undefined, error: RpcError): AnswerFrame {
    return { frame: errorFrame(id, error, this.unreadableId), kind: error.code };
  }

  #explainRefusal(failure: HallError): RpcError {
    try {
      const reply = this.#explain(failure, undefined);
      if ("error" in reply) return reply.error;
    } catch {
      // The explanation itself failed: send the plain message.
    }
    return { code: errorTable[failure.code].request, message: failure.message };
  }
}
