import { useMemo, useState } from "preact/hooks";
import type { CallLine } from "../../src/hall/page/contract.ts";
import { Chart, type Series } from "../parts/chart.tsx";
import { Empty, formatBytes, formatMs, Loading } from "../parts/shown.tsx";
import { useCalls, useData } from "../store.ts";
import { Choice } from "./tools.tsx";

/** Charts over time of the newest calls, and the figures of every tool since recording began. */
export function Statistics() {
  const calls = useCalls();
  const [server, setServer] = useState("");
  const [tool, setTool] = useState("");
  const servers = useMemo(() => namesOf(calls, ({ toolkit }) => toolkit ?? ""), [calls]);
  const tools = useMemo(
    () => namesOf(calls, (call) => (server === "" || call.toolkit === server ? call.tool : "")),
    [calls, server],
  );
  const periods = useMemo(
    () =>
      periodsOf(
        (calls ?? []).filter(
          (call) =>
            (server === "" || call.toolkit === server) && (tool === "" || call.tool === tool),
        ),
      ),
    [calls, server, tool],
  );
  if (!calls) return <Loading />;
  if (calls.length === 0)
    return (
      <Empty icon="audit" title="No calls yet">
        <p>Calls of your clients are counted here.</p>
      </Empty>
    );
  const times = periods.map(({ at }) => at);
  const series = (label: string, tone: Series["tone"], of: (period: Period) => number): Series => ({
    label,
    tone,
    values: periods.map(of),
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
        <span class="count">the newest {calls.length.toLocaleString("en")} calls</span>
      </div>
      <div class="content padded stack loose">
        <div class="columns">
          <Card title="Calls and errors">
            <Chart
              label="Calls and errors"
              times={times}
              series={[
                series("Calls", "accent", (period) => period.calls),
                series("Errors", "bad", (period) => period.errors),
              ]}
            />
          </Card>
          <Card title="Duration in ms: p50, p95, p99">
            <Chart
              label="Duration in ms"
              times={times}
              series={[
                series("p50", "good", (period) => period.p50),
                series("p95", "warn", (period) => period.p95),
                series("p99", "bad", (period) => period.p99),
              ]}
            />
          </Card>
          <Card title="KiB in results">
            <Chart
              label="KiB in results"
              times={times}
              series={[series("KiB", "accent", (period) => period.bytes / 1_024)]}
            />
          </Card>
        </div>
        <Figures server={server} tool={tool} />
      </div>
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

function Figures({ server, tool }: { readonly server: string; readonly tool: string }) {
  const { data } = useData("statistics", {});
  const rows = (data?.tools ?? []).filter(
    (row) => (server === "" || row.toolkit === server) && (tool === "" || row.tool === tool),
  );
  return (
    <section class="card">
      <header>
        <h2>Every tool since recording began</h2>
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

function namesOf(
  calls: readonly CallLine[] | undefined,
  of: (call: CallLine) => string,
): readonly string[] {
  return [...new Set((calls ?? []).map(of))].filter((name) => name !== "").sort();
}

interface Period {
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly bytes: number;
}

const periodsMax = 60;
const minuteMs = 60_000;
const spanMsMin = 30 * minuteMs;

/** Periods of equal length, at least a minute each; at least half an hour, so that a line can be seen. */
function periodsOf(calls: readonly CallLine[]): readonly Period[] {
  const times = calls.map(({ at }) => at);
  const last = times.reduce((most, at) => Math.max(most, at), 0);
  const first = times.reduce((least, at) => Math.min(least, at), last - spanMsMin);
  const lengthMs = Math.max(minuteMs, Math.ceil((last - first + 1) / periodsMax));
  const periods = Math.min(periodsMax, Math.floor((last - first) / lengthMs) + 1);
  const parts = Array.from({ length: periods }, (): CallLine[] => []);
  for (const call of calls) parts[Math.floor((call.at - first) / lengthMs)]?.push(call);
  return parts.map((part, index) => {
    const durations = part.map(({ ms }) => ms).sort((a, b) => a - b);
    const percentile = (share: number): number =>
      durations[Math.min(durations.length - 1, Math.floor(share * durations.length))] ?? 0;
    return {
      at: first + index * lengthMs,
      calls: part.length,
      errors: part.filter(({ outcome }) => outcome !== "ok").length,
      p50: percentile(0.5),
      p95: percentile(0.95),
      p99: percentile(0.99),
      bytes: part.reduce((sum, { bytesOut }) => sum + bytesOut, 0),
    };
  });
}
