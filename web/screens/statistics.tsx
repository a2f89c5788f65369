import { useMemo, useState } from "preact/hooks";
import type { Series, Statistics as StatisticsData } from "../../src/store/store.ts";
import { Chart, type ChartSeries as Line } from "../parts/chart.tsx";
import { Problem } from "../parts/problem.tsx";
import { formatBytes, formatMs, Loading, plural } from "../parts/shown.tsx";
import { useData } from "../store.ts";
import { Choice } from "./tools.tsx";

const dayMs = 86_400_000;
const spans: Readonly<Record<string, number>> = {
  "last day": dayMs,
  "last 3 days": 3 * dayMs,
  "last 30 days": 30 * dayMs,
  "last year": 365 * dayMs,
};

/** Charts of all calls of a time, and the figures of every tool in it. */
export function Statistics() {
  const [span, setSpan] = useState("last day");
  const [server, setServer] = useState("");
  const [tool, setTool] = useState("");
  // The same until the screen is opened again, so that answers can be kept.
  const opened = useMemo(() => Date.now(), []);
  const since = opened - (spans[span] ?? dayMs);
  const { data, error } = useData("statistics", { since });
  const of = tool === "" ? server : tool;
  const { data: series } = useData("series", of === "" ? { since } : { since, of });
  const periods = useMemo(() => (series ? fillIn(series, since, opened) : []), [series, since]);
  const servers = (data?.toolkits ?? []).map(({ toolkit }) => toolkit).sort();
  const tools = (data?.tools ?? [])
    .filter(({ toolkit }) => server === "" || toolkit === server)
    .map((one) => one.tool)
    .sort();
  if (error) return <Problem error={error} />;
  if (!data) return <Loading />;
  const times = periods.map(({ start }) => start);
  const line = (label: string, tone: Line["tone"], value: (period: Period) => number): Line => ({
    label,
    tone,
    values: periods.map(value),
  });
  return (
    <>
      <div class="toolbar">
        <Choice
          label="Server"
          value={server}
          options={servers}
          change={(name) => {
            setServer(name);
            setTool("");
          }}
        />
        <Choice label="Tool" value={tool} options={tools} change={setTool} />
        <select
          aria-label="Time"
          value={span}
          onChange={(event) => setSpan(event.currentTarget.value)}
        >
          {Object.keys(spans).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span class="count">
          {plural(data.total.calls, "call")}, by {data.by}
        </span>
      </div>
      <section class="content padded stack loose" aria-label="Statistics" tabIndex={0}>
        <div class="charts">
          <Card title="Calls and errors">
            <Chart
              label="Calls and errors"
              times={times}
              series={[
                line("Calls", "accent", (period) => period.calls),
                line("Errors", "bad", (period) => period.errors),
              ]}
            />
          </Card>
          <Card title="Duration in ms">
            <Chart
              label="Duration in ms"
              times={times}
              series={[
                line("p50", "good", (period) => period.p50Ms),
                line("p95", "warn", (period) => period.p95Ms),
                line("p99", "bad", (period) => period.p99Ms),
              ]}
            />
          </Card>
          <Card title="KiB in results">
            <Chart
              label="KiB in results"
              times={times}
              series={[line("KiB", "accent", (period) => period.bytesOut / 1_024)]}
            />
          </Card>
        </div>
        <Figures data={data} server={server} tool={tool} span={span} />
      </section>
    </>
  );
}

function Card(props: { readonly title: string; readonly children: preact.ComponentChildren }) {
  return (
    <section class="card">
      <header>
        <h2>{props.title}</h2>
      </header>
      <div class="body">{props.children}</div>
    </section>
  );
}

function Figures(props: {
  readonly data: StatisticsData;
  readonly server: string;
  readonly tool: string;
  readonly span: string;
}) {
  const { server, tool } = props;
  const rows = props.data.tools.filter(
    (row) => (server === "" || row.toolkit === server) && (tool === "" || row.tool === tool),
  );
  return (
    <section class="card">
      <header>
        <h2>Every tool, {props.span}</h2>
      </header>
      <div class="scroll-x">
        <table class="figures">
          <thead>
            <tr>
              {["Tool", "Calls", "Errors", "p50", "p95", "p99", "In", "Out"].map((title) => (
                <th key={title}>{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, rowsMax).map((row) => (
              <tr key={row.tool}>
                <th scope="row" class="mono">
                  {row.tool}
                </th>
                <td>{row.calls.toLocaleString("en")}</td>
                <td class={row.errorRate > 0.05 ? "bad" : ""}>
                  {(100 * row.errorRate).toFixed(1)} %
                </td>
                <td>{formatMs(row.p50Ms)}</td>
                <td>{formatMs(row.p95Ms)}</td>
                <td>{formatMs(row.p99Ms)}</td>
                <td>{formatBytes(row.bytesIn)}</td>
                <td>{formatBytes(row.bytesOut)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > rowsMax && (
        <p class="body faint small">and {rows.length - rowsMax} more; choose a server</p>
      )}
    </section>
  );
}

const rowsMax = 200;

type Period = Series["periods"][number];

const none: Omit<Period, "start"> = {
  calls: 0,
  errors: 0,
  cancelled: 0,
  timeouts: 0,
  errorRate: 0,
  p50Ms: 0,
  p95Ms: 0,
  p99Ms: 0,
  bytesIn: 0,
  bytesOut: 0,
};

/** The store leaves out periods without calls. */
function fillIn({ by, periods }: Series, since: number, now: number): readonly Period[] {
  const stepMs = by === "hour" ? dayMs / 24 : dayMs;
  const first = since - (since % stepMs);
  const known = new Map(periods.map((period) => [period.start, period]));
  return Array.from({ length: Math.floor((now - first) / stepMs) + 1 }, (_, at) => {
    const start = first + at * stepMs;
    return known.get(start) ?? { start, ...none };
  });
}
