import { spawn } from "node:child_process";
import type { ReadStream, WriteStream } from "node:tty";
import { drawFrame } from "./frame.ts";
import { createKeyboard, type Key } from "./keyboard.ts";
import { isAtWork } from "./parts/run-state.ts";
import { press, surprisingQuestion } from "./press.ts";
import type { TuiSession } from "./session.ts";
import { createSurprise } from "./surprise.ts";
import { takeTerminal } from "./terminal.ts";
import { type Act, initialView, type Moment, type View, withFocus } from "./view.ts";

export interface ShowOptions {
  readonly session: Pick<TuiSession, "state" | "subscribe" | "send">;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** About thirty frames a second, whatever a run prints; a key is answered at once. */
const frameMs = 33;
/** How long after an escape something that belongs to it may still come. */
const escapeMs = 30;
const tickMs = 1_000;
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Shows the session on the terminal until the person quits, a signal says so, or the terminal is gone. Throws what a screen threw. The session stays open. */
export async function showTui({ session, stdin, stdout, env }: ShowOptions): Promise<void> {
  let finish = (): void => {};
  let fail = (_error: unknown): void => {};
  const over = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  let view = initialView;
  let drawnAt = 0;
  let drawing: NodeJS.Timeout | undefined;
  let escaping: NodeJS.Timeout | undefined;
  const keyboard = createKeyboard();
  const surprise = createSurprise(() => performance.now());
  const colourDepth = findColourDepth(stdout, env);
  const palette = { hasColours: colourDepth > 1, colourDepth };
  const moment = (): Moment => ({ state: session.state(), view, now: Date.now() });

  function draw(): void {
    clearTimeout(drawing);
    drawing = undefined;
    drawnAt = performance.now();
    if (session.state().isQuitting) finish();
    else {
      terminal.paint(drawFrame(moment(), palette));
      surprise.painted(surprisingQuestion(moment()));
    }
  }

  function drawSoon(): void {
    drawing ??= setTimeout(guarded(draw), Math.max(0, drawnAt + frameMs - performance.now()));
  }

  function read(chunk: string): void {
    clearTimeout(escaping);
    for (const key of keyboard.read(chunk)) hear(key);
    if (keyboard.isWaiting) escaping = setTimeout(guarded(flush), escapeMs);
    draw();
  }

  function flush(): void {
    for (const key of keyboard.flush()) hear(key);
    draw();
  }

  function hear(key: Key): void {
    const isTooSoon = surprise.isTooSoon(surprisingQuestion(moment()), key);
    const note = isTooSoon
      ? "That key was pressed as the question came up, and is not taken for an answer."
      : undefined;
    if (view.note !== note) view = { ...view, note };
    if (!isTooSoon) for (const act of press(moment(), key)) view = carryOut(act, view);
  }

  function carryOut(act: Act, current: View): View {
    switch (act.kind) {
      case "focus":
        return withFocus(current, act.on, act.part);
      case "look":
        return act.view;
      case "edit file":
        void edit(act.path);
        return current;
      default:
        void session.send(act);
        return current;
    }
  }

  async function edit(path: string): Promise<void> {
    const problem = await terminal.lend(() => openEditor(path, env));
    if (problem !== undefined) view = { ...view, note: problem };
    const { feature } = session.state();
    if (feature?.document !== undefined)
      void session.send({ kind: "open document", path: feature.document });
    void session.send({ kind: "refresh", screen: "feature" });
    drawSoon();
  }

  function notice(): void {
    view = { ...view, note: "Something went wrong that nobody expected: the log has it." };
    drawSoon();
  }

  // What is thrown in a timer or a listener would end the process without a word of ours.
  function guarded<A extends unknown[]>(work: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        work(...args);
      } catch (error) {
        fail(error);
      }
    };
  }

  const terminal = takeTerminal({
    stdin,
    stdout,
    read: guarded(read),
    resized: (size) => void session.send({ kind: "resize", size }),
    lost: () => finish(),
  });
  void session.send({ kind: "resize", size: terminal.size });
  const unsubscribe = session.subscribe(drawSoon);
  // Times that are shown go on by themselves.
  const ticking = setInterval(() => {
    const { runs, connection, screen } = session.state();
    if (
      runs.some(isAtWork) ||
      connection.kind === "lost" ||
      screen === "approvals" ||
      screen === "servers"
    )
      drawSoon();
  }, tickMs);
  for (const signal of stopSignals) process.on(signal, finish);
  process.on("uncaughtExceptionMonitor", notice);
  try {
    draw();
    await over;
  } finally {
    for (const signal of stopSignals) process.off(signal, finish);
    process.off("uncaughtExceptionMonitor", notice);
    clearInterval(ticking);
    clearTimeout(drawing);
    clearTimeout(escaping);
    unsubscribe();
    terminal.close();
  }
}

/** The bits of a colour, 1 for none. A terminal is one in a container of a CI as well. */
function findColourDepth(stdout: WriteStream, { CI: _, ...env }: NodeJS.ProcessEnv): number {
  return env.NO_COLOR ? 1 : stdout.getColorDepth(env);
}

/** Resolves with what went wrong, if anything. */
function openEditor(path: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const [command = "vi", ...args] = (env.VISUAL || env.EDITOR || "vi").split(/\s+/).filter(Boolean);
  return new Promise((resolve) => {
    const child = spawn(command, [...args, path], { stdio: "inherit" });
    child.on("error", ({ message }) =>
      resolve(`The editor "${command}" could not be started (${message}): set EDITOR.`),
    );
    child.on("exit", (code) =>
      resolve(
        code === 0 || code === null
          ? undefined
          : `The editor "${command}" ended with code ${code}.`,
      ),
    );
  });
}
