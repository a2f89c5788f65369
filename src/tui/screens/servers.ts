import type { UpstreamStatus } from "../../hall/admin-contract.ts";
import type { Line, Role } from "../parts/line.ts";
import { elapsed, loadLines } from "../parts/run-state.ts";
import { type Column, tableLines } from "../parts/table.ts";
import { wrap } from "../parts/width.ts";
import type { ServersState, TuiState } from "../state.ts";
import { type Binding, type Moment, on } from "../view.ts";
import { type BodyProps, neighbour, type Screen } from "./screen.ts";

/** The servers behind the hall: how they are, what they last said. */
export const serversScreen: Screen = { name: "servers", title: "Servers", bindings, body };

function bindings({ state: { servers } }: Moment): readonly Binding[] {
  const { selected, logs, status } = servers;
  const items = status?.upstreams ?? [];
  const go = (step: number) => () => {
    const next = neighbour(items, ({ name }) => name === selected, step);
    return next && ({ kind: "select server", name: next.name } as const);
  };
  const one = items.find(({ name }) => name === selected);
  return [
    ...(one
      ? [
          on("r", "restart", () => ({ kind: "restart server", name: one.name })),
          on("l enter", "what it said", () => ({ kind: "show logs", server: one.name })),
        ]
      : []),
    ...(logs ? [on("esc", "hide", () => ({ kind: "hide logs" }))] : []),
    on("up k", "up", go(-1)),
    on("down j", "down", go(1)),
  ];
}

function body({ state, now, columns, rows }: BodyProps): readonly Line[] {
  const { servers } = state;
  const items = servers.status?.upstreams ?? [];
  const below = [
    ...hallLines(state, now),
    ...detailLines(servers, columns, now),
    ...loadLines(servers.load, columns),
  ];
  const logs = servers.logs ? logLines(servers.logs, columns) : [];
  const tableRows = servers.logs
    ? Math.min(items.length + 1, Math.floor(rows / 2))
    : Math.max(2, rows - below.length - 1);
  const logRows = rows - tableRows - below.length - 1;
  const table = tableLines({
    columns: columnsOf(columns),
    items,
    isSelected: ({ name }) => name === servers.selected,
    width: columns,
    rows: tableRows,
    empty: "No servers are configured. `guildhall init` finds those of your other clients.",
  });
  return [...table, [], ...below, ...logs.slice(-logRows)];
}

function columnsOf(width: number): readonly Column<UpstreamStatus>[] {
  return [
    { title: "server", text: ({ name }) => name },
    {
      title: "state",
      width: 10,
      text: ({ state }) => state.kind,
      role: ({ state }) => stateRoles[state.kind],
    },
    { title: "era", width: 7, text: ({ era }) => era ?? "" },
    ...(width >= 100
      ? [{ title: "protocol", width: 11, text: ({ protocol }: UpstreamStatus) => protocol ?? "" }]
      : []),
    { title: "tools", width: 6, side: "left", text: ({ tools }) => String(tools) },
    { title: "calls", width: 7, side: "left", text: ({ calls }) => String(calls) },
    {
      title: "errors",
      width: 7,
      side: "left",
      text: ({ errors }) => String(errors),
      role: ({ errors }) => (errors > 0 ? "warning" : "plain"),
    },
  ];
}

const stateRoles: Readonly<Record<UpstreamStatus["state"]["kind"], Role>> = {
  stopped: "quiet",
  starting: "accent",
  ready: "good",
  down: "bad",
  closed: "quiet",
  unusable: "bad",
};

function hallLines({ servers: { status } }: TuiState, now: number): readonly Line[] {
  if (!status) return [];
  const registered =
    status.registrations.length === 0
      ? ""
      : ` · ${status.registrations.length} registered toolkits`;
  const clients = `${status.clients} client${status.clients === 1 ? "" : "s"}`;
  return [
    [
      {
        text: `hall ${status.version} · process ${status.pid} · up ${elapsed(now - status.startedAt)} · ${clients}${registered}`,
        role: "quiet",
      },
    ],
  ];
}

function detailLines(
  { status, selected }: ServersState,
  columns: number,
  now: number,
): readonly Line[] {
  const one = status?.upstreams.find(({ name }) => name === selected);
  if (!one) return [];
  const said =
    howItIs(one, now) ??
    (one.lastError === undefined ? undefined : `the last error of ${one.name}: ${one.lastError}`);
  return said === undefined
    ? []
    : wrap(said, columns)
        .slice(0, 4)
        .map((text): Line => [{ text, role: "warning" }]);
}

function howItIs({ name, state }: UpstreamStatus, now: number): string | undefined {
  if (state.kind === "unusable") return `${name} cannot be used: ${state.reason}`;
  if (state.kind !== "down") return undefined;
  // That it is tried again helps nobody: the reason says what does.
  if (state.code === "DENIED") return `${name}: ${state.reason}`;
  const when =
    state.retryAt > now ? `in ${elapsed(state.retryAt - now)}; r tries now` : "at its next call";
  return `${name} is down: ${state.reason}. It is tried again ${when}.`;
}

function logLines(
  { server, lines }: NonNullable<ServersState["logs"]>,
  columns: number,
): readonly Line[] {
  const title: Line = [{ text: `─── what ${server} wrote to stderr `, role: "quiet" }];
  if (lines.length === 0) return [title, [{ text: "Nothing so far.", role: "quiet" }]];
  return [title, ...lines.flatMap((line) => wrap(line, columns).map((text): Line => [{ text }]))];
}
