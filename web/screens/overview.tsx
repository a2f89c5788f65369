import type { PageServer } from "../../src/hall/page/servers.ts";
import type { Minute } from "../../src/hall/page/traffic.ts";
import { Chart } from "../parts/chart.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { ServerDot, ServerState } from "../parts/server-state.tsx";
import { Ago, Empty, formatMs, Page, plural } from "../parts/shown.tsx";
import { isBad, pickServers } from "../pick-servers.ts";
import { hrefOf } from "../router.ts";
import { useCalls, useData } from "../store.ts";
import type { ScreenProps } from "./screens.ts";

/** Where a person sees at a glance whether the hall is well. */
export function Overview({ openMenu }: ScreenProps) {
  const { data: status, error } = useData("status", {});
  const { data: traffic } = useData("traffic", {});
  const servers = useData("servers", {}).data?.servers ?? [];
  const pending = useData("approvals", {}).data?.pending ?? [];
  const minutes = traffic?.minutes ?? [];
  const address = status?.url === undefined ? "" : ` at ${status.url}`;
  return (
    <Page
      title="Overview"
      subtitle={status && `${plural(status.clients, "client")} connected${address}`}
      openMenu={openMenu}
    >
      <div class="content padded stack loose">
        {error && <Problem error={error} />}
        <Tiles servers={servers} minutes={minutes} waiting={pending.length} />
        <div class="columns">
          <section class="card">
            <header>
              <h2>Calls per minute</h2>
              <span class="faint small">last hour</span>
            </header>
            <div class="body">
              <Chart
                label="Calls per minute in the last hour"
                times={minutes.map(({ at }) => at)}
                series={[
                  { label: "Calls", values: minutes.map(({ calls }) => calls), tone: "accent" },
                  { label: "Errors", values: minutes.map(({ errors }) => errors), tone: "bad" },
                ]}
              />
            </div>
          </section>
          <section class="card">
            <header>
              <h2>Time of a call</h2>
              <span class="faint small">95 % are faster</span>
            </header>
            <div class="body">
              <Chart
                label="95th percentile of the time of a call in the last hour"
                times={minutes.map(({ at }) => at)}
                series={[
                  { label: "p95 in ms", values: minutes.map(({ p95Ms }) => p95Ms), tone: "accent" },
                ]}
              />
            </div>
          </section>
        </div>
        <div class="columns">
          <ServerCard servers={servers} />
          <CallCard />
        </div>
      </div>
    </Page>
  );
}

const recentMinutes = 5;

function Tiles(props: {
  readonly servers: readonly PageServer[];
  readonly minutes: readonly Minute[];
  readonly waiting: number;
}) {
  const { servers, minutes, waiting } = props;
  const enabled = servers.filter(({ state }) => state !== "disabled");
  const bad = servers.filter(isBad);
  const recent = minutes.slice(-recentMinutes);
  const sum = (of: (minute: Minute) => number): number =>
    recent.reduce((total, minute) => total + of(minute), 0);
  const calls = sum((minute) => minute.calls);
  const rate = calls === 0 ? 0 : sum((minute) => minute.errors) / calls;
  const p95 = Math.max(0, ...recent.map(({ p95Ms }) => p95Ms));
  return (
    <div class="tiles">
      <Tile
        label="Servers up"
        value={`${enabled.length - bad.length} of ${enabled.length}`}
        note={bad.length === 0 ? "no problems" : bad.map(({ name }) => name).join(", ")}
        tone={bad.length > 0 ? "bad" : ""}
        to="servers"
      />
      <Tile
        label="Calls per minute"
        value={(calls / recentMinutes).toFixed(calls >= 50 ? 0 : 1)}
        note="last 5 minutes"
        tone=""
        to="calls"
      />
      <Tile
        label="Errors"
        value={`${(rate * 100).toFixed(1)} %`}
        note="last 5 minutes"
        tone={rate > 0.05 ? "bad" : ""}
        to="calls"
      />
      <Tile
        label="Time of a call, p95"
        value={calls === 0 ? "–" : formatMs(p95)}
        note="last 5 minutes"
        tone=""
        to="calls"
      />
      <Tile
        label="Waiting approvals"
        value={String(waiting)}
        note={waiting === 0 ? "nothing to decide" : "a person must decide"}
        tone={waiting > 0 ? "warn" : ""}
        to="approvals"
      />
      <Saved />
    </div>
  );
}

/** The tokens that the chosen faces keep out of a client's context. */
function Saved() {
  const { shown, faces = [] } = useData("exposure", {}).data ?? {};
  const all = faces.find(({ name }) => name === "tools");
  if (!shown || !all) return null;
  const saved = Math.max(0, all.tokens - shown.tokens);
  return (
    <Tile
      label="Tokens saved"
      value={saved.toLocaleString("en")}
      note={`clients list ${plural(shown.tools, "tool")}`}
      tone=""
      to="settings"
    />
  );
}

function Tile(props: {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly tone: "" | "bad" | "warn";
  readonly to: string;
}) {
  return (
    <a class="card tile" href={hrefOf(props.to)}>
      <span class="faint small">{props.label}</span>
      <span class={`value ${props.tone}`}>{props.value}</span>
      <span class="faint small ellipsis">{props.note}</span>
    </a>
  );
}

const serversMax = 8;

function ServerCard({ servers }: { readonly servers: readonly PageServer[] }) {
  const more = servers.length - serversMax;
  return (
    <section class="card">
      <header>
        <h2>Servers</h2>
      </header>
      {servers.length === 0 ? (
        <Empty icon="servers" title="No servers yet">
          <a class="button" href={hrefOf("servers", "", "add")}>
            <Icon name="plus" />
            Add a server
          </a>
        </Empty>
      ) : (
        <div class="list-lines">
          {pickServers(servers, serversMax).map((server) => (
            <a key={server.name} href={hrefOf("servers", server.name)}>
              <ServerDot server={server} />
              <strong class="ellipsis">{server.name}</strong>
              <span class="faint small number">
                {plural(server.tools, "tool")}, {plural(server.calls, "call")}
              </span>
              <span class="end">
                <ServerState server={server} />
              </span>
            </a>
          ))}
          {more > 0 && <a href={hrefOf("servers")}>{more} more</a>}
        </div>
      )}
    </section>
  );
}

function CallCard() {
  const calls = useCalls().data ?? [];
  return (
    <section class="card">
      <header>
        <h2>Latest calls</h2>
      </header>
      {calls.length === 0 ? (
        <Empty icon="calls" title="No calls yet">
          <p>Calls of your clients appear here as they end.</p>
        </Empty>
      ) : (
        <div class="list-lines">
          {calls.slice(0, 8).map(({ id, root, at, tool, outcome, ms }) => (
            <a key={id} href={hrefOf("calls", root, String(at))}>
              <span class={`dot ${outcome === "ok" ? "good" : "bad"}`} title={outcome} />
              <span class="ellipsis mono">{tool}</span>
              <span class="faint small number">{formatMs(ms)}</span>
              <span class="faint small end">
                <Ago at={at} />
              </span>
            </a>
          ))}
        </div>
      )}
    </section>
  );
}
