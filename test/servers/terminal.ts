import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { until } from "./until.ts";

/** A command on a pseudo terminal, which `script` makes. */
export interface Terminal extends AsyncDisposable {
  /** Waits until this is on the screen, below what was waited for before. */
  shows(text: string | RegExp): Promise<RegExpExecArray>;
  type(keys: string): void;
  /** Waits for the word that a person has to type, types it and returns it. */
  confirm(answer?: string): Promise<string>;
  /** Everything shown so far, without escape sequences. */
  screen(): string;
  /** The same with them. */
  raw(): string;
  readonly ended: Promise<number | null>;
}

export interface TerminalOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly rows?: number;
}

export function openTerminal(
  words: readonly string[],
  { folder, env, columns = 120, rows = 40 }: TerminalOptions,
): Terminal {
  const command = words.map((word) => `'${word}'`).join(" ");
  const line = `stty cols ${columns} rows ${rows}; exec ${command}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: folder,
    env: { TERM: "xterm", ...env, SHELL: "/bin/sh" },
    stdio: "pipe",
  });
  let screen = "";
  let raw = "";
  let read = 0;
  child.stdin.on("error", () => {});
  child.stdout.on("data", (bytes: Buffer) => {
    raw += bytes;
    screen += stripVTControlCharacters(bytes.toString());
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const terminal: Terminal = {
    ended,
    screen: () => screen,
    raw: () => raw,
    type: (keys) => void child.stdin.write(keys),
    async shows(text) {
      const literal = String(text).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const pattern = typeof text === "string" ? new RegExp(literal) : text;
      const wanted = until(() => pattern.exec(screen.slice(read)), `${pattern} on the screen`);
      const found = await wanted.catch((error: Error) => {
        throw new Error(`${error.message}, which has:\n${screen}`);
      });
      read += found.index + found[0].length;
      return found;
    },
    async confirm(answer) {
      const [, word = ""] = await terminal.shows(/Type (\w+) to confirm: /);
      terminal.type(`${answer ?? word}\r`);
      return word;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
  return terminal;
}
