import { HallError, messageOf } from "../../base/errors.ts";
import type { Answer, Failure } from "./protocol.ts";

/** What the hall answers a program, as the text that goes to its thread and into the journal. */
export function writeValue(value: unknown): string {
  return JSON.stringify({ value } satisfies Answer);
}

export function writeFailure(error: unknown): string {
  return `${failureStart}${JSON.stringify(tellFailure(error))}}`;
}

/** Undefined for an answer that is a value: those can be large, and are not taken apart to find out. */
export function findFailure(text: string): Failure | undefined {
  return text.startsWith(failureStart)
    ? (JSON.parse(text) as { failure: Failure }).failure
    : undefined;
}

const failureStart = '{"failure":';

function tellFailure(error: unknown): Failure {
  if (error instanceof HallError)
    return { code: error.code, message: error.message, hint: error.hint, details: error.details };
  return { code: "INTERNAL", message: messageOf(error) };
}
