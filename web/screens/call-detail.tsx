import type { CallApproval, CallTree, WholeCall } from "../../src/hall/page/traffic.ts";
import { Icon } from "../parts/icon.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { Problem } from "../parts/problem.tsx";
import {
  Badge,
  Empty,
  formatBytes,
  formatMs,
  formatTime,
  Loading,
  plural,
} from "../parts/shown.tsx";
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
          {data && <Waterfall tree={data} />}
          {data?.denials.map(({ server, at, reason }) => (
            <p key={`${at} ${reason}`} class="small break">
              <Badge tone="warn">{server}</Badge> {reason}
            </p>
          ))}
          <RunLink call={first} />
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
      {call.person !== null && (
        <>
          <dt>Person</dt>
          <dd>{call.person}</dd>
        </>
      )}
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

/** Each call over time: waiting for a person is hatched, retries are marks. */
function Waterfall({ tree }: { readonly tree: CallTree }) {
  const { calls, approvals, retries } = tree;
  if (calls.length + approvals.length + retries.length < 2) return null;
  const start = Math.min(...calls.map(({ at }) => at));
  const end = Math.max(...calls.map(({ at, ms }) => at + ms));
  const total = Math.max(1, end - start);
  const sorted = [...calls].sort((a, b) => a.at - b.at || b.ms - a.ms);
  const depths = new Map<string, number>();
  for (const { id, parent } of sorted) depths.set(id, (depths.get(parent ?? "") ?? -1) + 1);
  const left = (at: number): string => `${Math.max(0, Math.min(1, (at - start) / total)) * 100}%`;
  const width = (ms: number): string => `${Math.max(0.5, Math.min(1, ms / total) * 100)}%`;
  return (
    <section class="stack tight" aria-label="Waterfall">
      <div class="row spread">
        <h3>{plural(calls.length, "call")}</h3>
        <span class="faint small number">{formatMs(total)}</span>
      </div>
      <ul class="waterfall">
        {sorted.map((call) => {
          const decisions = approvals.filter((approval) => approval.call === call.id);
          const again = retries.filter((retry) => retry.call === call.id);
          return (
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
                  style={{ left: left(call.at), width: width(call.ms) }}
                />
                {decisions.map(({ at }) => (
                  <span
                    key={at}
                    class="bar waiting"
                    style={{ left: left(call.at), width: width(at - call.at) }}
                  />
                ))}
                {again.map(({ at, delayMs }) => (
                  <span
                    key={at}
                    class="bar retry"
                    style={{ left: left(at), width: width(delayMs) }}
                  />
                ))}
              </span>
              <span class="faint small number">{formatMs(call.ms)}</span>
              {decisions.map((decision) => (
                <Decision key={decision.at} call={call} decision={decision} />
              ))}
              {again.map(({ at, delayMs, reason }) => (
                <span key={at} class="note small">
                  <Badge tone="warn">retry</Badge> after {formatMs(delayMs)}: {reason}
                </span>
              ))}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Decision(props: { readonly call: WholeCall; readonly decision: CallApproval }) {
  const { kind, reason, by, at } = props.decision;
  return (
    <span class="note small">
      <Badge tone={kind === "approved" ? "good" : "bad"}>{kind}</Badge> after{" "}
      {formatMs(at - props.call.at)}
      {kind === "blocked"
        ? `: ${reason}`
        : ` by ${by ?? `the client's user or at a terminal (${reason})`}`}
    </span>
  );
}

/** The code of a planner may be loaded first, which is not part of the call's time. */
const loadMsMax = 10_000;

/** The run that this call made, if it is recorded. */
function RunLink({ call }: { readonly call: WholeCall }) {
  const runs = useData("runs", {}).data?.runs ?? [];
  // The run begins inside its call; of several at once, the first.
  const [run] = runs
    .filter(({ agent, caller }) => agent === call.tool && caller === call.caller)
    .filter(({ at }) => at >= call.at && at <= call.at + call.ms + loadMsMax)
    .sort((a, b) => a.at - b.at);
  return run ? (
    <p>
      <a class="button" href={hrefOf("calls", "runs", run.id)}>
        <Icon name="play" />
        Its steps and replay
      </a>
    </p>
  ) : null;
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
