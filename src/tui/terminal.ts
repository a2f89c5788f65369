import type { ReadStream, WriteStream } from "node:tty";
import type { Size } from "./state.ts";

/** The terminal in full-screen mode. It is restored however the process ends, except by SIGKILL. */
export interface Terminal {
  readonly size: Size;
  /** Writes the rows that changed since the last frame. */
  paint(frame: string): void;
  /** Restores the terminal while another program, such as an editor, uses it. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** Idempotent. */
  close(): void;
}

export interface TerminalOptions {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  onInput(chunk: string): void;
  onResize(size: Size): void;
  /** The window was closed or the connection to it broke. Nothing more is written. */
  onLost(): void;
}

// Alternate screen, hidden cursor, bracketed paste. No automatic wrap: a character that the terminal
// takes for wider than we do must not spill into the next row.
const enter = "\u001b[?1049h\u001b[?25l\u001b[?2004h\u001b[?7l\u001b[2J";
const leave = "\u001b[?7h\u001b[?2004l\u001b[0m\u001b[?25h\u001b[?1049l";
// Synchronized output: terminals that know it show a frame at once.
const beginFrame = "\u001b[?2026h";
const endFrame = "\u001b[?2026l";

export function takeTerminal(options: TerminalOptions): Terminal {
  const { stdin, stdout, onInput, onResize, onLost } = options;
  let painted: readonly string[] = [];
  let isOurs = false;
  let isGone = false;
  const onData = (chunk: string | Buffer): void => onInput(chunk.toString());
  const sizeOf = (): Size => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const onSize = (): void => {
    // Terminals reflow lines when they are resized.
    painted = [];
    if (isOurs) stdout.write("\u001b[2J");
    onResize(sizeOf());
  };

  function take(): void {
    if (isOurs || isGone) return;
    isOurs = true;
    painted = [];
    stdout.write(enter);
    stdin.setRawMode?.(true);
    stdin.setEncoding("utf8").on("data", onData).resume();
  }

  function restore(): void {
    if (!isOurs) return;
    isOurs = false;
    stdin.off("data", onData).pause();
    if (isGone) return;
    stdin.setRawMode?.(false);
    stdout.write(leave);
  }

  const onGone = (): void => {
    if (isGone) return;
    isGone = true;
    isOurs = false;
    onLost();
  };

  // These listeners stay after `close`: the last write may still fail and must not end the process.
  stdin.on("end", onGone).on("error", onGone);
  stdout.on("error", onGone);
  stdout.on("resize", onSize);
  take();
  // Restore before Node prints an uncaught exception, unless a handler keeps the process alive.
  const onCrash = (): void => {
    if (process.listenerCount("uncaughtException") === 0) restore();
  };
  process.on("exit", restore).on("uncaughtExceptionMonitor", onCrash);
  return {
    get size() {
      return sizeOf();
    },
    paint(frame) {
      if (!isOurs) return;
      const lines = frame.split("\n").slice(0, sizeOf().rows);
      // Clear before writing: after a full row the cursor is still on its last character.
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
      restore();
      try {
        return await work();
      } finally {
        take();
        // The window may have been resized meanwhile.
        if (isOurs) onResize(sizeOf());
      }
    },
    close() {
      restore();
      stdout.off("resize", onSize);
      process.off("exit", restore).off("uncaughtExceptionMonitor", onCrash);
    },
  };
}
