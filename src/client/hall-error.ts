import { readAdvice } from "../base/advice.ts";
import { type ErrorCode, errorTable, fullMessageOf, HallError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";

/** The error as the hall threw it, read back from the data of its JSON-RPC error. */
export function readHallError(error: unknown): unknown {
  if (!(error instanceof HallError) || !isObject(error.relayed?.data)) return error;
  const { error_type: type, suggestion, next, details, errors } = error.relayed.data;
  // In the registry dialect the message is the name of the code, and `details` says what happened.
  const isOurs = type !== undefined && typeof details === "string";
  const message = isOurs ? details : fullMessageOf(error);
  return new HallError(readErrorCode(type) ?? error.code, message, {
    cause: error,
    hint: typeof suggestion === "string" ? suggestion : undefined,
    next: readAdvice(next),
    details: readDetails(details, errors),
  });
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
