import { useMemo, useState } from "preact/hooks";
import type { CallLine } from "../../src/hall/page/contract.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Search } from "../parts/search.tsx";
import { Ago, Badge, Empty, formatBytes, formatMs, Loading, Page } from "../parts/shown.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { go } from "../router.ts";
import { useCalls } from "../store.ts";
import { CallDetail } from "./call-detail.tsx";
import { Runs } from "./runs.tsx";
import type { ScreenProps } from "./screens.ts";
import { Choice } from "./tools.tsx";

const columns: readonly TableColumn<CallLine>[] = [
  {
    title: "Tool",
    width: "minmax(160px, 1.6fr)",
    show: ({ tool, outcome, parent }) => (
      <span class="row">
        <span class={`dot ${outcome === "ok" ? "good" : "bad"}`} />
        <span class="mono ellipsis">{parent === null ? tool : `↳ ${tool}`}</span>
      </span>
    ),
  },
  { title: "Time", width: "72px", isRight: true, show: ({ ms }) => formatMs(ms) },
  { title: "Client", width: "minmax(90px, 1fr)", isWide: true, show: ({ caller }) => caller },
  {
    title: "Outcome",
    width: "110px",
    isWide: true,
    show: ({ outcome, code }) =>
      outcome === "ok" ? (
        <span class="faint">ok</span>
      ) : (
        <Badge tone="bad">{(code ?? outcome).toLowerCase()}</Badge>
      ),
  },
  {
    title: "Size",
    width: "80px",
    isRight: true,
    isWide: true,
    show: ({ bytesOut }) => formatBytes(bytesOut),
  },
  { title: "When", width: "84px", isRight: true, show: ({ at }) => <Ago at={at} /> },
];

const spans: Readonly<Record<string, number>> = {
  "last 5 minutes": 300_000,
  "last hour": 3_600_000,
  "last day": 86_400_000,
};

const tabs = { calls: "Calls", runs: "Runs" };

/** All calls as they end, and the runs of agents and programs. */
export function Calls(props: ScreenProps) {
  const [first = "", second = ""] = props.route;
  return first === "runs" ? (
    <Page title="Calls" subtitle="runs" openMenu={props.openMenu}>
      <Views current="runs" />
      <Runs selected={second} />
    </Page>
  ) : (
    <CallList {...props} />
  );
}

function Views({ current }: { readonly current: string }) {
  return (
    <Tabs
      label="Records of calls"
      tabs={tabs}
      current={current}
      choose={(name) => (name === "runs" ? go("calls", "runs") : go("calls"))}
    />
  );
}

function CallList({ route, openMenu }: ScreenProps) {
  const { data: calls, error } = useCalls({ older: true });
  const [selected = "", at = ""] = route;
  // `calls//NAME` shows the calls of one tool.
  const [search, setSearch] = useState(selected === "" ? at : "");
  const [server, setServer] = useState("");
  const [client, setClient] = useState("");
  const [outcome, setOutcome] = useState("");
  const [span, setSpan] = useState("");

  const shown = useMemo(() => {
    const wanted = search.toLowerCase();
    const since = Date.now() - (spans[span] ?? Number.POSITIVE_INFINITY);
    return (calls ?? []).filter(
      (call) =>
        call.tool.toLowerCase().includes(wanted) &&
        (server === "" || call.toolkit === server) &&
        (client === "" || call.caller === client) &&
        (outcome === "" || (outcome === "ok") === (call.outcome === "ok")) &&
        call.at >= since,
    );
  }, [calls, search, server, client, outcome, span]);
  const servers = useMemo(
    () => [...new Set((calls ?? []).flatMap(({ toolkit }) => toolkit ?? []))].sort(),
    [calls],
  );
  const clients = useMemo(
    () => [...new Set((calls ?? []).map(({ caller }) => caller))].sort(),
    [calls],
  );

  return (
    <Page
      title="Calls"
      subtitle="live"
      openMenu={openMenu}
      actions={
        <button type="button" disabled={shown.length === 0} onClick={() => save(shown)}>
          <Icon name="audit" />
          Export JSONL
        </button>
      }
    >
      <Views current="calls" />
      <div class="toolbar">
        <Search value={search} label="Find by tool" change={setSearch} />
        <Choice label="Server" value={server} options={servers} change={setServer} />
        <Choice label="Client" value={client} options={clients} change={setClient} />
        <Choice label="Outcome" value={outcome} options={["ok", "failed"]} change={setOutcome} />
        <Choice label="Time" value={span} options={Object.keys(spans)} change={setSpan} />
        <span class="count" role="status">
          {shown.length.toLocaleString("en")} calls
        </span>
      </div>
      <div class={selected === "" ? "content" : "split content"}>
        <div class="content">
          {error && <Problem error={error} />}
          {!calls && !error && <Loading />}
          {calls && shown.length === 0 && (
            <Empty icon="calls" title="No calls here">
              <p>
                {calls.length === 0
                  ? "Connect a client, or call a tool on the Tools screen."
                  : "No call fits these filters."}
              </p>
            </Empty>
          )}
          {shown.length > 0 && (
            <Table
              label="Calls"
              columns={selected === "" ? columns : columns.slice(0, 2)}
              rows={shown}
              keyOf={({ id }) => id}
              selected={selected}
              open={({ root, at: time }) => go("calls", root, String(time))}
            />
          )}
        </div>
        {selected !== "" && <CallDetail key={selected} root={selected} at={Number(at)} />}
      </div>
    </Page>
  );
}

function save(calls: readonly CallLine[]): void {
  const text = calls.map((call) => `${JSON.stringify(call)}\n`).join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  link.download = "calls.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
}
