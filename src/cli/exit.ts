import type { CommanderError } from "commander";
import type { Advice } from "../base/advice.ts";
import { errorTable, HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { escapeInvisible } from "../base/sanitize.ts";
import { ConfigError } from "../config/error.ts";
import { adviceForShell } from "./advice.ts";

/** How a command ends: stop signals, output that cannot be written, and failures. */

/** How long running requests may take to finish after the first stop signal. */
export const drainMs = 10_000;

/** Calls `stop` for the first signal and `force` for any later one. Returns a function that stops listening. */
export function onStopSignals(stop: () => void, force: () => void): () => void {
  let count = 0;
  const listener = (): void => (++count === 1 ? stop() : force());
  process.on("SIGTERM", listener).on("SIGINT", listener);
  return () => void process.off("SIGTERM", listener).off("SIGINT", listener);
}

/** Watches stdout. A reader that closed the pipe, such as `head`, is not a failure; other write errors are. */
export function watchOutput(output: NodeJS.WritableStream): {
  /** Throws EXECUTION when something could not be written. */
  check(): void;
} {
  let failure: Error | undefined;
  output.on("error", (error: Error) => {
    if (!isClosedPipe(error)) failure ??= error;
  });
  return {
    check() {
      if (failure)
        throw new HallError("EXECUTION", `could not write the output: ${failure.message}`, {
          hint: "The command itself was carried out.",
          cause: failure,
        });
    },
  };
}

export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "EPIPE";
}

interface Failure {
  /** A code of the error table, or USAGE, CONFIG, SYSTEM. */
  readonly code: string;
  readonly exit: number;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly details?: HallError["details"];
  readonly next?: readonly Advice[] | undefined;
}

/** 0 ok, 1 failure, 2 usage, 66 not found, 69 unavailable, 75 timeout, 77 denied, 78 config. */
export function exitCodeOf(error: unknown): number {
  return isUsage(error) && error.exitCode === 0 ? 0 : readFailure(error).exit;
}

/** The text for stderr; undefined after help, which commander prints. */
export function explainToPerson(error: unknown): string | undefined {
  if (isUsage(error) && /^commander\.(help|version)/.test(error.code)) return undefined;
  const { message, suggestion } = readFailure(error);
  const next = suggestion === undefined ? "" : `\n  ${suggestion}`;
  // The text may quote a server, a file or an argument.
  return escapeInvisible(`guildhall: ${message}${next}`);
}

/** The same as one JSON object, for stdout. */
export function explainToProgram(error: unknown): JsonObject {
  return { error: { ...readFailure(error) } };
}

/** True if a command line asks for JSON; arguments after `--` belong to another program. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).includes("--json");
}

function readFailure(error: unknown): Failure {
  if (isUsage(error))
    return {
      code: "USAGE",
      exit: 2,
      message: restyle(error.message),
      suggestion: "Run it with --help for usage and examples.",
    };
  if (error instanceof ConfigError) return { code: "CONFIG", exit: 78, message: error.message };
  if (error instanceof HallError) {
    const { code, message, details } = error;
    const { exit } = errorTable[code];
    const next = error.next.length > 0 ? error.next : undefined;
    return { code, exit, message, suggestion: suggestionOf(error), details, next };
  }
  return readSystemFailure(error);
}

/** A message of commander in one line, as ours are. */
function restyle(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/'([^']*)'/g, '"$1"')
    .replace(/\.? Expected (\d+) arguments? but got \d+\.$/, (_, most: string) =>
      most === "0" ? "; it takes none" : `; it takes at most ${most}`,
    )
    .replace(/\n\(Did you mean (.*)\)$/, "; did you mean $1")
    .replace(/\n/g, " ");
}

/** Hint and next steps. The default hint of an error code is left out if there is a next step. */
function suggestionOf({ code, hint, next }: HallError): string {
  if (next.length === 0) return hint;
  const steps = adviceForShell(next);
  return hint === errorTable[code].hint ? steps : `${hint}\n  ${steps}`;
}

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

function readSystemFailure(error: unknown): Failure {
  const { code = "", syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (syscall === "uv_cwd")
    return {
      code: "SYSTEM",
      exit: 1,
      message: "the current directory no longer exists",
      suggestion: "Change to an existing directory.",
    };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "SYSTEM", exit: 1, message, suggestion: systemHints[code] };
}

/** By its code: importing the class would load all of commander. */
function isUsage(error: unknown): error is CommanderError {
  return error instanceof Error && "code" in error && String(error.code).startsWith("commander.");
}
