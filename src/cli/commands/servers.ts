import { setTimeout as sleep } from "node:timers/promises";
import { sanitize } from "../../base/sanitize.ts";
import { formatTime, plural } from "../../base/text.ts";
import { editServer } from "../../hall/config-edit.ts";
import { type LogEntry, readServerLogs } from "../../hall/server-logs.ts";
import { getServer } from "../../hall/settings.ts";
import { type ListedServer, listServers } from "../../hall/status.ts";
import type { JsonOption } from "../declaration.ts";
import { onStopSignals } from "../exit.ts";
import { loadProject } from "../hall.ts";
import { type Cell, joinLines, paint, print, table, wrapProse } from "../print.ts";

/** Lists the configured servers without starting one. */
export async function runList(options: JsonOption): Promise<void> {
  const servers = await listServers(await loadProject());
  print(servers, wrapProse(formatServers(servers)), options);
}

export async function runRemove(name: string, options: JsonOption): Promise<void> {
  const { file } = await editServer(process.cwd(), name, () => undefined);
  print({ server: name, removed: true, file }, `removed ${name} from ${file}`, options);
}

export async function runEnable(name: string, options: JsonOption): Promise<void> {
  const { file, isChanged } = await editServer(
    process.cwd(),
    name,
    ({ disabled: _off, ...entry }) => entry,
  );
  const text = isChanged ? `enabled ${name} in ${file}` : `${name} is enabled already`;
  print({ server: name, disabled: false, changed: isChanged, file }, text, options);
}

export async function runDisable(name: string, options: JsonOption): Promise<void> {
  const { file, isChanged } = await editServer(process.cwd(), name, (entry) => ({
    ...entry,
    disabled: true,
  }));
  const text = isChanged
    ? `disabled ${name} in ${file}; to use it again: \`guildhall enable ${name}\``
    : `${name} is disabled already`;
  print({ server: name, disabled: true, changed: isChanged, file }, text, options);
}

function formatServers(servers: readonly ListedServer[]): string {
  const rows = servers.map(({ name, state, tools, disabledTools, target, reason }) => [
    name,
    formatState(state),
    formatTools(tools, disabledTools),
    reason === undefined || target !== "" ? target : reason,
  ]);
  const named = (wanted: ListedServer["state"]): readonly string[] =>
    servers.filter(({ state }) => state === wanted).map(({ name }) => name);
  const held = named("held");
  const isUnknown = servers.some(({ state, tools }) => state === "held" && !tools);
  const unusable = named("unusable");
  return joinLines(
    table(["server", "state", "tools", "runs"], rows, {
      empty: "no servers are configured: run `guildhall init`, or `guildhall add`",
    }),
    held.length + unusable.length > 0 && "",
    held.length > 0 &&
      `${plural(held.length, "server")} held until reviewed; run \`guildhall ${isUnknown ? "build" : "verify"}\``,
    unusable.length > 0 &&
      paint("red", `${unusable.join(", ")} cannot be used; run \`guildhall doctor\` for advice`),
  );
}

function formatState(state: ListedServer["state"]): Cell {
  const styles = { enabled: undefined, disabled: "dim", held: "yellow", unusable: "red" } as const;
  const style = styles[state];
  return style ? { text: state, style } : state;
}

function formatTools(
  tools: ListedServer["tools"],
  disabled: ListedServer["disabledTools"],
): string {
  if (!tools) return "unknown";
  return disabled.length > 0
    ? `${tools.length} of ${tools.length + disabled.length}`
    : String(tools.length);
}

const linesMax = 200;
const pollMs = 250;

/** Shows the end of the servers' logs; with --follow also every new line, until it is stopped. */
export async function runLogs(
  server: string | undefined,
  options: JsonOption & { readonly follow?: boolean },
): Promise<void> {
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
