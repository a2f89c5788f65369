import { plural } from "../../base/text.ts";
import type { UpstreamStatus } from "../../hall/admin-contract.ts";
import { set } from "../events.ts";
import { describeAdvice } from "../failure.ts";
import { type Role, type ScreenLine, textLine, wrapLines } from "../parts/line.ts";
import { formatDuration, loadLines } from "../parts/run.ts";
import { type Column, tableLines } from "../parts/table.ts";
import type { ServersState } from "../state.ts";
import { bindingsFrom, on, type Screen, selectBindings } from "../view.ts";

/** The servers behind the hall, their states and logs. */
export const serversScreen: Screen = {
  title: "Servers",

  bindings({ state: { servers } }) {
    const server = selectedServer(servers)?.name;
    return bindingsFrom(
      server !== undefined && [
        on("r", "restart", { kind: "restart server", server }),
        on("l enter", "log", { kind: "show logs", server }),
      ],
      servers.logs && on("esc", "hide the log", set("servers", { logs: undefined })),
      selectBindings(servers.status?.upstreams ?? [], ({ name }) => name === servers.selected, {
        select: ({ name }) => set("servers", { selected: name }),
      }),
    );
  },

  body({ state: { servers }, now, columns, rows }) {
    const items = servers.status?.upstreams ?? [];
    const server = selectedServer(servers);
    const problem = (server && describeProblem(server, now)) ?? "";
    const below = [
      ...hallLines(servers, now),
      ...(problem === "" ? [] : wrapLines(problem, columns, "warning").slice(0, 4)),
      ...loadLines(servers.load, columns),
    ];
    const logs = servers.logs ? logLines(servers.logs, columns) : [];
    const tableRows = servers.logs
      ? Math.min(items.length + 1, Math.floor(rows / 2))
      : Math.max(2, rows - below.length - 1);
    const table = tableLines({
      columns: tableColumns,
      items,
      isSelected: ({ name }) => name === servers.selected,
      width: columns,
      rows: tableRows,
      empty: "No servers configured. `guildhall init` imports those of your other clients.",
    });
    const logRows = rows - tableRows - below.length - 1;
    return [...table, [], ...below, ...logs.slice(-logRows)];
  },
};

function selectedServer({ status, selected }: ServersState): UpstreamStatus | undefined {
  return status?.upstreams.find(({ name }) => name === selected);
}

const stateRoles: Readonly<Record<UpstreamStatus["state"]["kind"], Role>> = {
  stopped: "quiet",
  starting: "accent",
  ready: "good",
  down: "bad",
  closed: "quiet",
  unusable: "bad",
};

const tableColumns: readonly Column<UpstreamStatus>[] = [
  { title: "server", text: "name" },
  {
    title: "state",
    width: 10,
    text: ({ state }) => state.kind,
    role: ({ state }) => stateRoles[state.kind],
  },
  { title: "protocol", width: 11, text: ({ protocol }) => protocol ?? "" },
  { title: "tools", width: 6, side: "left", text: "tools" },
  { title: "calls", width: 7, side: "left", text: "calls" },
  {
    title: "errors",
    width: 7,
    side: "left",
    text: "errors",
    role: ({ errors }) => (errors > 0 ? "warning" : "plain"),
  },
];

function hallLines({ status }: ServersState, now: number): readonly ScreenLine[] {
  if (!status) return [];
  const { version, pid, startedAt, clients, registrations } = status;
  const parts = [
    `hall ${version}`,
    `process ${pid}`,
    `up ${formatDuration(now - startedAt)}`,
    plural(clients, "client"),
  ];
  if (registrations.length > 0) parts.push(plural(registrations.length, "registered toolkit"));
  return [textLine(parts.join(" · "), "quiet")];
}

function describeProblem(
  { name, state, lastError }: UpstreamStatus,
  now: number,
): string | undefined {
  if (state.kind === "unusable") return `${name} is unusable: ${state.reason}`;
  if (state.kind !== "down") return lastError && `last error of ${name}: ${lastError}`;
  // A retry does not help here; the advice says what does.
  if (state.code === "DENIED")
    return `${name} ${state.reason}. ${describeAdvice(state.next ?? [])}`.trim();
  const isWaiting = state.retryAt > now;
  const when = isWaiting
    ? `in ${formatDuration(state.retryAt - now)}; r retries now`
    : "on the next call";
  return `${name} is down: ${state.reason}. Next attempt ${when}.`;
}

function logLines(
  { server, lines }: NonNullable<ServersState["logs"]>,
  columns: number,
): readonly ScreenLine[] {
  const title = textLine(`─── stderr of ${server} `, "quiet");
  if (lines.length === 0) return [title, textLine("Nothing so far.", "quiet")];
  return [title, ...lines.flatMap((line) => wrapLines(line, columns))];
}
