import { useState } from "preact/hooks";
import type { AgentLine } from "../../src/hall/page/agents.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Icon } from "../parts/icon.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Outcome } from "../parts/outcome.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Called, Running, useRunning } from "../parts/running.tsx";
import { formatMs, Loading } from "../parts/shown.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { go } from "../router.ts";
import { refresh, toast, useCalls, useData } from "../store.ts";

/** One group: ask its agent, see and move its tools, edit its file. */
export function AgentDetail(props: {
  readonly agent: AgentLine;
  readonly others: readonly string[];
  readonly move: (tool: string, to: string) => void;
}) {
  const { agent, others, move } = props;
  const [tab, setTab] = useState("ask");
  return (
    <section class="detail" aria-label={agent.name}>
      <header>
        <div class="row spread">
          <h2 class="mono">{agent.name}</h2>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Close"
            onClick={() => go("agents")}
          >
            <Icon name="close" />
          </button>
        </div>
        <p class="soft">{agent.description}</p>
      </header>
      <Tabs
        label={`Parts of ${agent.name}`}
        tabs={{ ask: "Ask", tools: "Tools", file: "File" }}
        current={tab}
        choose={setTab}
      />
      {tab === "ask" && <AskAgent name={agent.name} />}
      {tab === "tools" && <Tools agent={agent} others={others} move={move} />}
      {tab === "file" && <File name={agent.name} />}
    </section>
  );
}

function AskAgent({ name }: { readonly name: string }) {
  const [task, setTask] = useState("");
  const [startedAt, setStartedAt] = useState<number>();
  const [called, setCalled] = useState<Called>();
  const action = useAction();
  const running = useRunning();
  const run = (): void => {
    setStartedAt(Date.now());
    action.run(async () => {
      setCalled(undefined);
      setCalled(await running.call(name, { task }));
    });
  };
  return (
    <div class="body">
      <label class="field">
        Task
        <textarea
          rows={3}
          value={task}
          placeholder="What should it do?"
          onInput={(event) => setTask(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button
          type="button"
          class="primary"
          disabled={action.isBusy || task.trim() === ""}
          onClick={run}
        >
          <Icon name="play" />
          {action.isBusy ? "Working …" : "Ask the agent"}
        </button>
        {called && <span class="faint small">{formatMs(called.ms)}</span>}
      </div>
      {action.isBusy && <Running running={running} />}
      {action.error && <Problem error={action.error} />}
      {startedAt !== undefined && <Steps since={startedAt} />}
      {called && <Outcome outcome={called.outcome} />}
    </div>
  );
}

/** The calls that the agent makes, as they end. */
function Steps({ since }: { readonly since: number }) {
  const steps = (useCalls().data ?? [])
    .filter(({ at, parent, connection }) => at >= since && parent !== null && connection === "page")
    .reverse();
  if (steps.length === 0) return null;
  return (
    <div class="card" role="log" aria-label="Steps of the agent">
      <div class="list-lines">
        {steps.map(({ id, tool, outcome, ms }) => (
          <div key={id}>
            <span class={`dot ${outcome === "ok" ? "good" : "bad"}`} title={outcome} />
            <span class="mono ellipsis">{tool}</span>
            <span class="faint small end number">{formatMs(ms)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function Tools(props: {
  readonly agent: AgentLine;
  readonly others: readonly string[];
  readonly move: (tool: string, to: string) => void;
}) {
  const { agent, others, move } = props;
  return (
    <div class="list-lines">
      {agent.tools.map((tool) => (
        <div key={tool}>
          <button type="button" class="link mono ellipsis" onClick={() => go("tools", tool)}>
            {tool}
          </button>
          <select
            class="end tiny"
            aria-label={`Move ${tool} to another group`}
            value=""
            onChange={(event) => {
              const to = event.currentTarget.value;
              event.currentTarget.value = "";
              if (to !== "") move(tool, to);
            }}
          >
            <option value="">Move to …</option>
            {others.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
      ))}
    </div>
  );
}

function File({ name }: { readonly name: string }) {
  const { data, error } = useData("agentFile", { name });
  const [edited, setEdited] = useState<{ readonly text: string; readonly seen: string }>();
  const [isPreview, setPreview] = useState(false);
  const action = useAction();
  if (error) return <Problem error={error} />;
  if (!data) return <Loading />;
  const text = edited?.text ?? data.text;
  const save = (): void =>
    action.run(async () => {
      if (!edited) return;
      const saved = await ask("saveAgent", { name, ...edited });
      setEdited(undefined);
      const conflicts = saved.conflicts.length;
      if (conflicts > 0) toast(`saved; ${conflicts} lines were also changed elsewhere`, "bad");
      else toast(`saved ${saved.file}`);
      refresh("agents", "agentFile", "tools");
      if (saved.name !== name) go("agents", saved.name);
    });
  return (
    <div class="body">
      <div class="row wrap">
        <code class="ellipsis">{data.file}</code>
        <button type="button" class="tiny end" onClick={() => setPreview(!isPreview)}>
          {isPreview ? "Edit" : "Preview"}
        </button>
        <button
          type="button"
          class="primary tiny"
          disabled={!edited || action.isBusy}
          onClick={save}
        >
          Save
        </button>
      </div>
      {action.error && <Problem error={action.error} />}
      {isPreview ? (
        <Markdown text={text.replace(/^---\n[\s\S]*?\n---\n/, "")} />
      ) : (
        <textarea
          class="tall"
          aria-label={`File of ${name}`}
          spellcheck={false}
          value={text}
          onInput={(event) =>
            setEdited({ text: event.currentTarget.value, seen: edited?.seen ?? data.text })
          }
        />
      )}
    </div>
  );
}
