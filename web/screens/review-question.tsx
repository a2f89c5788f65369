import { useState } from "preact/hooks";
import type { ReviewSummary } from "../../src/hall/changes.ts";
import type { ReviewAnswer, ReviewQuestion } from "../../src/hall/page/review.ts";
import { ask } from "../api.ts";
import { type PageAction, useAction } from "../parts/action.ts";
import { Code } from "../parts/code.tsx";
import { Problem } from "../parts/problem.tsx";
import { Badge, plural } from "../parts/shown.tsx";
import { refresh } from "../store.ts";
import { Definition } from "./review-definition.tsx";

/** One question of a review; the answer goes to the hall, which asks the next one. */
export function Question(props: { readonly id: string; readonly question: ReviewQuestion }) {
  const { id, question } = props;
  const action = useAction();
  const answer = (given: ReviewAnswer): void =>
    action.run(async () => {
      await ask("answerReview", { id, answer: given });
      refresh("review", "servers", "tools");
    });
  switch (question.about) {
    case "starts":
      return <Starts starts={question.starts} answer={answer} action={action} />;
    case "servers":
      return <Servers servers={question.servers} answer={answer} action={action} />;
    case "elsewhere":
      return (
        <YesNo
          title="Take over reviews of other folders?"
          lines={question.servers.map(({ name, folder, reached }) => [
            name,
            `${reached} (${folder})`,
          ])}
          yes="Take over"
          answer={answer}
          action={action}
        />
      );
    case "modules":
      return (
        <YesNo
          title="Run these files of the project in a process of their own?"
          lines={[
            ...question.modules.map(({ file, change }) => [file, change] as const),
            ["It runs", question.runs] as const,
          ]}
          yes="Load them"
          answer={answer}
          action={action}
        />
      );
    case "texts":
      return (
        <YesNo
          title="May models read these texts of the project?"
          lines={question.texts.map(({ name, text }) => [name, text])}
          yes="Allow"
          answer={answer}
          action={action}
        />
      );
  }
}

interface Answering {
  readonly answer: (given: ReviewAnswer) => void;
  readonly action: PageAction;
}

type StartList = Extract<ReviewQuestion, { about: "starts" }>["starts"];

function Starts({ starts, answer, action }: { readonly starts: StartList } & Answering) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setChosen(next);
  };
  return (
    <section class="card">
      <header>
        <h2>May these start?</h2>
        <span class="faint small">To list its tools, a server has to run once.</span>
      </header>
      <div class="body stack">
        {action.error && <Problem error={action.error} />}
        {starts.map(({ name, reached, before, runsProjectFile }) => (
          <label key={name} class="choice">
            <input
              type="checkbox"
              checked={chosen.has(name)}
              onChange={() => toggle(name)}
              aria-label={`Start ${name}`}
            />
            <span class="stack tight">
              <span class="row wrap">
                <strong>{name}</strong>
                {runsProjectFile && <Badge tone="warn">runs a file of this project</Badge>}
                {before !== undefined && <Badge tone="warn">changed</Badge>}
              </span>
              {before !== undefined && <code class="removed">{before}</code>}
              <code class={before === undefined ? "" : "added"}>{reached}</code>
            </span>
          </label>
        ))}
        <div class="row wrap">
          <button
            type="button"
            class="primary"
            disabled={chosen.size === 0 || action.isBusy}
            onClick={() => answer({ approved: [...chosen] })}
          >
            Start {plural(chosen.size, "server")}
          </button>
          <button type="button" disabled={action.isBusy} onClick={() => answer({ approved: [] })}>
            Start none
          </button>
        </div>
      </div>
    </section>
  );
}

function Servers({
  servers,
  answer,
  action,
}: { readonly servers: readonly ReviewSummary[] } & Answering) {
  const asks = (server: ReviewSummary): readonly string[] =>
    server.tools.filter(({ destructive }) => destructive).map(({ name }) => name);
  const [asking, setAsking] = useState<Readonly<Record<string, readonly string[]>>>(
    Object.fromEntries(servers.map((server) => [server.name, asks(server)])),
  );
  const toggle = (server: string, tool: string): void => {
    const before = asking[server] ?? [];
    const isIn = before.includes(tool);
    const next = isIn ? before.filter((name) => name !== tool) : [...before, tool];
    setAsking({ ...asking, [server]: next });
  };
  const approve = (names: readonly string[]): void => answer({ approved: names, asking });
  return (
    <>
      {action.error && <Problem error={action.error} />}
      {servers.map((server) => (
        <section key={server.name} class="card">
          <header class="row wrap">
            <h2>{server.name}</h2>
            <span class="faint small">{plural(server.tools.length, "tool")}</span>
            <button
              type="button"
              class="primary end"
              disabled={action.isBusy}
              onClick={() => approve([server.name])}
            >
              Approve {servers.length > 1 ? "only this server" : server.name}
            </button>
          </header>
          <div class="body stack">
            <code>{server.reached}</code>
            {server.gone.length > 0 && (
              <p class="soft small">No longer offered: {server.gone.join(", ")}</p>
            )}
            <div class="definitions">
              {[...server.tools].sort(openFirst).map((tool) => (
                <Definition
                  key={tool.name}
                  kind="tool"
                  item={tool}
                  isAsking={(asking[server.name] ?? []).includes(tool.name)}
                  toggle={() => toggle(server.name, tool.name)}
                />
              ))}
              {server.others.map((other) => (
                <Definition key={`${other.kind} ${other.name}`} kind={other.kind} item={other} />
              ))}
            </div>
          </div>
        </section>
      ))}
      <div class="row wrap">
        {servers.length > 1 && (
          <button
            type="button"
            class="primary"
            disabled={action.isBusy}
            onClick={() => approve(servers.map(({ name }) => name))}
          >
            Approve all {servers.length} servers
          </button>
        )}
        <button type="button" disabled={action.isBusy} onClick={() => answer({ approved: [] })}>
          Approve nothing
        </button>
      </div>
    </>
  );
}

const order = { changed: 0, again: 1, new: 2, same: 3 } as const;

function openFirst(a: { state: keyof typeof order }, b: { state: keyof typeof order }): number {
  return order[a.state] - order[b.state];
}

function YesNo(
  props: {
    readonly title: string;
    readonly lines: readonly (readonly [string, string])[];
    readonly yes: string;
  } & Answering,
) {
  const { title, lines, yes, answer, action } = props;
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
      </header>
      <div class="body stack">
        {action.error && <Problem error={action.error} />}
        {lines.map(([name, text]) => (
          <div key={name} class="stack tight">
            <strong>{name}</strong>
            <Code label={name} text={text} />
          </div>
        ))}
        <div class="row">
          <button
            type="button"
            class="primary"
            disabled={action.isBusy}
            onClick={() => answer({ approved: lines.map(([name]) => name) })}
          >
            {yes}
          </button>
          <button type="button" disabled={action.isBusy} onClick={() => answer({ approved: [] })}>
            No
          </button>
        </div>
      </div>
    </section>
  );
}
