import type { CommanderError } from "commander";
import { errorTable, HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { escapeInvisible } from "../base/text.ts";
import { ConfigError } from "../config/error.ts";
import { adviceForShell } from "./advice.ts";

/** How a command ends when it fails: the code to exit with, and what is said to people and to programs. */
interface Failure {
  /** A word of the error table, or USAGE, CONFIG, SYSTEM. */
  readonly code: string;
  readonly exit: number;
  readonly message: string;
  readonly suggestion?: string;
  readonly details?: HallError["details"];
}

/** 0 ok, 1 failure, 2 usage, 66 not found, 69 unavailable, 75 timeout, 77 denied, 78 config. */
export function exitCodeOf(error: unknown): number {
  return isUsage(error) && error.exitCode === 0 ? 0 : readFailure(error).exit;
}

/** What to print on stderr, if commander has not said it already. */
export function explainToPerson(error: unknown): string | undefined {
  if (isUsage(error)) return undefined;
  const { message, suggestion } = readFailure(error);
  // It may quote a stranger: a server, a file, an argument.
  return escapeInvisible(
    `guildhall: ${message}${suggestion === undefined ? "" : `\n  ${suggestion}`}`,
  );
}

/** The same for a program: one object, where the result would have been. */
export function explainToProgram(error: unknown): JsonObject {
  return { error: { ...readFailure(error) } };
}

/** Whether a command line asks for JSON; what comes after `--` is another program's. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).includes("--json");
}

function readFailure(error: unknown): Failure {
  if (isUsage(error))
    return {
      code: "USAGE",
      exit: 2,
      message: error.message.replace(/^error: /, ""),
      suggestion: "Run it with --help for usage and examples.",
    };
  if (error instanceof ConfigError) return { code: "CONFIG", exit: 78, message: error.message };
  if (error instanceof HallError) {
    const { code, message, hint, next, details } = error;
    return {
      code,
      exit: errorTable[code].exit,
      message,
      suggestion: next.length === 0 ? hint : adviceForShell(next),
      ...(details === undefined ? {} : { details }),
    };
  }
  return readSurprise(error);
}

/** What a failure of the machine means for whoever has to mend it. */
const systemHints: Readonly<Record<string, string>> = {
  EACCES: "Check the file permissions.",
  EPERM: "Check the file permissions.",
  EROFS: "The file system is read-only.",
  ENOSPC: "Free some disk space.",
  ENOENT: "Check that the folder still exists.",
  ENOTDIR: "A file is in the place of a folder: move it away.",
  EEXIST: "A file is in the place of a folder: move it away.",
  EISDIR: "A folder is in the place of a file: move it away.",
  EMFILE: "Too many files are open: raise the limit with `ulimit -n`.",
};

function readSurprise(error: unknown): Failure {
  const { code = "", syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (syscall === "uv_cwd")
    return {
      code: "SYSTEM",
      exit: 1,
      message: "the current directory no longer exists",
      suggestion: "Change to an existing directory.",
    };
  const suggestion = systemHints[code];
  const message = error instanceof Error ? error.message : String(error);
  return { code: "SYSTEM", exit: 1, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** By its code: the class would bring all of commander along. */
function isUsage(error: unknown): error is CommanderError {
  return error instanceof Error && "code" in error && String(error.code).startsWith("commander.");
}
