import { durationBoundsMs, type Meter, type Metered } from "../../gateway/record.ts";
import type { Store } from "../../store/store.ts";

export interface MetricsOptions {
  readonly version: string;
  readonly meter: Pick<Meter, "all">;
  readonly store: Pick<Store, "state">;
  clients(): number;
}

/** Counters since the hall started, in the Prometheus text format. */
export function writeMetrics({ version, meter, store, clients }: MetricsOptions): string {
  // First, because it counts the calls that have just ended.
  const { problem, waiting, lost } = store.state();
  const metered = [...meter.all()];
  return [
    ...family("guildhall_info", "gauge", "The hall's version.", [[{ version }, 1]]),
    ...family("guildhall_clients", "gauge", "Connected clients.", [[{}, clients()]]),
    ...family("guildhall_calls_total", "counter", "Calls by outcome.", metered.flatMap(outcomes)),
    ...family(
      "guildhall_call_request_bytes_total",
      "counter",
      "Bytes of arguments.",
      metered.map((one) => [labels(one), one.bytesIn]),
    ),
    ...family(
      "guildhall_call_result_bytes_total",
      "counter",
      "Bytes of results.",
      metered.map((one) => [labels(one), one.bytesOut]),
    ),
    "# HELP guildhall_call_duration_seconds Duration of calls.",
    "# TYPE guildhall_call_duration_seconds histogram",
    ...metered.flatMap(durations),
    ...family("guildhall_store_waiting_rows", "gauge", "Rows waiting to be written.", [
      [{}, waiting],
    ]),
    ...family(
      "guildhall_store_lost_rows",
      "gauge",
      "Rows dropped because the store could not be written.",
      [[{}, lost]],
    ),
    ...family("guildhall_store_up", "gauge", "1 if the store can be written.", [
      [{}, problem === undefined ? 1 : 0],
    ]),
    "",
  ].join("\n");
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [Labels, number];

const labels = ({ toolkit, tool }: Metered): Labels => ({ toolkit, tool });

function outcomes(metered: Metered): readonly Sample[] {
  return [...metered.outcomes].map(([outcome, count]) => [
    { ...labels(metered), outcome: outcome.toLowerCase() },
    count,
  ]);
}

function durations(metered: Metered): readonly string[] {
  const name = "guildhall_call_duration_seconds";
  let calls = 0;
  const buckets = metered.durations.map((count, at) => {
    calls += count;
    const boundMs = durationBoundsMs[at];
    const le = boundMs === undefined ? "+Inf" : String(boundMs / 1_000);
    return line(`${name}_bucket`, { ...labels(metered), le }, calls);
  });
  return [
    ...buckets,
    line(`${name}_sum`, labels(metered), metered.ms / 1_000),
    line(`${name}_count`, labels(metered), calls),
  ];
}

function family(
  name: string,
  type: "gauge" | "counter",
  help: string,
  samples: readonly Sample[],
): readonly string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(([marks, value]) => line(name, marks, value)),
  ];
}

function line(name: string, marks: Labels, value: number): string {
  const text = Object.entries(marks).map(([key, mark]) => `${key}="${escapeMark(mark)}"`);
  return `${name}${text.length === 0 ? "" : `{${text.join(",")}}`} ${value}`;
}

function escapeMark(text: string): string {
  return text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n");
}
