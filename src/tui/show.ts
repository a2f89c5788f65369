// The only file that writes to the terminal: `Display` turns the state into frames and keys into
// intentions, `Terminal` takes the terminal over and gives it back.

import { spawn } from "node:child_process";
import type { ReadStream, WriteStream } from "node:tty";
import { withResolvers } from "../base/timing.ts";
import { drawFrame } from "./frame.ts";
import { Keyboard, KeyGuard, type KeyPress } from "./keyboard.ts";
import { loadWidths } from "./parts/text.ts";
import { press, unexpectedQuestion } from "./press.ts";
import type { TuiSession } from "./session.ts";
import { isAtWork, type Size } from "./state.ts";
import { initialView, type KeyAction, type Snapshot, type View, withFocus } from "./view.ts";

interface ShowOptions {
  readonly session: Pick<TuiSession, "state" | "subscribe" | "send">;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** About thirty frames a second for output; a key is drawn at once. */
const frameMs = 33;
/** How long the rest of an escape sequence may take. */
const escapeMs = 30;
const tickMs = 1_000;
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Shows the session until the user quits, a signal arrives or the terminal is gone. Throws what a
 * screen threw. The session stays open.
 */
export async function showTui(options: ShowOptions): Promise<void> {
  await new Display(options).run();
}

class Display {
  readonly #session: ShowOptions["session"];
  readonly #env: NodeJS.ProcessEnv;
  readonly #hasColours: boolean;
  readonly #terminal: Terminal;
  readonly #keyboard = new Keyboard();
  readonly #keyGuard = new KeyGuard(() => performance.now());
  #view = initialView;
  #drawnAt = 0;
  #drawTimer: NodeJS.Timeout | undefined;
  #escapeTimer: NodeJS.Timeout | undefined;
  readonly #ended = withResolvers<void>();

  constructor({ session, stdin, stdout, env }: ShowOptions) {
    this.#session = session;
    this.#env = env;
    this.#hasColours = hasColours(stdout, env);
    this.#terminal = takeTerminal({
      stdin,
      stdout,
      onInput: (chunk) => this.#guard(() => this.#read(chunk)),
      onResize: (size) => void session.send({ kind: "resize", size }),
      onLost: this.#ended.resolve,
    });
  }

  async run(): Promise<void> {
    void this.#session.send({ kind: "resize", size: this.#terminal.size });
    const unsubscribe = this.#session.subscribe(() => this.#drawSoon());
    const ticking = setInterval(() => this.#tick(), tickMs);
    const finish = (): void => this.#ended.resolve();
    const onCrash = (): void => this.#note("Unexpected error; see the log.");
    for (const signal of stopSignals) process.on(signal, finish);
    process.on("uncaughtExceptionMonitor", onCrash);
    try {
      this.#draw();
      void loadWidths().then(() => this.#drawSoon());
      await this.#ended.promise;
    } finally {
      for (const signal of stopSignals) process.off(signal, finish);
      process.off("uncaughtExceptionMonitor", onCrash);
      clearInterval(ticking);
      clearTimeout(this.#drawTimer);
      clearTimeout(this.#escapeTimer);
      unsubscribe();
      this.#terminal.close();
    }
  }

  #snapshot(): Snapshot {
    return { state: this.#session.state(), view: this.#view, now: Date.now() };
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    this.#drawnAt = performance.now();
    const snapshot = this.#snapshot();
    if (snapshot.state.isQuitting) {
      this.#ended.resolve();
      return;
    }
    this.#terminal.paint(drawFrame(snapshot, this.#hasColours));
    this.#keyGuard.onFrame(unexpectedQuestion(snapshot));
  }

  #drawSoon(): void {
    const delayMs = Math.max(0, this.#drawnAt + frameMs - performance.now());
    this.#drawTimer ??= setTimeout(() => this.#guard(() => this.#draw()), delayMs);
  }

  /** Some screens show times that pass. */
  #tick(): void {
    const { runs, connection, screen } = this.#session.state();
    const isTimed = screen === "approvals" || screen === "servers";
    if (isTimed || connection.kind === "lost" || runs.some(isAtWork)) this.#drawSoon();
  }

  #read(chunk: string): void {
    clearTimeout(this.#escapeTimer);
    this.#onKeys(this.#keyboard.read(chunk));
    if (this.#keyboard.isWaiting)
      this.#escapeTimer = setTimeout(
        () => this.#guard(() => this.#onKeys(this.#keyboard.flush())),
        escapeMs,
      );
  }

  #onKeys(keys: readonly KeyPress[]): void {
    for (const key of keys) this.#onKey(key);
    this.#draw();
  }

  #onKey(key: KeyPress): void {
    const isAccidental = this.#keyGuard.isAccidental(unexpectedQuestion(this.#snapshot()), key);
    const note = isAccidental
      ? "Key ignored: the question had just appeared. Press it again to answer."
      : undefined;
    if (this.#view.note !== note) this.#view = { ...this.#view, note };
    if (isAccidental) return;
    for (const action of press(this.#snapshot(), key)) this.#view = this.#carryOut(action);
  }

  #carryOut(action: KeyAction): View {
    switch (action.kind) {
      case "focus":
        return withFocus(this.#view, action.on, action.part);
      case "view":
        return action.view;
      case "edit file":
        void this.#edit(action.path);
        return this.#view;
      default:
        void this.#session.send(action);
        return this.#view;
    }
  }

  async #edit(path: string): Promise<void> {
    const problem = await this.#terminal.lend(() => openEditor(path, this.#env));
    if (problem !== undefined) this.#note(problem);
    const { feature } = this.#session.state();
    if (feature?.document !== undefined)
      void this.#session.send({ kind: "open document", path: feature.document });
    void this.#session.send({ kind: "refresh", screen: "feature" });
    this.#drawSoon();
  }

  #note(note: string): void {
    this.#view = { ...this.#view, note };
    this.#drawSoon();
  }

  /** An exception in a timer or listener must end `run`, not the process. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#ended.reject(error);
    }
  }
}

/** `CI` is ignored: a terminal in a CI container is still a terminal. */
function hasColours(stdout: WriteStream, { CI: _, ...env }: NodeJS.ProcessEnv): boolean {
  return !env.NO_COLOR && stdout.getColorDepth(env) > 1;
}

/** Resolves with a message when the editor failed. */
function openEditor(path: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const [command = "vi", ...args] = (env.VISUAL || env.EDITOR || "vi").split(/\s+/).filter(Boolean);
  return new Promise((resolve) => {
    const child = spawn(command, [...args, path], { stdio: "inherit" });
    child.on("error", ({ message }) =>
      resolve(`Cannot start the editor "${command}" (${message}). Set EDITOR.`),
    );
    child.on("exit", (code) =>
      resolve(code ? `The editor "${command}" exited with code ${code}.` : undefined),
    );
  });
}

/** The terminal in full-screen mode. It is restored however the process ends, except by SIGKILL. */
interface Terminal {
  readonly size: Size;
  /** Writes the rows that changed since the last frame. */
  paint(frame: string): void;
  /** Restores the terminal while another program, such as an editor, uses it. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** Idempotent. */
  close(): void;
}

interface TerminalOptions {
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

function takeTerminal(options: TerminalOptions): Terminal {
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
