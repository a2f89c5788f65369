import { useState } from "preact/hooks";
import type { Feature, FeaturePhase } from "../../src/workflow/feature.ts";
import { useAction } from "../parts/action.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Running, useRunning } from "../parts/running.tsx";
import { Badge, Empty, Loading, Page, plural } from "../parts/shown.tsx";
import { go } from "../router.ts";
import { refresh, toast, useData } from "../store.ts";
import { FeatureDetail } from "./feature-detail.tsx";
import { firstLine, titleOf } from "./feature-text.ts";
import type { ScreenProps } from "./screens.ts";

/** The columns of the board. A feature is in the column of the step that comes next. */
const columns: readonly { readonly title: string; readonly phases: readonly FeaturePhase[] }[] = [
  { title: "To clarify", phases: ["specify", "clarify"] },
  { title: "To plan", phases: ["plan"] },
  { title: "To break down", phases: ["tasks"] },
  { title: "In progress", phases: ["implement"] },
  { title: "Done", phases: ["done"] },
];

/** Features from a description to finished tasks. */
export function Workflow({ route, openMenu }: ScreenProps) {
  const { data, error } = useData("features", {});
  const [isNew, setNew] = useState(false);
  const [selected = "", file = ""] = route;
  const features = data?.features ?? [];
  const chosen = features.find(({ name }) => name === selected);
  return (
    <Page
      title="Workflow"
      subtitle={data && plural(features.length, "feature")}
      actions={
        <button
          type="button"
          class="primary"
          disabled={data?.isOn === false}
          onClick={() => setNew(true)}
        >
          <Icon name="plus" />
          New feature
        </button>
      }
      openMenu={openMenu}
    >
      {error && <Problem error={error} />}
      <div class={chosen ? "split content" : "content"}>
        <div class="content padded">
          {!data && !error && <Loading />}
          {data && features.length === 0 && (
            <Empty icon="workflow" title="No features yet">
              <p>
                Describe what you want to build. The workflow leads from the description to a
                specification, a plan and tasks.
              </p>
            </Empty>
          )}
          {features.length > 0 && <Board features={features} selected={selected} />}
        </div>
        {chosen && <FeatureDetail key={chosen.name} feature={chosen} file={file} />}
      </div>
      {isNew && <NewFeature close={() => setNew(false)} />}
    </Page>
  );
}

function Board(props: { readonly features: readonly Feature[]; readonly selected: string }) {
  return (
    <div class="board">
      {columns.map(({ title, phases }) => {
        const features = props.features.filter(({ phase }) => phases.includes(phase));
        return (
          <section key={title} aria-label={title}>
            <h2>
              {title} <span class="faint">{features.length}</span>
            </h2>
            {features.map((feature) => (
              <button
                key={feature.name}
                type="button"
                class="card feature"
                aria-pressed={feature.name === props.selected}
                onClick={() => go("workflow", feature.name)}
              >
                <strong>{titleOf(feature.name)}</strong>
                <span class="faint small mono ellipsis">{feature.name}</span>
                <span class="row wrap">
                  {feature.openQuestions > 0 && (
                    <Badge tone="warn">{plural(feature.openQuestions, "open question")}</Badge>
                  )}
                  {feature.tasks && (
                    <Badge tone={feature.tasks.done === feature.tasks.total ? "good" : "info"}>
                      {feature.tasks.done} of {feature.tasks.total} tasks
                    </Badge>
                  )}
                </span>
              </button>
            ))}
          </section>
        );
      })}
    </div>
  );
}

function NewFeature({ close }: { readonly close: () => void }) {
  const [text, setText] = useState("");
  const action = useAction();
  const running = useRunning();
  const create = (): void =>
    action.run(async () => {
      const { outcome } = await running.call("speckit.specify", {
        feature_description: text,
        spec_directory: "specs",
      });
      if (outcome.isError) throw new Error(firstLine(outcome.content));
      toast(firstLine(outcome.content));
      refresh("features");
      close();
    });
  return (
    <Dialog
      title="New feature"
      close={close}
      footer={
        <>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button
            type="button"
            class="primary"
            disabled={action.isBusy || text.trim() === ""}
            onClick={create}
          >
            {action.isBusy ? "Writing …" : "Write the specification"}
          </button>
        </>
      }
    >
      <label class="field">
        What should it do, and for whom?
        <textarea
          rows={6}
          value={text}
          placeholder="Members of a club can book a tennis court for one hour …"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <small>Your own sentences become the draft; what is missing becomes a question.</small>
      </label>
      {action.isBusy && <Running running={running} />}
      {action.error && <Problem error={action.error} />}
    </Dialog>
  );
}
