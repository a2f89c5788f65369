import { spawn } from "node:child_process";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import { createGuard } from "../upstream/guard.ts";
import { allowedEnvironment } from "../upstream/process.ts";
import type { CommandOutput } from "./command-output.ts";

/** A command a task declares: a program and its arguments, never a line for a shell. */
export function parseCommand(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const character of line.trim()) {
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? "") + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= "";
    } else if (character === " " || character === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|&;<>`$(){}*?!\\~#\s]/.test(character)) {
      throw notPlain(line, `"${character}" is for a shell`);
    } else word = (word ?? "") + character;
  }
  if (quote !== undefined) throw notPlain(line, "a quote is not closed");
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw notPlain(line, "it is empty");
  if (/^[A-Za-z_]\w*=/.test(words[0] ?? "")) throw notPlain(line, "variables are set by a shell");
  return words;
}

function notPlain(line: string, why: string): HallError {
  return new HallError("VALIDATION", `\`${line.slice(0, 200)}\` is not a plain command: ${why}`, {
    hint: "Commands run without a shell: write one program with its arguments, or put the line into a script and name that.",
  });
}

export interface CommandResult {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what it wrote, to stdout and stderr apart. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly scope: Scope;
  readonly output: CommandOutput;
}

/** Runs it in a group of its own, which ends with the scope, and with the hall: whoever goes on would else start it beside itself. */
export function runCommand(
  argv: readonly string[],
  { cwd, scope, output }: CommandOptions,
): Promise<CommandResult> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: allowedEnvironment(),
      shell: false,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const guard = createGuard();
    if (child.pid !== undefined) guard.watch(child.pid);
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => output.take(name, text));
    const forget = scope.onCancel(() => {
      if (child.pid !== undefined) endGroup(child.pid);
    });
    const leave = (): void => {
      forget();
      if (child.pid !== undefined) guard.release(child.pid);
      guard.close();
    };
    child.once("error", (error: NodeJS.ErrnoException) => {
      leave();
      reject(
        new HallError(
          "EXECUTION",
          error.code === "ENOENT"
            ? `"${program}" was not found`
            : `"${program}" could not be started (${error.message})`,
          {
            cause: error,
          },
        ),
      );
    });
    child.once("close", (code, signal) => {
      leave();
      const written = output.end();
      if (scope.cancelled) reject(scope.cancelled);
      else resolve({ code, signal, ...written });
    });
  });
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
