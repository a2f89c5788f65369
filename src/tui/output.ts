import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { Secrets } from "../base/log.ts";
import { openProjectFile } from "../base/project-files.ts";
import { sanitize } from "../base/sanitize.ts";
import type { Progress } from "../tool.ts";

/** The newest output lines of a run. Bounded; the run's log has everything. */
export interface OutputRing {
  readonly lines: readonly OutputLine[];
  /** How many older lines were dropped. */
  readonly dropped: number;
}

export interface OutputLine {
  /** `out`: the result and a command's stdout; `err`: stderr and warnings. */
  readonly source: "out" | "err" | "progress" | "log";
  /** One sanitised line. */
  readonly text: string;
}

export const emptyOutput: OutputRing = { lines: [], dropped: 0 };
const linesMax = 5_000;
export const lineCharactersMax = 4_000;

export function appendOutput(
  { lines, dropped }: OutputRing,
  more: readonly OutputLine[],
  max: number = linesMax,
): OutputRing {
  if (more.length === 0) return { lines, dropped };
  const excess = Math.max(0, lines.length + more.length - max);
  const fromOld = Math.min(excess, lines.length);
  return {
    lines: [...lines.slice(fromOld), ...more.slice(excess - fromOld).map(shorten)],
    dropped: dropped + excess,
  };
}

function shorten(line: OutputLine): OutputLine {
  if (line.text.length <= lineCharactersMax) return line;
  return { ...line, text: `${keepHead(line.text, lineCharactersMax)}… (the log has all of it)` };
}

/** The start of a long text as a copy: a slice would keep the whole text in memory. */
export function keepHead(text: string, characters: number): string {
  return text.length <= characters ? text : Buffer.from(text.slice(0, characters)).toString();
}

export interface OutputBufferOptions {
  readonly intervalMs: number;
  onOutput(lines: readonly OutputLine[]): void;
  onProgress(progress: Progress): void;
}

/** Batches output, so that a thousand lines a second cause thirty state changes a second. */
export class OutputBuffer {
  readonly #options: OutputBufferOptions;
  #waiting: OutputLine[] = [];
  #newest: Progress | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OutputBufferOptions) {
    this.#options = options;
  }

  put(lines: readonly OutputLine[]): void {
    for (const line of lines) this.#waiting.push(line);
    this.#flushSoon();
  }

  /** Only the newest progress is passed on. */
  progress(progress: Progress): void {
    this.#newest = progress;
    this.#flushSoon();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [lines, progress] = [this.#waiting, this.#newest];
    this.#waiting = [];
    this.#newest = undefined;
    if (lines.length > 0) this.#options.onOutput(lines);
    if (progress) this.#options.onProgress(progress);
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.flush(), this.#options.intervalMs);
  }
}

/** A run's complete output in a file. */
export interface RunLog {
  /** Relative to the project. */
  readonly path: string;
  write(lines: readonly OutputLine[]): void;
  note(text: string): void;
  /** Resolves when everything is written. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface RunLogOptions {
  readonly folder: string;
  readonly about: string;
  readonly tool: string;
  readonly secrets: Secrets;
  now(): Date;
}

const logBytesMax = 64 * 1024 * 1024;
const nameCharactersMax = 60;

/** Undefined when the file cannot be opened; the run works without a log. */
export function openRunLog(options: RunLogOptions): RunLog | undefined {
  const { folder, about, tool, secrets, now } = options;
  const stamp = now().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  const name = [about, tool].map(fileNamePart).filter(Boolean).join("-");
  const path = join(".guildhall", "logs", `tui-${name}-${stamp}-${process.pid}.log`);
  try {
    const stream = createWriteStream(path, { fd: openProjectFile(folder, path) });
    let bytes = 0;
    let isBroken = false;
    stream.on("error", () => {
      isBroken = true;
    });
    const put = (text: string): void => {
      if (isBroken || bytes > logBytesMax) return;
      bytes += text.length;
      stream.write(bytes > logBytesMax ? "… the log is full\n" : secrets.scrub(text));
    };
    return {
      path,
      write(lines) {
        const at = now().toISOString();
        put(lines.map(({ source, text }) => `${at} ${source.padEnd(8)} ${text}\n`).join(""));
      },
      note: (text) => put(`${now().toISOString()} ${sanitize(text).replace(/\n/g, "\n  ")}\n`),
      flush: () =>
        new Promise((resolve) => (isBroken ? resolve() : stream.write("", () => resolve()))),
      close: () => new Promise((resolve) => (isBroken ? resolve() : stream.end(() => resolve()))),
    };
  } catch {
    return undefined;
  }
}

/** Characters that every file system accepts. */
function fileNamePart(text: string): string {
  return text
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[-.]+|-+$/g, "")
    .slice(0, nameCharactersMax);
}
