import { type Advice, readAdvice } from "../base/advice.ts";
import { type ErrorCode, errorTable, fullMessageOf, HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Reply } from "../wire/requests.ts";

/** The error as the hall threw it, read back from the data of its JSON-RPC error. */
export function readHallError(error: unknown): unknown {
  if (!(error instanceof HallError) || !isObject(error.relayed?.data)) return error;
  const { error_type: type, suggestion, next, details, errors } = error.relayed.data;
  // A hall's details are facts for programs; in the registry dialect they are the message.
  const ours = typeof details === "string" ? details : error.message;
  const message = type === undefined ? fullMessageOf(error) : ours;
  return new HallError(readErrorCode(type) ?? error.code, message, {
    cause: error,
    ...readNextStep(suggestion, next),
    details: readDetails(details, errors),
  });
}

/** The suggestion words the advice for a model; a reader who gets the advice needs no second wording. */
export function readNextStep(
  suggestion: unknown,
  next: unknown,
): { readonly hint?: string; readonly next: readonly Advice[] } {
  const advice = readAdvice(next);
  return advice.length === 0 && typeof suggestion === "string"
    ? { hint: suggestion, next: advice }
    : { next: advice };
}

function readDetails(details: unknown, errors: unknown): HallError["details"] {
  if (Array.isArray(errors)) return { errors };
  return isObject(details) ? details : undefined;
}

/** `error_type` as the error table's code; undefined for a word of another program. */
export function readErrorCode(type: unknown): ErrorCode | undefined {
  const code = typeof type === "string" ? type.toUpperCase() : "";
  return Object.hasOwn(errorTable, code) ? (code as ErrorCode) : undefined;
}

/** A client's refusal reaches the server as the client worded it. */
export function explainFailure(failure: unknown): Reply {
  if (!(failure instanceof HallError))
    return { error: { code: -32603, message: "internal error in the hall" } };
  const { cause, code, message } = failure;
  const told = failure.relayed ?? (cause instanceof HallError ? cause.relayed : undefined);
  return { error: told ?? { code: errorTable[code].request, message } };
}
