import { spawn } from "node:child_process";
import { HallError } from "../base/errors.ts";
import { sanitizeLines } from "../base/sanitize.ts";
import type { Scope } from "../base/scope.ts";
import { signalGroup } from "../upstream/gate.ts";
import { createGuard } from "../upstream/guard.ts";
import { allowedEnvironment } from "../upstream/program.ts";

/** Splits the command of a task into a program and its arguments. Shell syntax is refused. */
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
      throw notPlain(line, `"${character}" needs a shell`);
    } else word = (word ?? "") + character;
  }
  if (quote !== undefined) throw notPlain(line, "unclosed quote");
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw notPlain(line, "it is empty");
  if (/^[A-Za-z_]\w*=/.test(words[0] ?? ""))
    throw notPlain(line, "setting variables needs a shell");
  return words;
}

function notPlain(line: string, why: string): HallError {
  return new HallError("VALIDATION", `"${line.slice(0, 200)}" is not a plain command: ${why}`, {
    hint: "Commands run without a shell. Name one program with its arguments, or put the line into a script.",
  });
}

export interface CommandResult {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of each stream. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in its own process group, which ends with the scope and with the hall. */
export function runCommand(
  argv: readonly string[],
  {
    cwd,
    scope,
    output,
  }: { readonly cwd: string; readonly scope: Scope; readonly output: CommandOutput },
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
      if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    });
    const leave = (): void => {
      forget();
      if (child.pid !== undefined) guard.release(child.pid);
      guard.close();
    };
    child.once("error", (error: NodeJS.ErrnoException) => {
      leave();
      const reason = error.code === "ENOENT" ? "program not found" : error.message;
      const message = `could not start "${program}": ${reason}`;
      reject(new HallError("EXECUTION", message, { cause: error }));
    });
    child.once("close", (code, signal) => {
      leave();
      const written = output.end();
      if (scope.cancelReason) reject(scope.cancelReason);
      else resolve({ code, signal, ...written });
    });
  });
}

export type CommandStream = "stdout" | "stderr";

/** The output of a command: forwarded line by line without control sequences and secrets; its end is kept. */
export interface CommandOutput {
  take(stream: CommandStream, text: string): void;
  /** Forwards what is left, and returns the end of each stream. */
  end(): { readonly stdout: string; readonly stderr: string };
}

export interface CommandOutputOptions {
  /** Receives whole lines of one stream. */
  onLines(stream: CommandStream, lines: string): void;
  scrub(text: string): string;
  /** How long lines are collected before they are forwarded. Default 100. */
  readonly intervalMs?: number;
}

const tailCharactersMax = 32 * 1024;
const lineCharactersMax = 4_000;
/** Searched for secrets before a long line is cut. */
const heldCharactersMax = 64 * 1024;
const batchCharactersMax = 32 * 1024;
const forwardedMax = 4 * 1024 * 1024;

export function createCommandOutput({
  onLines,
  scrub,
  intervalMs = 100,
}: CommandOutputOptions): CommandOutput {
  const tails = { stdout: "", stderr: "" };
  const held = { stdout: "", stderr: "" };
  const waiting: { readonly stream: CommandStream; readonly line: string }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let forwarded = 0;

  function addLine(stream: CommandStream, line: string): void {
    forwarded += line.length + 1;
    waiting.push({ stream, line });
    timer ??= setTimeout(flush, intervalMs);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    let lines: string[] = [];
    let characters = 0;
    for (const [at, { stream, line }] of waiting.entries()) {
      lines.push(line);
      characters += line.length;
      if (waiting[at + 1]?.stream === stream && characters < batchCharactersMax) continue;
      onLines(stream, clean(lines.join("\n"), scrub).split("\n").map(shorten).join("\n"));
      lines = [];
      characters = 0;
    }
    waiting.length = 0;
  }

  return {
    take(stream, text) {
      tails[stream] = (tails[stream] + text).slice(-2 * tailCharactersMax);
      if (forwarded > forwardedMax) return;
      const lines = text.split("\n");
      for (const [at, part] of lines.entries()) {
        held[stream] = (held[stream] + part).slice(0, heldCharactersMax);
        if (at === lines.length - 1) break;
        addLine(stream, held[stream]);
        held[stream] = "";
      }
      if (forwarded > forwardedMax)
        addLine(stream, "… output limit of 4 MiB reached; only its end is kept");
    },
    end() {
      if (forwarded <= forwardedMax)
        for (const stream of ["stdout", "stderr"] as const)
          if (held[stream] !== "") addLine(stream, held[stream]);
      flush();
      return { stdout: tailOf(tails.stdout, scrub), stderr: tailOf(tails.stderr, scrub) };
    },
  };
}

/** Removes control sequences first: they may be in the middle of a secret. */
function clean(text: string, scrub: (text: string) => string): string {
  return scrub(sanitizeLines(text).join("\n"));
}

function shorten(line: string): string {
  return line.length <= lineCharactersMax
    ? line
    : `${line.slice(0, lineCharactersMax)}… (line cut)`;
}

/** Starts with a whole line if possible: half a secret is not recognised. */
function tailOf(raw: string, scrub: (text: string) => string): string {
  const text = clean(raw, scrub);
  if (text.length <= tailCharactersMax) return text;
  const tail = text.slice(-tailCharactersMax);
  return tail.slice(tail.indexOf("\n") + 1);
}
