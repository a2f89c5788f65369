import { styleText } from "node:util";
import { sanitize, sanitizeLines, visible } from "../base/sanitize.ts";
import { plural } from "../base/text.ts";
import type { AnswerQuestion } from "../client/client.ts";
import type { Discovery, DiscoveryProgress, WaitingServer } from "../hall/discover.ts";
import type { Progress } from "../tool.ts";
import { paint, wrapProse } from "./print.ts";

/**
 * Progress and logs of a running call on stderr: in a terminal lines above a bar, elsewhere one
 * plain line per change.
 */
export interface Live {
  progress(progress: Progress): void;
  /** A log message of the tool. */
  log(data: unknown): void;
  /** Lines in the place of the bar, in a terminal only. */
  status(text: string): void;
  /** Removes the bar before something else is written. */
  clear(): void;
}

/** The part of `process.stderr` in use. */
export interface LiveOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export function createLive(output: LiveOutput = process.stderr): Live {
  const isTerminal = output.isTTY === true;
  let bar = "";
  let lastText: string | undefined;

  function erasure(): string {
    const above = bar.split("\n").length - 1;
    return above > 0 ? `\x1b[${above}A\r\x1b[J` : "\r\x1b[K";
  }

  function clear(): void {
    if (bar !== "") output.write(erasure());
    bar = "";
  }

  function draw(text: string): void {
    const erased = erasure();
    // A bar that wraps, or is higher than the screen, cannot be erased.
    const lines = text.split("\n").slice(0, Math.max(1, (output.rows || 24) - 1));
    const width = Math.max(20, (output.columns || 80) - 1);
    bar = lines.map((line) => line.slice(0, width)).join("\n");
    output.write(`${erased}${bar}`);
  }

  return {
    clear,
    status(text) {
      if (isTerminal) draw(sanitizeLines(text).join("\n"));
    },
    progress({ progress, total, message, elapsedSeconds }) {
      const share =
        total === undefined || total <= 0 ? undefined : Math.max(0, Math.min(1, progress / total));
      const text = message === undefined ? "" : sanitize(message).replace(/\s+/g, " ");
      const elapsed = elapsedSeconds === undefined ? "" : ` (${Math.round(elapsedSeconds)} s)`;
      if (isTerminal) return draw(`${drawShare(share, progress)} ${text}${elapsed}`);
      if (text !== "" && text !== lastText)
        output.write(`${share === undefined ? "" : `[${Math.round(share * 100)} %] `}${text}\n`);
      lastText = text;
    },
    log(data) {
      const lines = sanitizeLines(typeof data === "string" ? data : (JSON.stringify(data) ?? ""));
      const below = bar;
      clear();
      for (const line of lines)
        output.write(
          `${isTerminal && process.env.NO_COLOR === undefined ? styleText("dim", line, { validateStream: false }) : line}\n`,
        );
      if (below !== "") draw(below);
    },
  };
}

function drawShare(share: number | undefined, progress: number): string {
  return share === undefined
    ? `${progress}`
    : `[${"█".repeat(Math.round(share * 20)).padEnd(20, "░")}] ${Math.round(share * 100)} %`;
}

/** Shows nothing, for --json. */
export const quiet: Live = {
  progress: () => {},
  log: () => {},
  status: () => {},
  clear: () => {},
};

/** Tells a person at a terminal that a command is busy, and for how long. Silent in pipes and CI. */
export interface BusyNotice {
  /** Shows the text while the work runs, once it has taken 0.3 s. */
  during<T>(text: string, work: Promise<T>): Promise<T>;
  /** Removes the text of the current work for good, before something else is written. */
  clear(): void;
}

const waitingMs = 300;

export function createWaiting(
  output: LiveOutput = process.stderr,
  isWatched: boolean = isTerminalWatched(),
): BusyNotice {
  const live = createLive(output);
  let timer: NodeJS.Timeout | undefined;

  function clear(): void {
    clearInterval(timer);
    live.clear();
  }

  return {
    clear,
    async during(text, work) {
      if (!isWatched) return work;
      const startedAt = performance.now();
      clearInterval(timer);
      const own = setInterval(() => {
        const seconds = Math.floor((performance.now() - startedAt) / 1_000);
        live.status(seconds === 0 ? `${text} …` : `${text} … ${seconds} s`);
      }, waitingMs).unref();
      timer = own;
      try {
        return await work;
      } finally {
        // Another work may have begun meanwhile.
        if (timer === own) clear();
      }
    },
  };
}

function isTerminalWatched(): boolean {
  const { stdout, stderr, env } = process;
  return stdout.isTTY === true && stderr.isTTY === true && !env.CI;
}

/** Clears the bar before a question is shown. */
export function below(live: Pick<Live, "clear">, answer: AnswerQuestion): AnswerQuestion {
  return (params) => {
    live.clear();
    return answer(params);
  };
}

/** One line per server as `build` and `verify` start it. */
function formatDiscovery(discovery: Discovery): string {
  // A server that was not started took no time.
  const took = discovery.ms < 50 ? "" : ` (${(discovery.ms / 1000).toFixed(1)} s)`;
  return "found" in discovery
    ? `${paint("green", "✔")} ${discovery.name}: ${plural(discovery.found.offer.tools.length, "tool")}${took}`
    : `${paint("red", "✘")} ${discovery.name}: ${visible(discovery.reason)}${took}`;
}

/** Shows progress on stderr, which stays silent with --json. */
export function reportDiscovery(json: boolean | undefined): DiscoveryProgress | undefined {
  if (json) return undefined;
  const live = createLive();
  return {
    ...reportWaiting(live),
    done(discovery) {
      live.clear();
      process.stderr.write(`${wrapProse(formatDiscovery(discovery), process.stderr)}\n`);
    },
  };
}

/** Only the line with the servers that are not ready, and after Ctrl+C those that still install in the background. */
export function reportWaiting(live: Live): DiscoveryProgress {
  let installing: readonly string[] = [];
  const stop = (): void => {
    live.clear();
    if (installing.length > 0)
      process.stderr.write(
        `\nstill installing in the background: ${installing.join(", ")}; run the command again later\n`,
      );
    // End as Ctrl+C ends a process without a handler.
    process.kill(process.pid, "SIGINT");
  };

  return {
    done: () => {},
    waiting(servers) {
      installing = servers.filter((server) => server.isInstalling).map(({ name }) => name);
      process.off("SIGINT", stop);
      if (servers.length > 0) process.once("SIGINT", stop);
      if (servers.length === 0) live.clear();
      else live.status(formatWaiting(servers));
    },
  };
}

function formatWaiting(servers: readonly WaitingServer[]): string {
  const lines = servers.map(({ name, isInstalling, ms }) => {
    const seconds = Math.round(ms / 1000);
    return `  ${name}: ${isInstalling ? "installing" : "starting"} … ${seconds} s`;
  });
  return lines.join("\n");
}
