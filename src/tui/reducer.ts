import type { LoadedPart, TuiEvent } from "./events.ts";
import type { Failure } from "./failure.ts";
import { intend } from "./intended.ts";
import { appendOutput } from "./output.ts";
import {
  findRun,
  type LispEntry,
  type Load,
  lispEntriesMax,
  type Notice,
  noticesMax,
  type RunView,
  runsMax,
  type TuiState,
} from "./state.ts";

/** The next state. Pure: the same state and event give the same, and what did not change stays the same object. */
export function reduce(state: TuiState, event: TuiEvent): TuiState {
  switch (event.kind) {
    case "intended":
      return intend(state, event.intention);
    case "connection":
      return {
        ...state,
        connection: event.connection,
        ...(event.transport ? { target: { ...state.target, transport: event.transport } } : {}),
      };
    case "loading":
      return withLoad(state, event.part, { kind: "loading" });
    case "load failed":
      return withLoad(state, event.part, { kind: "failed", failure: event.failure });
    case "features":
      return {
        ...state,
        features: {
          ...state.features,
          load: loaded,
          items: event.items,
          selected: keep(state.features.selected, event.items),
        },
      };
    case "document":
    case "document failed":
      return withDocument(state, event);
    case "tools":
      return withTools(state, event);
    case "run started":
    case "run logged":
    case "output":
    case "progress":
    case "run ended":
    case "evaluated":
      return reduceRun(state, event);
    case "asked":
      return { ...state, questions: [...state.questions, event.question] };
    case "question over":
      return { ...state, questions: state.questions.filter(({ id }) => id !== event.question) };
    case "status":
      return {
        ...state,
        servers: {
          ...state.servers,
          load: loaded,
          status: event.status,
          selected: keep(state.servers.selected, event.status.upstreams),
        },
      };
    case "logs":
      return {
        ...state,
        servers: { ...state.servers, logs: { server: event.server, lines: event.lines } },
      };
    case "approvals": {
      const { selected, pending: before } = state.approvals;
      const isThere = event.pending.some(({ token }) => token === selected);
      // When the one somebody looked at is gone, no other takes its place: a yes on its way must not meet another call.
      const usual = before.length === 0 ? event.pending[0]?.token : undefined;
      return {
        ...state,
        approvals: { load: loaded, pending: event.pending, selected: isThere ? selected : usual },
      };
    }
    case "statistics":
      return { ...state, stats: { load: loaded, statistics: event.statistics } };
    case "worktrees":
      return { ...state, worktrees: { load: loaded, items: event.items } };
    case "folder":
      return { ...state, features: { ...state.features, folder: event.folder } };
    case "confirm":
      return { ...state, confirmation: event.confirmation };
    case "notice":
      return withNotice(state, event);
  }
}

const loaded: Load = { kind: "loaded" };

/** What was selected, while it is there; else the first. */
function keep(
  selected: string | undefined,
  items: readonly { readonly name: string }[],
): string | undefined {
  return items.some(({ name }) => name === selected) ? selected : items[0]?.name;
}

function withLoad(state: TuiState, part: LoadedPart, load: Load): TuiState {
  // Agents are read with the tools.
  const agents = part === "tools" ? { agents: { ...state.agents, load } } : {};
  return { ...state, [part]: { ...state[part], load }, ...agents };
}

function withDocument(
  state: TuiState,
  event: Extract<TuiEvent, { kind: "document" | "document failed" }>,
): TuiState {
  const { feature } = state;
  // Somebody has opened another one meanwhile.
  if (feature?.name !== event.feature || feature.document !== event.path) return state;
  const read =
    event.kind === "document"
      ? { text: event.text, failure: undefined }
      : { text: undefined, failure: event.failure };
  return { ...state, feature: { ...feature, ...read } };
}

function withTools(
  state: TuiState,
  { tools, agents, missing }: Extract<TuiEvent, { kind: "tools" }>,
): TuiState {
  const isSelectedThere = tools.some(({ name }) => name === state.tools.selected);
  return {
    ...state,
    tools: {
      ...state.tools,
      load: loaded,
      items: tools,
      ...(isSelectedThere ? {} : { selected: undefined, form: undefined }),
    },
    agents: {
      ...state.agents,
      load: loaded,
      items: agents,
      selected: keep(state.agents.selected, agents),
    },
    features: { ...state.features, missing },
    lisp: { ...state.lisp, isOffered: tools.some(({ name }) => name === "evaluate-lisp") },
  };
}

type RunEvent = Extract<
  TuiEvent,
  { kind: "run started" | "run logged" | "output" | "progress" | "run ended" | "evaluated" }
>;

function reduceRun(state: TuiState, event: RunEvent): TuiState {
  switch (event.kind) {
    case "run started":
      return withStarted(state, event.run);
    case "run logged":
      return withRun(state, event.run, (run) => ({ ...run, logPath: event.path }));
    case "output":
      return withRun(state, event.run, (run) => ({
        ...run,
        output: appendOutput(run.output, event.lines),
      }));
    case "progress":
      return withRun(state, event.run, (run) => withProgress(run, event.progress));
    case "run ended":
      return withEnded(state, event);
    case "evaluated":
      return withEvaluated(state, event);
  }
}

function withStarted(state: TuiState, run: RunView): TuiState {
  // Those that still run are never forgotten.
  const kept = state.runs.filter(
    ({ state: { kind } }, index) =>
      index < runsMax - 1 || kind === "running" || kind === "cancelling",
  );
  const next = { ...state, runs: [run, ...kept] };
  switch (run.kind) {
    case "step":
      return {
        ...next,
        shownRun: run.id,
        screen: "run",
        features: {
          ...state.features,
          ...(run.tool === "speckit.specify" ? { draft: undefined } : {}),
        },
      };
    case "tool":
      return { ...next, tools: { ...state.tools, run: run.id } };
    case "agent":
      return { ...next, agents: { ...state.agents, run: run.id, task: "" } };
    case "lisp": {
      const entry = { run: run.id, code: run.about, state: "running", text: "" } as const;
      return {
        ...next,
        lisp: {
          ...state.lisp,
          input: "",
          entries: [...state.lisp.entries, entry].slice(-lispEntriesMax),
        },
      };
    }
  }
}

function withRun(state: TuiState, id: string, change: (run: RunView) => RunView): TuiState {
  return { ...state, runs: state.runs.map((run) => (run.id === id ? change(run) : run)) };
}

function withProgress(run: RunView, progress: RunView["progress"] & object): RunView {
  const { message } = progress;
  return {
    ...run,
    progress:
      message === undefined && run.progress?.message !== undefined
        ? { ...progress, message: run.progress.message }
        : progress,
  };
}

function withEnded(
  state: TuiState,
  { run: id, state: ended }: Extract<TuiEvent, { kind: "run ended" }>,
): TuiState {
  const next = withRun(state, id, (run) => ({ ...run, state: ended }));
  // A form whose answer never came is over all the same.
  const entries =
    "failure" in ended
      ? state.lisp.entries.map((entry) =>
          isWaiting(entry, id) ? failedEntry(entry, ended.failure) : entry,
        )
      : state.lisp.entries;
  // Whoever opens a feature after a step wants to see what that has written, not what was open before it.
  const isForgotten = findRun(state, id)?.kind === "step" && state.screen !== "feature";
  // A call that is over wants to know nothing more.
  const questions = state.questions.filter(({ run }) => run !== id);
  return {
    ...next,
    feature: isForgotten ? undefined : state.feature,
    lisp: { ...state.lisp, entries },
    questions,
  };
}

function isWaiting(entry: LispEntry, run: string): boolean {
  return entry.run === run && entry.state === "running";
}

function failedEntry(entry: LispEntry, { message, hint }: Failure): LispEntry {
  return { ...entry, state: "failed", text: `${message}\n${hint}` };
}

function withEvaluated(
  state: TuiState,
  { run, text, isError, session, package: current }: Extract<TuiEvent, { kind: "evaluated" }>,
): TuiState {
  const { lisp } = state;
  const entries = lisp.entries.map((entry) =>
    entry.run === run
      ? { ...entry, text, state: isError ? ("failed" as const) : ("completed" as const) }
      : entry,
  );
  return {
    ...state,
    lisp: { ...lisp, entries, session: session ?? lisp.session, package: current ?? lisp.package },
  };
}

function withNotice(
  state: TuiState,
  { level, text, retry }: Extract<TuiEvent, { kind: "notice" }>,
): TuiState {
  const last = state.notices.at(-1);
  // Said twice in a row is said once.
  if (last?.text === text && last.level === level) return state;
  const notice: Notice = { id: (last?.id ?? 0) + 1, level, text, retry };
  return { ...state, notices: [...state.notices, notice].slice(-noticesMax) };
}
