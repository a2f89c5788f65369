import { formatTime, plural } from "../../base/text.ts";
import type { Figures, Statistics } from "../../store/store.ts";
import { fitRows, type Line, textLine } from "../parts/line.ts";
import { loadLines, sparkline } from "../parts/run.ts";
import { type Column, tableLines } from "../parts/table.ts";
import { bodyRows, type Screen, scrollBindings } from "../view.ts";

/** Calls, durations and errors per tool. */
export const statsScreen: Screen = {
  title: "Stats",

  bindings({ state }) {
    const count = state.stats.statistics?.tools.length ?? 0;
    const page = bodyRows(state) - headRows - 1;
    return scrollBindings(scrollName, state, { page, last: count - page });
  },

  body({ state, columns, rows }) {
    const { statistics, load } = state.stats;
    if (!statistics) return loadLines(load, columns);
    const { tools } = statistics;
    const first = Math.min(state.scrolls[scrollName] ?? 0, Math.max(0, tools.length - 1));
    const table = tableLines({
      columns: columnsOf(columns),
      items: tools.slice(first),
      isSelected: () => false,
      width: columns,
      rows: rows - headRows,
      empty: "No calls yet.",
    });
    return [...fitRows(totalLines(statistics, columns), headRows), ...table];
  },
};

const scrollName = "stats";
const headRows = 4;

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

function columnsOf(width: number): readonly Column<Statistics["tools"][number]>[] {
  const isWide = width >= 100;
  const trendColumns = isWide ? 32 : 16;
  return [
    { title: "tool", text: "tool" },
    { title: "calls", width: 7, side: "left", text: "calls" },
    {
      title: "errors",
      width: 7,
      side: "left",
      text: percent,
      role: ({ errors }) => (errors > 0 ? "warning" : "plain"),
    },
    ...(isWide ? [{ title: "cancelled", width: 9, side: "left", text: "cancelled" } as const] : []),
    { title: "p50", width: 8, side: "left", text: ({ p50Ms }) => formatMs(p50Ms) },
    { title: "p95", width: 8, side: "left", text: ({ p95Ms }) => formatMs(p95Ms) },
    {
      title: "trend",
      width: trendColumns,
      text: ({ trend }) => sparkline(trend, trendColumns),
      role: "accent",
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
