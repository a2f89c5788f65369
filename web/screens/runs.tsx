import { useState } from "preact/hooks";
import type { KeptRun, RunOutline } from "../../src/agents/runs.ts";
import type { ReplayedRun } from "../../src/hall/runs.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Code } from "../parts/code.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Ago, Badge, Empty, formatMs, formatTime, Loading, type Tone } from "../parts/shown.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { go } from "../router.ts";
import { useData } from "../store.ts";

const toneOf = ({ stopped }: RunOutline): Tone => (stopped === "done" ? "good" : "warn");

const columns: readonly TableColumn<RunOutline>[] = [
  {
    title: "Agent",
    width: "minmax(130px, 1fr)",
    show: ({ agent }) => <strong class="mono ellipsis">{agent}</strong>,
  },
  {
    title: "Ended",
    width: "96px",
    show: (run) => <Badge tone={toneOf(run)}>{run.stopped}</Badge>,
  },
  {
    title: "Task",
    width: "minmax(160px, 2fr)",
    isWide: true,
    show: ({ task }) => <span class="faint">{task}</span>,
  },
  { title: "Client", width: "minmax(90px, 140px)", isWide: true, show: ({ caller }) => caller },
  { title: "Time", width: "72px", isRight: true, show: ({ ms }) => formatMs(ms) },
  { title: "When", width: "84px", isRight: true, show: ({ at }) => <Ago at={at} /> },
];

/** The recorded runs of agents and programs, which can be repeated with their recorded answers. */
export function Runs({ selected }: { readonly selected: string }) {
  const { data, error } = useData("runs", {});
  const runs = data?.runs ?? [];
  const chosen = runs.find(({ id }) => id === selected);
  if (error) return <Problem error={error} />;
  return (
    <div class={chosen ? "split content" : "content"}>
      <div class="content">
        {!data && <Loading />}
        {data && runs.length === 0 && (
          <Empty icon="agents" title="No runs yet">
            <p>Tasks of agents and programs are recorded here, step by step.</p>
          </Empty>
        )}
        {runs.length > 0 && (
          <Table
            label="Runs"
            columns={chosen ? columns.slice(0, 2) : columns}
            rows={runs}
            keyOf={({ id }) => id}
            selected={selected}
            open={({ id }) => go("calls", "runs", id)}
          />
        )}
      </div>
      {chosen && <RunDetail key={chosen.id} outline={chosen} />}
    </div>
  );
}

function RunDetail({ outline }: { readonly outline: RunOutline }) {
  const { data, error } = useData("run", { id: outline.id });
  return (
    <section class="detail" aria-label="Run">
      <header>
        <div class="row spread">
          <h2 class="mono">{outline.agent}</h2>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Close"
            onClick={() => go("calls", "runs")}
          >
            <Icon name="close" />
          </button>
        </div>
        <p class="soft clamp" tabIndex={0}>
          {outline.task}
        </p>
      </header>
      <div class="body">
        <dl class="facts">
          <dt>Ended</dt>
          <dd>
            <Badge tone={toneOf(outline)}>{outline.stopped}</Badge>
          </dd>
          <dt>Started</dt>
          <dd class="number">{formatTime(outline.at)}</dd>
          <dt>Took</dt>
          <dd class="number">{formatMs(outline.ms)}</dd>
          <dt>Planner</dt>
          <dd>{outline.planner}</dd>
          <dt>Client</dt>
          <dd>{outline.caller}</dd>
          {outline.usage.turns > 0 && (
            <>
              <dt>Model</dt>
              <dd class="number">
                {outline.usage.turns} turns, {outline.usage.inputTokens.toLocaleString("en")} tokens
                in, {outline.usage.outputTokens.toLocaleString("en")} out
              </dd>
            </>
          )}
        </dl>
        {error && <Problem error={error} />}
        {data && (
          <>
            <Replay id={outline.id} />
            <Recorded record={data} />
          </>
        )}
      </div>
    </section>
  );
}

/** Repeats the run: everything but the answers of tools and models happens again. */
function Replay({ id }: { readonly id: string }) {
  const [replayed, setReplayed] = useState<ReplayedRun>();
  const action = useAction();
  const run = (): void =>
    action.run(async () => {
      setReplayed(undefined);
      setReplayed(await ask("replayRun", { id }));
    });
  const isSame = replayed?.differences.length === 0;
  return (
    <section class="stack" aria-label="Replay">
      <div class="row wrap">
        <button type="button" class="primary" disabled={action.isBusy} onClick={run}>
          <Icon name="play" />
          {action.isBusy ? "Replaying …" : "Replay"}
        </button>
        {replayed ? (
          <Badge tone={isSame ? "good" : "bad"}>
            {isSame ? "the same, step by step" : "differs from the record"}
          </Badge>
        ) : (
          <span class="faint small">with the recorded answers; no tool is called</span>
        )}
      </div>
      {action.error && <Problem error={action.error} />}
      {replayed?.differences.map((difference) => (
        <p key={difference} class="bad small">
          {difference}
        </p>
      ))}
    </section>
  );
}

function Recorded({ record }: { readonly record: KeptRun }) {
  if ("evaluation" in record) {
    const { entry, calls, evaluation } = record.evaluation;
    const { stdout, values, condition } = evaluation;
    const ended = condition
      ? [`${condition.type}: ${condition.message}`]
      : values.map((value) => `=> ${value}`);
    return (
      <>
        <h3>Program</h3>
        <Code label="Program" text={entry?.order.code ?? "(too long to be stored)"} />
        {calls.length > 0 && (
          <Steps steps={calls.map(({ name, ms, status }) => ({ text: `${name} ${status}`, ms }))} />
        )}
        <h3>Result</h3>
        <Code
          label="Result"
          text={[stdout, ...ended].filter(Boolean).join("\n")}
          {...(condition ? { tone: "removed" } : {})}
        />
      </>
    );
  }
  const { trace, answer, problem } = record;
  return (
    <>
      <Steps steps={trace.map(({ ms, phase, text }) => ({ text: `${phase}: ${text}`, ms }))} />
      <h3>Answer</h3>
      {problem !== undefined && <p class="bad">{problem}</p>}
      <p class="lines">{answer}</p>
    </>
  );
}

function Steps(props: {
  readonly steps: readonly { readonly text: string; readonly ms: number }[];
}) {
  return (
    <>
      <h3>Steps</h3>
      <ol class="steps">
        {props.steps.map(({ text, ms }, at) => (
          <li key={`${at} ${text}`}>
            <span class="lines">{text}</span>
            <span class="faint small number">{formatMs(ms)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}
