import { spawn } from "node:child_process";
import type { ReadStream, WriteStream } from "node:tty";
import { drawFrame } from "./frame.ts";
import { Keyboard, KeyGuard, type KeyPress } from "./keyboard.ts";
import type { Palette } from "./parts/line.ts";
import { loadWidths } from "./parts/text.ts";
import { press, unexpectedQuestion } from "./press.ts";
import type { TuiSession } from "./session.ts";
import { isAtWork } from "./state.ts";
import { type Terminal, takeTerminal } from "./terminal.ts";
import { initialView, type KeyAction, type Snapshot, type View, withFocus } from "./view.ts";

export interface ShowOptions {
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
  readonly #palette: Palette;
  readonly #terminal: Terminal;
  readonly #keyboard = new Keyboard();
  readonly #keyGuard = new KeyGuard(() => performance.now());
  #view = initialView;
  #drawnAt = 0;
  #drawTimer: NodeJS.Timeout | undefined;
  #escapeTimer: NodeJS.Timeout | undefined;
  #finish = (): void => {};
  #fail = (_error: unknown): void => {};
  readonly #ended = new Promise<void>((resolve, reject) => {
    this.#finish = resolve;
    this.#fail = reject;
  });

  constructor({ session, stdin, stdout, env }: ShowOptions) {
    this.#session = session;
    this.#env = env;
    const colourDepth = findColourDepth(stdout, env);
    this.#palette = { hasColours: colourDepth > 1, colourDepth };
    this.#terminal = takeTerminal({
      stdin,
      stdout,
      onInput: (chunk) => this.#guard(() => this.#read(chunk)),
      onResize: (size) => void session.send({ kind: "resize", size }),
      onLost: () => this.#finish(),
    });
  }

  async run(): Promise<void> {
    void this.#session.send({ kind: "resize", size: this.#terminal.size });
    const unsubscribe = this.#session.subscribe(() => this.#drawSoon());
    const ticking = setInterval(() => this.#tick(), tickMs);
    const finish = (): void => this.#finish();
    const onCrash = (): void => this.#note("Unexpected error; see the log.");
    for (const signal of stopSignals) process.on(signal, finish);
    process.on("uncaughtExceptionMonitor", onCrash);
    try {
      this.#draw();
      void loadWidths().then(() => this.#drawSoon());
      await this.#ended;
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
      this.#finish();
      return;
    }
    this.#terminal.paint(drawFrame(snapshot, this.#palette));
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
      this.#fail(error);
    }
  }
}

/** Bits per colour, 1 for none. `CI` is ignored: a terminal in a CI container is still a terminal. */
function findColourDepth(stdout: WriteStream, { CI: _, ...env }: NodeJS.ProcessEnv): number {
  return env.NO_COLOR ? 1 : stdout.getColorDepth(env);
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
