import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { makePrivateFolder } from "./files.ts";

/**
 * A log file of bounded size that only the user can read: when it is full it becomes `FILE.1`, in place
 * of the last one. Text is written a few times a second; of a flood only the end is kept. Several
 * processes may write to the same file.
 */
export interface RotatingFile {
  write(text: string): void;
  /** Writes what is waiting. */
  flush(): void;
}

export interface RotatingFileOptions {
  /** Of one file. Default 1 MB. */
  readonly bytesMax?: number;
  /** The folder is ours: refuse one that other users can access. */
  readonly hasOwnFolder?: boolean;
  /** Called for the first text that cannot be written. */
  failed?(error: unknown): void;
}

const waitMs = 100;
const waitingMax = 64 * 1024;

export function createRotatingFile(
  file: string,
  { bytesMax = 1_000_000, hasOwnFolder = false, failed }: RotatingFileOptions = {},
): RotatingFile {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  let hasFailed = false;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = "";
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
      waiting += text;
      // Cut at a line: half a line would be read as one without a time.
      if (waiting.length > waitingMax)
        waiting = waiting.slice(waiting.indexOf("\n", waiting.length - waitingMax) + 1);
      timer ??= setTimeout(flush, waitMs).unref();
    },
    flush,
  };
}

/** The earlier file first. */
export function partsOf(file: string): readonly string[] {
  return [`${file}.1`, file];
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function rotate(file: string): void {
  if (sizeOf(file) > 0) renameSync(file, `${file}.1`);
}
