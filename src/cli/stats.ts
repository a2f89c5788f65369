import { connectAdmin } from "../hall/admin-client.ts";
import { openProjectStore } from "../hall/project-store.ts";
import { socketPath } from "../hall/socket.ts";
import type { Figures, Statistics } from "../store/store.ts";
import { paint, print, table } from "./print.ts";
import { parseSince } from "./since.ts";

export interface StatsOptions {
  readonly since?: string;
  readonly json?: boolean;
}

/** Calls of each toolkit and tool: how many, how well, how long. */
export async function runStats(options: StatsOptions): Promise<void> {
  const since = options.since === undefined ? undefined : parseSince(options.since);
  const statistics = await readStatistics(since);
  print(statistics ?? null, {
    json: options.json,
    text: () =>
      statistics && statistics.total.calls > 0
        ? describe(statistics)
        : "no calls were recorded here",
  });
}

/** From the project's file, or from a running hall that keeps its calls in memory. */
async function readStatistics(since: number | undefined): Promise<Statistics | undefined> {
  const store = await openProjectStore();
  if (store) {
    try {
      return await store.statistics(since);
    } finally {
      await store.close();
    }
  }
  const admin = await connectAdmin(await socketPath(process.cwd()));
  if (!admin) return undefined;
  try {
    return await admin.ask("statistics", since === undefined ? {} : { since });
  } finally {
    await admin.close();
  }
}

function describe({ from, to, total, toolkits, tools }: Statistics): string {
  const head = [
    "calls",
    "errors",
    "p50",
    "p95",
    "p99",
    "in",
    "out",
    "timeouts",
    "cancelled",
    "trend",
  ];
  const time = (at: number | null): string =>
    new Date(at ?? 0).toISOString().slice(0, 16).replace("T", " ");
  return [
    paint("dim", `${time(from)} to ${time(to)} UTC`),
    "",
    table(
      ["tool", ...head],
      [...tools.map((tool) => [tool.tool, ...cells(tool)]), ["all", ...cells(total)]],
    ),
    "",
    table(
      ["toolkit", ...head],
      toolkits.map((toolkit) => [toolkit.toolkit, ...cells(toolkit)]),
    ),
  ].join("\n");
}

function cells({
  calls,
  errorRate,
  p50Ms,
  p95Ms,
  p99Ms,
  bytesIn,
  bytesOut,
  timeouts,
  cancelled,
  trend,
}: Figures): readonly string[] {
  return [
    String(calls),
    `${(100 * errorRate).toFixed(1)} %`,
    duration(p50Ms),
    duration(p95Ms),
    duration(p99Ms),
    size(bytesIn),
    size(bytesOut),
    String(timeouts),
    String(cancelled),
    sparkline(trend),
  ];
}

function duration(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`;
  return ms < 1_000
    ? `${Number(ms.toPrecision(3))} ms`
    : `${Number((ms / 1_000).toPrecision(3))} s`;
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${Number((bytes / 1_000).toPrecision(3))} kB`
    : `${Number((bytes / 1_000_000).toPrecision(3))} MB`;
}

const bars = "▁▂▃▄▅▆▇█";

/** The busiest part is the highest bar; a part without calls is blank. */
function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 1);
  return values
    .map((value) => (value === 0 ? " " : (bars[Math.ceil((value / most) * bars.length) - 1] ?? "")))
    .join("");
}
