import type { Figures, Statistics } from "../../store/store.ts";
import { fitRows, type Line } from "../parts/line.ts";
import { sparkline } from "../parts/progress.ts";
import { loadLines } from "../parts/run-state.ts";
import { type Column, tableLines } from "../parts/table.ts";
import { type Binding, type Moment, on } from "../view.ts";
import { type BodyProps, bodyRows, type Screen } from "./screen.ts";

/** How many calls, how quick, how many went wrong. */
export const statsScreen: Screen = { name: "stats", title: "Stats", bindings, body };

const scrollName = "stats";
const headRows = 4;
type ToolFigures = Statistics["tools"][number];

function bindings({ state }: Moment): readonly Binding[] {
  const tools = state.stats.statistics?.tools ?? [];
  const page = bodyRows(state) - headRows - 1;
  const last = Math.max(0, tools.length - page);
  const at = Math.min(state.scrolls[scrollName] ?? 0, last);
  const to = (row: number) => () =>
    ({ kind: "scroll", view: scrollName, to: Math.min(last, row) }) as const;
  return [
    on("down j", "line on", to(at + 1)),
    on("up k", "line back", to(at - 1)),
    on("pagedown", "page on", to(at + page)),
    on("pageup", "page back", to(at - page)),
  ];
}

function body({ state, columns, rows }: BodyProps): readonly Line[] {
  const { statistics, load } = state.stats;
  if (!statistics) return loadLines(load, columns);
  const shown = statistics.tools.slice(
    Math.min(state.scrolls[scrollName] ?? 0, Math.max(0, statistics.tools.length - 1)),
  );
  const table = tableLines({
    columns: columnsOf(columns),
    items: shown,
    isSelected: () => false,
    width: columns,
    rows: rows - headRows,
    empty: "No calls have been counted yet.",
  });
  return [...fitRows(totalLines(statistics, columns), headRows), ...table];
}

function totalLines({ total, by, from, to }: Statistics, columns: number): readonly Line[] {
  const span = from === null || to === null ? "" : `  ${day(from)} to ${day(to)}, by the ${by}`;
  return [
    [
      { text: `${total.calls} call${total.calls === 1 ? "" : "s"}`, role: "title" },
      { text: span, role: "quiet" },
    ],
    [
      {
        text: `errors ${percent(total)} · timeouts ${total.timeouts} · cancelled ${total.cancelled} · p50 ${duration(total.p50Ms)} · p95 ${duration(total.p95Ms)} · p99 ${duration(total.p99Ms)}`,
      },
    ],
    [{ text: sparkline(total.trend, columns), role: "accent" }],
    [],
  ];
}

function columnsOf(width: number): readonly Column<ToolFigures>[] {
  const isWide = width >= 100;
  return [
    { title: "tool", text: ({ tool }) => tool },
    { title: "calls", width: 7, side: "left", text: ({ calls }) => String(calls) },
    {
      title: "errors",
      width: 7,
      side: "left",
      text: percent,
      role: ({ errors }) => (errors > 0 ? "warning" : "plain"),
    },
    ...(isWide
      ? [
          {
            title: "cancelled",
            width: 9,
            side: "left",
            text: ({ cancelled }) => String(cancelled),
          } as const satisfies Column<ToolFigures>,
        ]
      : []),
    { title: "p50", width: 8, side: "left", text: ({ p50Ms }) => duration(p50Ms) },
    { title: "p95", width: 8, side: "left", text: ({ p95Ms }) => duration(p95Ms) },
    {
      title: "trend",
      width: isWide ? 32 : 16,
      text: ({ trend }) => sparkline(trend, isWide ? 32 : 16),
      role: () => "accent",
    },
  ];
}

function percent({ errorRate }: Figures): string {
  return `${(errorRate * 100).toFixed(errorRate > 0 && errorRate < 0.1 ? 1 : 0)} %`;
}

function duration(ms: number): string {
  return ms < 10
    ? `${ms.toFixed(1)} ms`
    : ms < 10_000
      ? `${Math.round(ms)} ms`
      : `${Math.round(ms / 1000)} s`;
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}
