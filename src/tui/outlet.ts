import type { Progress } from "../tool.ts";
import type { OutputLine } from "./output.ts";

/** Gathers what a run says, so that a thousand lines a second are thirty changes a second. */
export interface Outlet {
  put(lines: readonly OutputLine[]): void;
  /** Only the newest is told. */
  progress(progress: Progress): void;
  flush(): void;
}

export interface OutletOptions {
  readonly intervalMs: number;
  output(lines: readonly OutputLine[]): void;
  progress(progress: Progress): void;
}

export function createOutlet({ intervalMs, output, progress }: OutletOptions): Outlet {
  let waiting: OutputLine[] = [];
  let newest: Progress | undefined;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = waiting;
    const latest = newest;
    waiting = [];
    newest = undefined;
    if (lines.length > 0) output(lines);
    if (latest) progress(latest);
  }

  function arrange(): void {
    timer ??= setTimeout(flush, intervalMs);
  }

  return {
    put(lines) {
      for (const line of lines) waiting.push(line);
      arrange();
    },
    progress(next) {
      newest = next;
      arrange();
    },
    flush,
  };
}
