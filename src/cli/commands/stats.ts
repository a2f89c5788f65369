import { formatBytes, formatTime } from "../../base/text.ts";
import { askHall } from "../../hall/admin-client.ts";
import { openProjectStore } from "../../hall/project-store.ts";
import type { Figures, Statistics } from "../../store/store.ts";
import type { JsonOption } from "../declaration.ts";
import { paint, print, table } from "../print.ts";

interface StatsOptions extends JsonOption {
  readonly since?: number;
  readonly person?: string;
}

export async function runStats(options: StatsOptions): Promise<void> {
  const statistics = await readStatistics(options);
  const hasCalls = statistics && statistics.total.calls > 0;
  const text = hasCalls ? describe(statistics) : "no calls recorded in this folder";
  print(statistics ?? null, text, options);
}

/** From the project's store, or from a running hall that keeps its calls in memory. */
async function readStatistics({ since, person }: StatsOptions): Promise<Statistics | undefined> {
  const store = await openProjectStore();
  if (store) {
    try {
      return await store.statistics(since, person);
    } finally {
      await store.close();
    }
  }
  return askHall(process.cwd(), "statistics", { since, person });
}

const head = "calls errors p50 p95 p99 in out timeouts cancelled trend".split(" ");
const extra = ["trend", "cancelled", "timeouts", "in", "out", "p99"];

function describe({ from, to, total, toolkits, tools, people }: Statistics): string {
  return [
    paint("dim", `${formatTime(from ?? 0)} to ${formatTime(to ?? 0)}`),
    "",
    table(
      ["tool", ...head],
      [...tools.map((tool) => [tool.tool, ...cells(tool)]), ["all", ...cells(total)]],
      { extra },
    ),
    "",
    table(
      ["toolkit", ...head],
      toolkits.map((toolkit) => [toolkit.toolkit, ...cells(toolkit)]),
      { extra },
    ),
    ...(people
      ? [
          "",
          table(
            ["person", ...head],
            people.map((each) => [each.person, ...cells(each)]),
            { extra },
          ),
        ]
      : []),
  ].join("\n");
}

function cells(figures: Figures): readonly string[] {
  return [
    String(figures.calls),
    `${(100 * figures.errorRate).toFixed(1)} %`,
    formatMs(figures.p50Ms),
    formatMs(figures.p95Ms),
    formatMs(figures.p99Ms),
    formatBytes(figures.bytesIn),
    formatBytes(figures.bytesOut),
    String(figures.timeouts),
    String(figures.cancelled),
    sparkline(figures.trend),
  ];
}

/** "350 µs", "12.5 ms", "1.42 s". */
export function formatMs(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`;
  return ms < 1_000
    ? `${Number(ms.toPrecision(3))} ms`
    : `${Number((ms / 1_000).toPrecision(3))} s`;
}

const bars = "▁▂▃▄▅▆▇█";

/** A part without calls is blank. */
function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 1);
  return values
    .map((value) => (value === 0 ? " " : (bars[Math.ceil((value / most) * bars.length) - 1] ?? "")))
    .join("");
}
