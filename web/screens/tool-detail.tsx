import { useEffect, useRef, useState } from "preact/hooks";
import type { JsonObject } from "../../src/base/json.ts";
import type { ToolLine } from "../../src/hall/page/tools.ts";
import { useAction } from "../parts/action.ts";
import { Code } from "../parts/code.tsx";
import { Icon } from "../parts/icon.tsx";
import { Outcome } from "../parts/outcome.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Called, Running, useRunning } from "../parts/running.tsx";
import { SchemaForm } from "../parts/schema-form.tsx";
import { Badge, formatMs, type Tone } from "../parts/shown.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { go, hrefOf } from "../router.ts";
import { useData } from "../store.ts";
import { ChangeDialog } from "./change-dialog.tsx";

/** One tool: its form, its last result, and its definition. */
export function ToolDetail({ line }: { readonly line: ToolLine }) {
  const { data: tool, error } = useData("tool", { name: line.name });
  const [tab, setTab] = useState("call");
  const [called, setCalled] = useState<Called>();
  const [args, setArguments] = useState<JsonObject>();
  const [isDisabling, setDisabling] = useState(false);
  const action = useAction();
  const running = useRunning();
  const answer = useRef<HTMLDivElement>(null);
  // Below a long form, what happens after a click would be out of view.
  useEffect(
    () => answer.current?.scrollIntoView({ block: "nearest" }),
    [action.isBusy, action.error, called],
  );
  const call = (given: JsonObject): void => {
    setArguments(given);
    action.run(async () => {
      setCalled(undefined);
      setCalled(await running.call(line.name, given));
    });
  };
  return (
    <section class="detail" aria-label={line.name}>
      <header>
        <div class="row spread">
          <h2 class="mono">{line.name}</h2>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Close"
            onClick={() => go("tools")}
          >
            <Icon name="close" />
          </button>
        </div>
        <div class="row wrap">
          <Class tool={line} />
          <Badge>{line.level}</Badge>
          {line.groups.map((group) => (
            <Badge key={group} tone="info">
              {group}
            </Badge>
          ))}
          <a href={hrefOf("calls", "", line.name)}>Its calls</a>
          {line.source === "upstream" && (
            <button type="button" class="tiny" onClick={() => setDisabling(true)}>
              Disable
            </button>
          )}
        </div>
      </header>
      <Tabs
        label={`Parts of ${line.name}`}
        tabs={{ call: "Call", definition: "Definition" }}
        current={tab}
        choose={setTab}
      />
      {error && <Problem error={error} />}
      {line.held !== undefined && (
        <div class="body">
          <div class="problem">
            <strong>{line.held}</strong>
            <div>
              <button type="button" class="tiny" onClick={() => go("review", line.toolkit)}>
                Review it
              </button>
            </div>
          </div>
        </div>
      )}
      {tool && tab === "call" && (
        <div class="body">
          <p class="soft clamp" tabIndex={0}>
            {tool.definition.description}
          </p>
          {line.ask !== undefined && (
            <p class="warn small">A call waits for approval: {line.ask}.</p>
          )}
          <SchemaForm
            schema={tool.definition.inputSchema}
            isBusy={action.isBusy || line.held !== undefined}
            submit={call}
          />
          <div ref={answer} class="stack">
            {action.isBusy && <Running running={running} />}
            {action.error && <Problem error={action.error} />}
            {called && <Result called={called} repeat={() => args && call(args)} />}
          </div>
        </div>
      )}
      {tool && tab === "definition" && (
        <div class="body">
          <Code label="Definition" text={JSON.stringify(tool.definition, null, 2)} />
        </div>
      )}
      {isDisabling && (
        <ChangeDialog
          title={`Disable ${line.name}`}
          change={{ kind: "disable tool", tool: line.name }}
          close={() => setDisabling(false)}
        />
      )}
    </section>
  );
}

function Result(props: { readonly called: Called; readonly repeat: () => void }) {
  return (
    <section class="stack" aria-label="Result">
      <div class="row spread">
        <h3>Result</h3>
        <span class="row">
          <span class="faint small number">{formatMs(props.called.ms)}</span>
          <button type="button" class="tiny" onClick={props.repeat}>
            <Icon name="restart" />
            Repeat
          </button>
        </span>
      </div>
      <Outcome outcome={props.called.outcome} />
    </section>
  );
}

const tones: Readonly<Record<ToolLine["effect"], Tone>> = {
  reads: "good",
  changes: "warn",
  unknown: "",
};

/** Tells tools that only read from those that change something. */
export function Class({ tool }: { readonly tool: ToolLine }) {
  if (tool.held !== undefined) return <Badge tone="bad">held</Badge>;
  return <Badge tone={tones[tool.effect]}>{tool.effect}</Badge>;
}
