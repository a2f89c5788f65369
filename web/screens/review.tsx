import { useEffect } from "preact/hooks";
import type { ReviewState } from "../../src/hall/page/review.ts";
import { ask } from "../api.ts";
import { useAction } from "../parts/action.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Empty, Loading, Page } from "../parts/shown.tsx";
import { hrefOf } from "../router.ts";
import { refresh, useData } from "../store.ts";
import { Question } from "./review-question.tsx";
import type { ScreenProps } from "./screens.ts";

/** Everything that waits for a review before it runs or a model reads it. */
export function Review({ route, openMenu }: ScreenProps) {
  const { data: state, error } = useData("review", {});
  const action = useAction();
  const [server] = route;
  const begin = (name?: string): void =>
    action.run(async () => {
      await ask("beginReview", name ? { server: name } : {});
      refresh("review");
    });

  useEffect(() => {
    if (server) begin(server);
  }, [server]);

  const isUnderWay = state?.kind === "asking" || state?.kind === "working";
  return (
    <Page
      title="Review"
      subtitle="what would run, and what models would read"
      openMenu={openMenu}
      actions={
        <button type="button" disabled={action.isBusy} onClick={() => begin()}>
          <Icon name="review" />
          {isUnderWay ? "Start over" : "Review all"}
        </button>
      }
    >
      <div class="content padded">
        <div class="stack loose">
          {(action.error ?? error) && <Problem error={(action.error ?? error) as never} />}
          {action.error && server && <a href={hrefOf("servers", server)}>Open {server}</a>}
          {state ? <Step state={state} begin={begin} /> : !error && <Loading />}
        </div>
      </div>
    </Page>
  );
}

function Step(props: { readonly state: ReviewState; readonly begin: (name?: string) => void }) {
  const { state, begin } = props;
  switch (state.kind) {
    case "idle":
      return <Waiting begin={begin} />;
    case "working":
      return (
        <Empty icon="restart" title="Reading the servers">
          <p role="status">{state.servers.join(", ") || "One moment …"}</p>
        </Empty>
      );
    case "asking":
      return <Question key={state.id} id={state.id} question={state.question} />;
    case "failed":
      return <Problem error={state.error} />;
    case "done":
      return (
        <>
          <Done state={state} />
          <Waiting begin={begin} />
        </>
      );
  }
}

function Done({ state }: { readonly state: Extract<ReviewState, { kind: "done" }> }) {
  return (
    <section class="card" role="status">
      <header>
        <Icon name="check" />
        <h2>The review is over</h2>
      </header>
      <div class="body">
        <dl class="facts">
          <dt>Approved</dt>
          <dd>{state.approved.join(", ") || "none"}</dd>
          <dt>Still held</dt>
          <dd>{state.open.join(", ") || "none"}</dd>
          {state.down.length > 0 && (
            <>
              <dt>No answer</dt>
              <dd class="bad">{state.down.join(", ")}</dd>
            </>
          )}
        </dl>
      </div>
    </section>
  );
}

/** Servers and tools that are held back until a person reviews them. */
function Waiting({ begin }: { readonly begin: (name?: string) => void }) {
  const servers = useData("servers", {}).data?.servers;
  const tools = useData("tools", {}).data?.tools ?? [];
  if (!servers) return <Loading />;
  const held = servers.filter(({ state }) => state === "held");
  const names = new Set(held.map(({ name }) => name));
  const changed = new Map<string, number>();
  for (const { toolkit, held: reason } of tools)
    if (reason !== undefined && !names.has(toolkit))
      changed.set(toolkit, (changed.get(toolkit) ?? 0) + 1);
  if (held.length + changed.size === 0)
    return (
      <Empty icon="review" title="Nothing is held back">
        <p>New and changed servers and tools wait here until you have looked at them.</p>
        <a class="button" href={hrefOf("servers", "", "add")}>
          Add a server
        </a>
      </Empty>
    );
  return (
    <section class="card">
      <header>
        <h2>Held back</h2>
      </header>
      <div class="list-lines">
        {held.map(({ name, reason, target }) => (
          <Held key={name} name={name} reason={reason ?? target} begin={begin} />
        ))}
        {[...changed].map(([name, count]) => (
          <Held
            key={name}
            name={name}
            reason={`${count} of its tools are new or changed`}
            begin={begin}
          />
        ))}
      </div>
    </section>
  );
}

function Held(props: {
  readonly name: string;
  readonly reason: string;
  readonly begin: (name?: string) => void;
}) {
  return (
    <div>
      <span class="dot warn" />
      <strong>{props.name}</strong>
      <span class="soft ellipsis">{props.reason}</span>
      <button type="button" class="tiny end" onClick={() => props.begin(props.name)}>
        Review
      </button>
    </div>
  );
}
