import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { makePrivateFolder } from "./files.ts";

/**
 * A log file of bounded size that only the user can read. A full file is renamed to `FILE.1` and replaces
 * the earlier one. Text is buffered for 100 ms; if more than 64 KiB arrive in that time, only the last
 * lines are kept. Several processes may write to the same file. The logs of servers and of a hall in the
 * background are such files.
 */
export interface RotatingFile {
  write(text: string): void;
  /** Writes the buffered text now. */
  flush(): void;
}

export interface RotatingFileOptions {
  /** The size at which the file is renamed. Default 1 MB. */
  readonly bytesMax?: number;
  /** True for a folder that Guildhall created: writing is refused if other users can access it. */
  readonly hasOwnFolder?: boolean;
  /** Called for the first text that cannot be written. */
  failed?(error: unknown): void;
}

const flushAfterMs = 100;
const bufferedMax = 64 * 1024;

export function createRotatingFile(
  file: string,
  { bytesMax = 1_000_000, hasOwnFolder = false, failed }: RotatingFileOptions = {},
): RotatingFile {
  let buffered = "";
  let timer: NodeJS.Timeout | undefined;
  let hasFailed = false;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const text = lastLines(buffered);
    buffered = "";
    if (text === "") return;
    try {
      if (hasOwnFolder) makePrivateFolder(dirname(file));
      else mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (sizeOf(file) + Buffer.byteLength(text) > bytesMax) rotate(file);
      appendFileSync(file, text, { mode: 0o600 });
    } catch (error) {
      // A log that cannot be written must not stop what it describes.
      if (!hasFailed) failed?.(error);
      hasFailed = true;
    }
  }

  return {
    write(text) {
      buffered += text;
      // Not for each line: a cut copies all that is left.
      if (buffered.length > 2 * bufferedMax) buffered = lastLines(buffered);
      timer ??= setTimeout(flush, flushAfterMs).unref();
    },
    flush,
  };
}

/** Cut between lines, because readers expect a time at the beginning of each line. */
function lastLines(text: string): string {
  if (text.length <= bufferedMax) return text;
  return text.slice(text.indexOf("\n", text.length - bufferedMax) + 1);
}

/** Both files of a log, the earlier one first. */
export function partsOf(file: string): readonly string[] {
  return [`${file}.1`, file];
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function rotate(file: string): void {
  if (sizeOf(file) > 0) renameSync(file, `${file}.1`);
}
