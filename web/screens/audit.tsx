import { useMemo, useState } from "preact/hooks";
import type { AuditRow } from "../../src/store/store.ts";
import { Icon } from "../parts/icon.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { Problem } from "../parts/problem.tsx";
import { Search } from "../parts/search.tsx";
import { Ago, Badge, Empty, formatTime, Loading, Page } from "../parts/shown.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { go } from "../router.ts";
import { useData } from "../store.ts";
import type { ScreenProps } from "./screens.ts";
import { Statistics } from "./statistics.tsx";

/** Statistics, the audit with the state of its chain, and what people have granted. */
export function Audit({ route, openMenu }: ScreenProps) {
  const [tab = "statistics", selected = ""] = route;
  const current = tab === "" ? "statistics" : tab;
  return (
    <Page title="Audit and statistics" actions={<ChainState />} openMenu={openMenu}>
      <Tabs
        label="Records"
        tabs={{ statistics: "Statistics", audit: "Audit", trust: "Trust" }}
        current={current}
        choose={(name) => go("audit", name)}
      />
      {current === "statistics" && <Statistics />}
      {current === "audit" && <Rows selected={Number(selected)} />}
      {current === "trust" && <Trust />}
    </Page>
  );
}

function ChainState() {
  const { data } = useData("verifyAudit", {});
  if (!data) return null;
  return data.broken ? (
    <Badge tone="bad">
      <Icon name="warning" />
      broken at row {data.broken.seq}: {data.broken.reason}
    </Badge>
  ) : (
    <Badge tone="good">
      <Icon name="check" />
      chain of {data.rows.toLocaleString("en")} rows is whole
    </Badge>
  );
}

const columns: readonly TableColumn<AuditRow>[] = [
  { title: "When", width: "100px", show: ({ at }) => <Ago at={at} /> },
  { title: "What", width: "110px", show: ({ kind }) => <Badge>{kind}</Badge> },
  {
    title: "Subject",
    width: "minmax(140px, 1fr)",
    show: ({ subject }) => <span class="mono">{subject}</span>,
  },
  { title: "Who", width: "120px", isWide: true, show: ({ caller }) => caller },
  {
    title: "Why",
    width: "minmax(160px, 2fr)",
    isWide: true,
    show: ({ reason }) => <span class="faint">{reason}</span>,
  },
];

function Rows({ selected }: { readonly selected: number }) {
  const { data, error } = useData("audit", {});
  const [text, setText] = useState("");
  const rows = data?.rows ?? [];
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    return rows.filter((row) =>
      `${row.kind} ${row.subject} ${row.caller} ${row.reason}`.toLowerCase().includes(wanted),
    );
  }, [rows, text]);
  const row = rows.find(({ seq }) => seq === selected);
  if (error) return <Problem error={error} />;
  if (!data) return <Loading />;
  return (
    <>
      <div class="toolbar">
        <Search value={text} label="Filter the audit" change={setText} />
        <span class="count">{shown.length.toLocaleString("en")} rows</span>
      </div>
      <div class={row ? "split content" : "content"}>
        <div class="content">
          {shown.length === 0 ? (
            <Empty icon="audit" title="Nothing recorded">
              <p>
                Reviews, approvals, refusals and changes are recorded here, each bound to the last.
              </p>
            </Empty>
          ) : (
            <Table
              label="Audit"
              columns={row ? columns.slice(0, 3) : columns}
              rows={shown}
              keyOf={({ seq }) => String(seq)}
              selected={String(selected)}
              open={({ seq }) => go("audit", "audit", String(seq))}
            />
          )}
        </div>
        {row && <RowDetail row={row} />}
      </div>
    </>
  );
}

function RowDetail({ row }: { readonly row: AuditRow }) {
  return (
    <section class="detail" aria-label={`Row ${row.seq}`}>
      <header>
        <div class="row spread">
          <h2>Row {row.seq}</h2>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Close"
            onClick={() => go("audit", "audit")}
          >
            <Icon name="close" />
          </button>
        </div>
      </header>
      <div class="body">
        <dl class="facts">
          <dt>When</dt>
          <dd>{formatTime(row.at)}</dd>
          <dt>What</dt>
          <dd>{row.kind}</dd>
          <dt>Subject</dt>
          <dd class="mono">{row.subject}</dd>
          <dt>Who</dt>
          <dd>{row.caller}</dd>
          <dt>Why</dt>
          <dd>{row.reason}</dd>
          <dt>Hash</dt>
          <dd class="mono break">{row.hash}</dd>
        </dl>
        {row.details !== undefined && row.details !== null && <JsonTree value={row.details} />}
      </div>
    </section>
  );
}

function Trust() {
  const { data, error } = useData("grants", {});
  if (error) return <Problem error={error} />;
  if (!data) return <Loading />;
  return (
    <div class="content padded columns">
      <section class="card">
        <header>
          <h2>Trusted tools</h2>
        </header>
        {data.grants.length === 0 && (
          <p class="body soft">No tool is trusted: changing calls ask.</p>
        )}
        <div class="list-lines">
          {data.grants.map(({ tool, grantedAt, until, by }) => (
            <div key={tool}>
              <span class="stack tight">
                <span class="mono ellipsis">{tool}</span>
                <Decided verb="granted" at={grantedAt} by={by} />
              </span>
              <span class="faint small end">
                {until === undefined ? "until revoked" : `until ${formatTime(until)}`}
              </span>
            </div>
          ))}
        </div>
      </section>
      <section class="card">
        <header>
          <h2>Reviewed servers</h2>
        </header>
        {data.servers.length === 0 && <p class="body soft">No server has been reviewed.</p>}
        <div class="list-lines">
          {data.servers.map(({ server, reviewedAt, by }) => (
            <div key={server}>
              <span class="stack tight">
                <span class="mono ellipsis">{server}</span>
                <Decided verb="reviewed" at={reviewedAt} by={by} />
              </span>
            </div>
          ))}
        </div>
      </section>
    </div>
  );
}

function Decided(props: {
  readonly verb: string;
  readonly at: number;
  readonly by: string | undefined;
}) {
  return (
    <span class="faint small">
      {props.verb} <Ago at={props.at} />
      {props.by !== undefined && ` by ${props.by}`}
    </span>
  );
}
