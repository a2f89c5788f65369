import { useState } from "preact/hooks";
import type { Feature, FeaturePhase } from "../../src/workflow/feature.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Icon } from "../parts/icon.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Problem } from "../parts/problem.tsx";
import { Running, useRunning } from "../parts/running.tsx";
import { Loading } from "../parts/shown.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { go } from "../router.ts";
import { refresh, toast, useData } from "../store.ts";
import { firstLine, titleOf } from "./feature-text.ts";

const nextStep: Readonly<Partial<Record<FeaturePhase, string>>> = {
  clarify: "clarify",
  plan: "plan",
  tasks: "tasks",
  implement: "implement",
};

/** One feature: its documents, its open questions, and its next step. */
export function FeatureDetail(props: { readonly feature: Feature; readonly file: string }) {
  const { feature } = props;
  const documents = feature.files.filter((file) => file.endsWith(".md"));
  const file = documents.includes(props.file) ? props.file : (documents[0] ?? "");
  const preferred = props.file === "" && documents.includes("spec.md") ? "spec.md" : file;
  return (
    <section class="detail" aria-label={feature.name}>
      <header>
        <div class="row spread">
          <h2>{titleOf(feature.name)}</h2>
          <button
            type="button"
            class="plain icon-only"
            aria-label="Close"
            onClick={() => go("workflow")}
          >
            <Icon name="close" />
          </button>
        </div>
        <NextStep feature={feature} />
      </header>
      <Tabs
        label="Documents"
        tabs={Object.fromEntries(documents.map((name) => [name, name.replace(/\.md$/, "")]))}
        current={preferred}
        choose={(name) => go("workflow", feature.name, name)}
      />
      {preferred !== "" && <Document key={preferred} feature={feature} file={preferred} />}
    </section>
  );
}

function NextStep({ feature }: { readonly feature: Feature }) {
  const step = nextStep[feature.phase];
  const action = useAction();
  const running = useRunning();
  if (step === undefined || step === "clarify") return null;
  const run = (): void => {
    action.run(async () => {
      const { outcome } = await running.call(`speckit.${step}`, {
        spec_directory: feature.directory,
      });
      if (outcome.isError) throw new Error(firstLine(outcome.content));
      toast(firstLine(outcome.content));
      refresh("features", "featureFile");
    });
  };
  return (
    <div class="stack">
      <div class="row">
        <button type="button" class="primary" disabled={action.isBusy} onClick={run}>
          <Icon name="play" />
          {action.isBusy ? `Running ${step} …` : `Run the next step: ${step}`}
        </button>
      </div>
      {action.isBusy && <Running running={running} />}
      {action.error && <Problem error={action.error} />}
    </div>
  );
}

function Document({ feature, file }: { readonly feature: Feature; readonly file: string }) {
  const { data, error } = useData("featureFile", { feature: feature.name, file });
  if (error) return <Problem error={error} />;
  if (!data) return <Loading />;
  return (
    <div class="body">
      {file === "spec.md" && data.questions.length > 0 && (
        <Questions
          key={data.questions.join("\n")}
          directory={feature.directory}
          questions={data.questions}
        />
      )}
      <Markdown text={data.text} />
    </div>
  );
}

/** The questions are answered in place; the answers are written into the specification. */
function Questions(props: { readonly directory: string; readonly questions: readonly string[] }) {
  const { directory, questions } = props;
  const [answers, setAnswers] = useState<Readonly<Record<string, string>>>({});
  const action = useAction();
  const answered = questions.filter((question) => (answers[question] ?? "").trim() !== "");
  const send = (): void =>
    action.run(async () => {
      const { outcome } = await ask("callTool", {
        name: "speckit.clarify",
        arguments: {
          spec_directory: directory,
          questions: answered,
          answers: answered.map((question) => answers[question] ?? ""),
        },
      });
      if (outcome.isError) throw new Error(firstLine(outcome.content));
      toast(firstLine(outcome.content));
      refresh("features", "featureFile");
    });
  return (
    <section class="card">
      <header>
        <h2>Open questions</h2>
        <button
          type="button"
          class="primary tiny end"
          disabled={action.isBusy || answered.length === 0}
          onClick={send}
        >
          {action.isBusy ? "Writing …" : "Write the answers"}
        </button>
      </header>
      <div class="body stack">
        {action.error && <Problem error={action.error} />}
        {questions.map((question) => (
          <label key={question} class="field">
            {question}
            <input
              value={answers[question] ?? ""}
              onInput={(event) => setAnswers({ ...answers, [question]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
    </section>
  );
}
