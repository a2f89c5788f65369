import { setTimeout as sleep } from "node:timers/promises";
import { sanitize } from "../../base/sanitize.ts";
import { formatTime } from "../../base/text.ts";
import { type LogEntry, readServerLogs } from "../../hall/server-logs.ts";
import { getServer } from "../../hall/settings.ts";
import type { JsonOption } from "../declaration.ts";
import { onStopSignals } from "../exit.ts";
import { loadProject } from "../hall.ts";
import { paint, print } from "../print.ts";

interface LogsOptions extends JsonOption {
  readonly follow?: boolean;
}

const linesMax = 200;
const pollMs = 250;

/** Shows the end of the servers' logs; with --follow also every new line, until it is stopped. */
export async function runLogs(server: string | undefined, options: LogsOptions): Promise<void> {
  const logs = await readServerLogs(process.cwd(), server);
  if (server !== undefined && !logs.names().includes(server))
    getServer(server, (await loadProject()).loaded);
  const width = Math.max(0, ...logs.names().map((name) => name.length));
  const line = (entry: LogEntry): string => formatEntry(entry, server === undefined ? width : 0);
  const lines = logs.read().slice(-linesMax);
  if (!options.follow) {
    const text = lines.map(line).join("\n") || emptyText(server);
    print({ lines }, text, options);
    return;
  }

  const write = (entry: LogEntry): void =>
    void process.stdout.write(`${options.json ? JSON.stringify(entry) : line(entry)}\n`);
  lines.forEach(write);
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  const leave = onStopSignals(stop, stop);
  while (!stopped.signal.aborted) {
    await sleep(pollMs, undefined, { signal: stopped.signal }).catch(() => {});
    logs.read().forEach(write);
    // A reader such as `head` has ended.
    if (process.stdout.destroyed) stop();
  }
  leave();
}

function emptyText(server: string | undefined): string {
  return server === undefined
    ? "no server of this project has written anything to stderr"
    : `${server} has written nothing to stderr`;
}

function formatEntry({ at, server, text }: LogEntry, width: number): string {
  const time = formatTime(at);
  const name = width === 0 ? "" : ` ${server.padEnd(width)}`;
  return `${paint("dim", `${time}${name}`)} ${sanitize(text)}`;
}
