import { formatTime, plural } from "../../base/text.ts";
import type { Figures, Statistics } from "../../store/store.ts";
import { fitRows, type Line, textLine } from "../parts/line.ts";
import { loadLines, sparkline } from "../parts/run.ts";
import { type Column, tableLines } from "../parts/table.ts";
import type { TuiState } from "../state.ts";
import {
  type BodyOptions,
  bodyRows,
  type KeyBinding,
  on,
  type Screen,
  type Snapshot,
} from "../view.ts";

/** Calls, durations and errors per tool. */
export const statsScreen: Screen = { name: "stats", title: "Stats", bindings, body };

const scrollName = "stats";
const headRows = 4;
type ToolFigures = Statistics["tools"][number];

function bindings({ state }: Snapshot): readonly KeyBinding[] {
  const tools = state.stats.statistics?.tools ?? [];
  const page = bodyRows(state) - headRows - 1;
  const last = Math.max(0, tools.length - page);
  const at = Math.min(scrollOf(state), last);
  const to = (row: number) => () =>
    ({ kind: "scroll", view: scrollName, to: Math.min(last, row) }) as const;
  return [
    on("down j", "line forward", to(at + 1)),
    on("up k", "line back", to(at - 1)),
    on("pagedown", "page forward", to(at + page)),
    on("pageup", "page back", to(at - page)),
  ];
}

function scrollOf({ scrolls }: TuiState): number {
  return scrolls[scrollName] ?? 0;
}

function body({ state, columns, rows }: BodyOptions): readonly Line[] {
  const { statistics, load } = state.stats;
  if (!statistics) return loadLines(load, columns);
  const { tools } = statistics;
  const table = tableLines({
    columns: columnsOf(columns),
    items: tools.slice(Math.min(scrollOf(state), Math.max(0, tools.length - 1))),
    isSelected: () => false,
    width: columns,
    rows: rows - headRows,
    empty: "No calls yet.",
  });
  return [...fitRows(totalLines(statistics, columns), headRows), ...table];
}

function totalLines({ total, by, from, to }: Statistics, columns: number): readonly Line[] {
  const span = from === null || to === null ? "" : `  ${minute(from)} to ${minute(to)}, per ${by}`;
  const figures = [
    `errors ${percent(total)}`,
    `timeouts ${total.timeouts}`,
    `cancelled ${total.cancelled}`,
    `p50 ${formatMs(total.p50Ms)}`,
    `p95 ${formatMs(total.p95Ms)}`,
    `p99 ${formatMs(total.p99Ms)}`,
  ];
  return [
    [
      { text: plural(total.calls, "call"), role: "title" },
      { text: span, role: "quiet" },
    ],
    textLine(figures.join(" · ")),
    textLine(sparkline(total.trend, columns), "accent"),
  ];
}

function columnsOf(width: number): readonly Column<ToolFigures>[] {
  const isWide = width >= 100;
  const trendColumns = isWide ? 32 : 16;
  const cancelled: Column<ToolFigures> = {
    title: "cancelled",
    width: 9,
    side: "left",
    text: (figures) => String(figures.cancelled),
  };
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
    ...(isWide ? [cancelled] : []),
    { title: "p50", width: 8, side: "left", text: ({ p50Ms }) => formatMs(p50Ms) },
    { title: "p95", width: 8, side: "left", text: ({ p95Ms }) => formatMs(p95Ms) },
    {
      title: "trend",
      width: trendColumns,
      text: ({ trend }) => sparkline(trend, trendColumns),
      role: () => "accent",
    },
  ];
}

function percent({ errorRate }: Figures): string {
  const digits = errorRate > 0 && errorRate < 0.1 ? 1 : 0;
  return `${(errorRate * 100).toFixed(digits)} %`;
}

function formatMs(ms: number): string {
  if (ms >= 10_000) return `${Math.round(ms / 1000)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

function minute(time: number): string {
  return formatTime(time).slice(0, 16);
}
