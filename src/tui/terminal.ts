import type { ReadStream, WriteStream } from "node:tty";
import type { Size } from "./state.ts";

/** The terminal while it is ours. However the process ends, but for SIGKILL, it is given back as it was. */
export interface Terminal {
  readonly size: Size;
  /** Writes the lines that have changed since the last frame. */
  paint(frame: string): void;
  /** Gives it to another program, such as an editor, until that is done. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** Idempotent. */
  close(): void;
}

export interface TerminalOptions {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  read(chunk: string): void;
  resized(size: Size): void;
  /** The terminal is gone: its window was closed, or the line to it broke. Nothing more is written to it. */
  lost(): void;
}

// Alternate screen, hidden cursor, pastes with their ends marked. Lines do not flow over: what a terminal takes for wider than we do must
// not cover the row below.
const enter = "\u001b[?1049h\u001b[?25l\u001b[?2004h\u001b[?7l\u001b[2J";
const leave = "\u001b[?7h\u001b[?2004l\u001b[0m\u001b[?25h\u001b[?1049l";
// A terminal that knows it shows a frame at once; others ignore it.
const beginFrame = "\u001b[?2026h";
const endFrame = "\u001b[?2026l";

export function takeTerminal({ stdin, stdout, read, resized, lost }: TerminalOptions): Terminal {
  let painted: readonly string[] = [];
  let isOurs = false;
  let isGone = false;
  const heard = (chunk: string | Buffer): void => read(chunk.toString());
  const sizeOf = (): Size => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const changed = (): void => {
    // Terminals move lines about when they change their size.
    painted = [];
    if (isOurs) stdout.write("\u001b[2J");
    resized(sizeOf());
  };

  function take(): void {
    if (isOurs || isGone) return;
    isOurs = true;
    painted = [];
    stdout.write(enter);
    stdin.setRawMode?.(true);
    stdin.setEncoding("utf8").on("data", heard).resume();
  }

  function giveBack(): void {
    if (!isOurs) return;
    isOurs = false;
    stdin.off("data", heard).pause();
    if (isGone) return;
    stdin.setRawMode?.(false);
    stdout.write(leave);
  }

  const gone = (): void => {
    if (isGone) return;
    isGone = true;
    isOurs = false;
    lost();
  };

  // They stay when the terminal is given back: what was written last may still fail, and must not end the process by that.
  stdin.on("end", gone).on("error", gone);
  stdout.on("error", gone);
  stdout.on("resize", changed);
  take();
  // The monitor hears of an exception before Node prints it: on our screen nobody would see it. Where somebody catches
  // what nobody caught, as our commands do, the process goes on, and so do we.
  const crashed = (): void => {
    if (process.listenerCount("uncaughtException") === 0) giveBack();
  };
  process.on("exit", giveBack).on("uncaughtExceptionMonitor", crashed);
  return {
    get size() {
      return sizeOf();
    },
    paint(frame) {
      if (!isOurs) return;
      const lines = frame.split("\n").slice(0, sizeOf().rows);
      // The row is cleared before it is written: behind a full one the cursor still stands on its last character.
      const changes = lines
        .map((line, row) =>
          line === painted[row] ? "" : `\u001b[${row + 1};1H\u001b[K${line}\u001b[0m`,
        )
        .join("");
      const rest = lines.length < painted.length ? `\u001b[${lines.length + 1};1H\u001b[J` : "";
      painted = lines;
      if (changes + rest !== "") stdout.write(beginFrame + changes + rest + endFrame);
    },
    async lend(work) {
      giveBack();
      try {
        return await work();
      } finally {
        take();
        // The window may be another size by now.
        if (isOurs) resized(sizeOf());
      }
    },
    close() {
      giveBack();
      stdout.off("resize", changed);
      process.off("exit", giveBack).off("uncaughtExceptionMonitor", crashed);
    },
  };
}
