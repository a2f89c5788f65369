import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { guardMs } from "../servers/until.ts";

/** A terminal as a person has it: a shell in a tmux of its own, keys that are pressed, a screen that is read. */
export interface Pane extends AsyncDisposable {
  /** The current screen, without trailing blanks. */
  screen(): Promise<string>;
  /** The first screen that has the text, or all of them. */
  until(...texts: readonly (string | RegExp)[]): Promise<string>;
  /** The same as the terminal has it, with its colours. */
  painted(): Promise<string>;
  type(text: string): Promise<void>;
  /** As tmux names keys: Enter, Escape, C-c, PPage. */
  press(...keys: readonly string[]): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** The process that runs in the shell. */
  program(): Promise<number>;
  /** True if a program uses the alternate screen, and if the cursor is shown. */
  mode(): Promise<{ readonly isAlternate: boolean; readonly isCursorShown: boolean }>;
}

export interface PaneOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

const lookMs = 60;
const run = promisify(execFile);

export async function openPane({
  folder,
  env = {},
  columns = 80,
  rows = 24,
}: PaneOptions): Promise<Pane> {
  const own = mkdtempSync(join(tmpdir(), "guildhall-pane-"));
  const config = join(own, "tmux.conf");
  writeFileSync(
    config,
    "set -g status off\nset -g escape-time 0\nset -g default-terminal tmux-256color\n",
  );
  // Colours of the test run say nothing about the person's terminal.
  const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env;
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (
      await run("tmux", ["-u", "-S", join(own, "socket"), "-f", config, ...args], {
        env: inherited,
      })
    ).stdout;
  const settings = Object.entries({ LC_ALL: "C.UTF-8", ...env }).flatMap(([name, value]) => [
    "-e",
    `${name}=${value}`,
  ]);
  await tmux(
    "new-session",
    "-d",
    "-x",
    String(columns),
    "-y",
    String(rows),
    "-c",
    folder,
    ...settings,
    "sh",
  );

  const screen = async (): Promise<string> =>
    (await tmux("capture-pane", "-p")).replace(/[ \t]+$/gm, "").trimEnd();

  return {
    screen,
    async until(...texts) {
      const deadline = Date.now() + guardMs;
      for (;;) {
        const shown = await screen();
        if (
          texts.every((text) =>
            typeof text === "string" ? shown.includes(text) : text.test(shown),
          )
        )
          return shown;
        if (Date.now() > deadline)
          throw new Error(`${texts.join(" and ")} did not appear:\n${shown}`);
        await sleep(lookMs);
      }
    },
    painted: () => tmux("capture-pane", "-p", "-e"),
    type: async (text) => void (await tmux("send-keys", "-l", text)),
    press: async (...keys) => void (await tmux("send-keys", ...keys)),
    resize: async (width, height) =>
      void (await tmux("resize-window", "-x", String(width), "-y", String(height))),
    async program() {
      const shell = (await tmux("display-message", "-p", "#{pane_pid}")).trim();
      const [child] = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8")
        .trim()
        .split(" ");
      if (!child) throw new Error("nothing runs in the shell");
      return Number(child);
    },
    async mode() {
      const [alternate, cursor] = (
        await tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")
      )
        .trim()
        .split(" ");
      return { isAlternate: alternate === "1", isCursorShown: cursor === "1" };
    },
    async [Symbol.asyncDispose]() {
      // The shell and what runs in it end with their terminal.
      await tmux("kill-server").catch(() => {});
      rmSync(own, { recursive: true, force: true });
    },
  };
}
