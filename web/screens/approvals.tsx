import { useEffect } from "preact/hooks";
import type { ListedApproval } from "../../src/hall/admin-contract.ts";
import type { ApprovalAnswer } from "../../src/trust/approvals.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Code } from "../parts/code.tsx";
import { Problem } from "../parts/problem.tsx";
import { QuestionCard } from "../parts/running.tsx";
import { Ago, Empty, Loading, Page, plural, useNow } from "../parts/shown.tsx";
import { refresh, toast, useData } from "../store.ts";
import type { ScreenProps } from "./screens.ts";

/** Calls that wait for a person. */
export function Approvals({ openMenu }: ScreenProps) {
  const { data, error } = useData("approvals", {});
  const pending = data?.pending ?? [];
  const questions = useData("questions", {}).data?.questions ?? [];
  const canAsk = "Notification" in window && Notification.permission === "default";
  return (
    <Page
      title="Approvals"
      subtitle={data && `${plural(pending.length, "call")} waiting`}
      openMenu={openMenu}
      actions={
        canAsk && (
          <button
            type="button"
            onClick={() => void Notification.requestPermission().then(() => refresh("approvals"))}
          >
            Notify me
          </button>
        )
      }
    >
      <div class="content padded">
        <p class="hidden-label" role="status">
          {plural(pending.length + questions.length, "call")} waiting
        </p>
        {error && <Problem error={error} />}
        {!data && !error && <Loading />}
        {data && pending.length + questions.length === 0 && (
          <Empty icon="approvals" title="Nothing waits for you">
            <p>
              Calls that change something and are not trusted yet wait here, with their arguments in
              full.
            </p>
          </Empty>
        )}
        <div class="stack loose narrow">
          {questions.map((question) => (
            <QuestionCard key={question.id} question={question} />
          ))}
          {pending.map((call) => (
            <Waiting key={call.token} call={call} />
          ))}
        </div>
      </div>
    </Page>
  );
}

const choices: readonly {
  readonly answer: ApprovalAnswer;
  readonly label: string;
  readonly done: string;
  readonly style: string;
}[] = [
  { answer: "once", label: "Allow once", done: "allowed once", style: "primary" },
  { answer: "hall", label: "While the hall runs", done: "allowed while the hall runs", style: "" },
  { answer: "always", label: "Always", done: "always allowed", style: "" },
  { answer: "no", label: "Deny", done: "denied", style: "danger" },
];

function Waiting({ call }: { readonly call: ListedApproval }) {
  const { run, isBusy, error } = useAction();
  const answer = (given: ApprovalAnswer, done: string): void =>
    run(async () => {
      await ask("approve", { token: call.token, answer: given });
      toast(`${call.tool}: ${done}`);
      refresh("approvals");
    });
  return (
    <article class="card" aria-label={`Call of ${call.tool}`}>
      <header class="row wrap spread">
        <h2 class="mono">{call.tool}</h2>
        <Countdown until={call.expiresAt} />
      </header>
      <div class="body stack">
        <dl class="facts">
          <dt>Asked by</dt>
          <dd>
            {call.client} <span class="faint">({call.caller})</span>, <Ago at={call.askedAt} />
          </dd>
          <dt>Because</dt>
          <dd>{call.why}</dd>
        </dl>
        <Code label={`Arguments of ${call.tool}`} text={call.preview} />
        {error && <Problem error={error} />}
        <div class="row wrap">
          {choices.map(({ answer: given, label, done, style }) => (
            <button
              key={given}
              type="button"
              class={style}
              disabled={isBusy}
              onClick={() => answer(given, done)}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
    </article>
  );
}

function Countdown({ until }: { readonly until: number }) {
  const left = Math.max(0, Math.round((until - useNow(1_000)) / 1_000));
  useEffect(() => {
    if (left === 0) refresh("approvals");
  }, [left === 0]);
  const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  return (
    <span class={`badge number ${left < 30 ? "bad" : "warn"}`} role="timer" title="Time to answer">
      {text} left
    </span>
  );
}
