import { harmlessLines } from "../base/harmless.ts";

export type Stream = "stdout" | "stderr";

/** What a command writes: told line by line while it runs, and the end of it kept. Harmless, and without secrets. */
export interface CommandOutput {
  take(stream: Stream, text: string): void;
  /** Nothing more comes: tells what is left, also a line without an end. */
  end(): { readonly stdout: string; readonly stderr: string };
}

export interface CommandOutputOptions {
  /** Hears whole lines of one stream, in the order they were written as far as two pipes tell. */
  told(stream: Stream, lines: string): void;
  scrub(text: string): string;
  /** How long lines are gathered: a program may write thousands a second. Default 100. */
  readonly intervalMs?: number;
}

const tailCharactersMax = 32 * 1024;
const lineCharactersMax = 4_000;
/** What is looked through for secrets before a long line is cut. */
const heldCharactersMax = 64 * 1024;
const toldAtOnceMax = 32 * 1024;
const toldMax = 4 * 1024 * 1024;

export function createCommandOutput({
  told,
  scrub,
  intervalMs = 100,
}: CommandOutputOptions): CommandOutput {
  const tails = { stdout: "", stderr: "" };
  const held = { stdout: "", stderr: "" };
  const waiting: { readonly stream: Stream; readonly line: string }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let toldCharacters = 0;

  function addLine(stream: Stream, line: string): void {
    toldCharacters += line.length + 1;
    waiting.push({ stream, line });
    timer ??= setTimeout(flush, intervalMs);
  }

  /** In pieces: cleaning many lines at once costs what a few cost one by one. */
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    let lines: string[] = [];
    let characters = 0;
    for (const [at, { stream, line }] of waiting.entries()) {
      lines.push(line);
      characters += line.length;
      if (waiting[at + 1]?.stream === stream && characters < toldAtOnceMax) continue;
      told(stream, clean(lines.join("\n"), scrub).split("\n").map(shorten).join("\n"));
      lines = [];
      characters = 0;
    }
    waiting.length = 0;
  }

  return {
    take(stream, text) {
      tails[stream] = (tails[stream] + text).slice(-2 * tailCharactersMax);
      if (toldCharacters > toldMax) return;
      const lines = text.split("\n");
      for (const [at, part] of lines.entries()) {
        held[stream] = (held[stream] + part).slice(0, heldCharactersMax);
        if (at === lines.length - 1) break;
        addLine(stream, held[stream]);
        held[stream] = "";
      }
      if (toldCharacters > toldMax)
        addLine(stream, "… and more, too much to tell: only its end is kept");
    },
    end() {
      if (toldCharacters <= toldMax)
        for (const stream of ["stdout", "stderr"] as const)
          if (held[stream] !== "") addLine(stream, held[stream]);
      flush();
      return { stdout: tailOf(tails.stdout, scrub), stderr: tailOf(tails.stderr, scrub) };
    },
  };
}

/** After the marks of a terminal are gone: they may stand in the middle of a secret. */
function clean(text: string, scrub: (text: string) => string): string {
  return scrub(harmlessLines(text).join("\n"));
}

function shorten(line: string): string {
  return line.length <= lineCharactersMax
    ? line
    : `${line.slice(0, lineCharactersMax)}… (the line goes on)`;
}

/** Begins with a whole line where it can: half a secret is not recognised. */
function tailOf(raw: string, scrub: (text: string) => string): string {
  const text = clean(raw, scrub);
  if (text.length <= tailCharactersMax) return text;
  const tail = text.slice(-tailCharactersMax);
  return tail.slice(tail.indexOf("\n") + 1);
}
