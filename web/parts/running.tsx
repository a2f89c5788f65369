import { useState } from "preact/hooks";
import type { JsonObject } from "../../src/base/json.ts";
import type { PageMethods } from "../../src/hall/page/contract.ts";
import type { PageQuestion } from "../../src/hall/page/questions.ts";
import type { Progress } from "../../src/tool.ts";
import { ask } from "../api.ts";
import { refresh, useData, useProgress } from "../store.ts";
import { useAction } from "./action.ts";
import { Problem } from "./problem.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { useNow } from "./shown.tsx";

export type Called = PageMethods["callTool"]["result"];

/** A call of this page that may report progress and ask its person. */
export interface RunningCall {
  readonly key: string;
  readonly startedAt: number;
  call(name: string, args: JsonObject): Promise<Called>;
}

let calls = 0;
/** Other pages of the same person have calls too. */
const page = Math.random().toString(36).slice(2);

export function useRunning(): RunningCall {
  const [running, setRunning] = useState({ key: "", startedAt: 0 });
  return {
    ...running,
    async call(name, args) {
      calls += 1;
      const key = `${page}-${calls}`;
      setRunning({ key, startedAt: Date.now() });
      return ask("callTool", { name, arguments: args, key });
    },
  };
}

/** Shown while a call runs: how far it is, and the questions it waits for. */
export function Running({ running }: { readonly running: RunningCall }) {
  const progress = useProgress(running.key);
  const questions = (useData("questions", {}).data?.questions ?? []).filter(
    ({ key }) => key === running.key,
  );
  return (
    <div class="stack">
      <ProgressLine progress={progress} startedAt={running.startedAt} />
      {questions.map((question) => (
        <QuestionCard key={question.id} question={question} />
      ))}
    </div>
  );
}

function ProgressLine(props: {
  readonly progress: Progress | undefined;
  readonly startedAt: number;
}) {
  const { progress, total, message } = props.progress ?? { progress: 0 };
  const seconds = Math.max(0, Math.round((useNow(1_000) - props.startedAt) / 1_000));
  const hasTotal = total !== undefined && total > 0;
  return (
    <div class="stack tight" role="status">
      <div class="row spread">
        <span class="soft">{message ?? "Running …"}</span>
        <span class="faint small number">
          {hasTotal && `${progress} of ${total} · `}
          {seconds} s
        </span>
      </div>
      <progress aria-label="Progress" {...(hasTotal ? { value: progress, max: total } : {})} />
    </div>
  );
}

/** A tool's own question. */
export function QuestionCard({ question }: { readonly question: PageQuestion }) {
  const action = useAction();
  const answer = (given: string, content?: JsonObject): void =>
    action.run(async () => {
      await ask("answerQuestion", { id: question.id, action: given, content });
      refresh("questions");
    });
  const isLink = question.url !== undefined && /^https?:/i.test(question.url);
  return (
    <article class="card question" aria-label={`Question of ${question.tool}`}>
      <header>
        <h2>
          <span class="mono">{question.tool}</span> asks
        </h2>
        <button
          type="button"
          class="tiny end"
          disabled={action.isBusy}
          onClick={() => answer("decline")}
        >
          Decline
        </button>
      </header>
      <div class="body stack">
        <p class="lines">{question.message}</p>
        {action.error && <Problem error={action.error} />}
        {question.url !== undefined && (
          <>
            {isLink ? (
              <a href={question.url} target="_blank" rel="noreferrer noopener">
                {question.url}
              </a>
            ) : (
              <code>{question.url}</code>
            )}
            <div>
              <button
                type="button"
                class="primary"
                disabled={action.isBusy}
                onClick={() => answer("accept")}
              >
                I have done it
              </button>
            </div>
          </>
        )}
        {question.schema && (
          <SchemaForm
            schema={question.schema}
            label="Answer"
            isBusy={action.isBusy}
            submit={(content) => answer("accept", content)}
          />
        )}
      </div>
    </article>
  );
}
