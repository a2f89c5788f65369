import type { CommanderError } from "commander";
import { errorTable, HallError } from "../base/errors.ts";
import { ConfigError } from "../config/error.ts";

/** 0 ok, 1 failure, 2 usage, 66 not found, 69 unavailable, 75 timeout, 77 denied, 78 config. */
export function exitCodeOf(error: unknown): number {
  if (isUsage(error)) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) return 78;
  if (error instanceof HallError) return errorTable[error.code].exit;
  return 1;
}

/** What to print on stderr, if commander has not said it already. */
export function explainToPerson(error: unknown): string | undefined {
  if (isUsage(error)) return undefined;
  if (error instanceof ConfigError) return `guildhall: ${error.message}`;
  if (error instanceof HallError) return `guildhall: ${error.message}\n  ${error.hint}`;
  return `guildhall: ${error instanceof Error ? error.message : String(error)}`;
}

/** By its code: the class would bring all of commander along. */
function isUsage(error: unknown): error is CommanderError {
  return error instanceof Error && "code" in error && String(error.code).startsWith("commander.");
}
