import type { WholeCall } from "../../src/hall/page/traffic.ts";
import { Icon } from "../parts/icon.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { Problem } from "../parts/problem.tsx";
import { Badge, Empty, formatBytes, formatMs, formatTime, Loading } from "../parts/shown.tsx";
import { go, hrefOf } from "../router.ts";
import { useData } from "../store.ts";

/** A client's call with the calls inside it, as a waterfall. */
export function CallDetail({ root, at }: { readonly root: string; readonly at: number }) {
  const { data, error } = useData("callTree", { root, at });
  const calls = data?.calls ?? [];
  const first = calls.find(({ id }) => id === root) ?? calls[0];
  return (
    <section class="detail" aria-label="Call">
      <header>
        <div class="row spread">
          <h2 class="mono">{first?.tool ?? "Call"}</h2>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Close"
            onClick={() => go("calls")}
          >
            <Icon name="close" />
          </button>
        </div>
      </header>
      {error && <Problem error={error} />}
      {!data && !error && <Loading />}
      {data && !first && <Empty icon="calls" title="This call is not recorded any more" />}
      {first && (
        <div class="body">
          <Facts call={first} />
          {calls.length > 1 && <Waterfall calls={calls} />}
          <Kept call={first} />
        </div>
      )}
    </section>
  );
}

function Facts({ call }: { readonly call: WholeCall }) {
  return (
    <dl class="facts">
      <dt>Outcome</dt>
      <dd>
        <Badge tone={call.outcome === "ok" ? "good" : "bad"}>
          {(call.code ?? call.outcome).toLowerCase()}
        </Badge>
      </dd>
      <dt>Started</dt>
      <dd class="number">{formatTime(call.at)}</dd>
      <dt>Took</dt>
      <dd class="number">{formatMs(call.ms)}</dd>
      <dt>Client</dt>
      <dd>{call.caller}</dd>
      <dt>Size</dt>
      <dd class="number">
        {formatBytes(call.bytesIn)} in, {formatBytes(call.bytesOut)} out
      </dd>
      <dt>Tool</dt>
      <dd>
        <a href={hrefOf("tools", call.tool)}>{call.tool}</a>
      </dd>
    </dl>
  );
}

function Waterfall({ calls }: { readonly calls: readonly WholeCall[] }) {
  const start = Math.min(...calls.map(({ at }) => at));
  const end = Math.max(...calls.map(({ at, ms }) => at + ms));
  const total = Math.max(1, end - start);
  const sorted = [...calls].sort((a, b) => a.at - b.at || b.ms - a.ms);
  const depths = new Map<string, number>();
  for (const { id, parent } of sorted) depths.set(id, (depths.get(parent ?? "") ?? -1) + 1);
  return (
    <section class="stack tight" aria-label="Waterfall">
      <h3>{calls.length} calls</h3>
      <ul class="waterfall">
        {sorted.map((call) => (
          <li key={call.id}>
            <span
              class="ellipsis mono"
              style={{ paddingLeft: `${(depths.get(call.id) ?? 0) * 12}px` }}
            >
              {call.tool}
            </span>
            <span class="lane">
              <span
                class={`bar ${call.outcome === "ok" ? "" : "bad"}`}
                style={{
                  left: `${((call.at - start) / total) * 100}%`,
                  width: `${Math.max(0.5, (call.ms / total) * 100)}%`,
                }}
              />
            </span>
            <span class="faint small number">{formatMs(call.ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Arguments and result, where the config keeps them. */
function Kept({ call }: { readonly call: WholeCall }) {
  if (call.arguments === null)
    return (
      <p class="faint small">
        Arguments and results are not recorded. Set{" "}
        <code>
          "store": {"{"} "record": "full" {"}"}
        </code>{" "}
        to keep them.
      </p>
    );
  return (
    <>
      <h3>Arguments</h3>
      <JsonTree value={parse(call.arguments)} />
      {call.result !== null && (
        <>
          <h3>Result</h3>
          <JsonTree value={parse(call.result)} />
        </>
      )}
    </>
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
