import type { Intention, LoadedPart, RunEvent, Section, TuiEvent } from "./events.ts";
import { createForm, type Form, fillForm, readForm } from "./form.ts";
import { appendOutput } from "./output.ts";
import {
  findRun,
  hallScreens,
  isAtWork,
  type Load,
  loaded,
  type Notice,
  noticesMax,
  type RunView,
  runsMax,
  type ScreenName,
  type TuiState,
} from "./state.ts";

/** The next state. Pure; parts that did not change stay the same objects. */
export function reduce(state: TuiState, event: TuiEvent): TuiState {
  switch (event.kind) {
    case "intended":
      return reduceIntention(state, event.intention);
    case "connection": {
      const transport = event.transport ?? state.target.transport;
      return { ...state, connection: event.connection, target: { ...state.target, transport } };
    }
    case "set":
      return patch(state, event.section, event.fields);
    case "load failed":
      return setFailed(state, event.part, { kind: "failed", failure: event.failure });
    case "features": {
      const selected = keepSelected(state.features.selected, event.items);
      return patch(state, "features", { load: loaded, items: event.items, selected });
    }
    case "document":
    case "document failed":
      return setDocument(state, event);
    case "tools":
      return setTools(state, event);
    case "run started":
    case "run logged":
    case "output":
    case "progress":
    case "run ended":
      return reduceRun(state, event);
    case "asked":
      return { ...state, questions: [...state.questions, event.question] };
    case "question over":
      return { ...state, questions: state.questions.filter(({ id }) => id !== event.question) };
    case "status": {
      const selected = keepSelected(state.servers.selected, event.status.upstreams);
      return patch(state, "servers", { load: loaded, status: event.status, selected });
    }
    case "approvals":
      return setApprovals(state, event.pending);
    case "notice":
      return addNotice(state, event);
  }
}

/** The selected item while it exists, otherwise the first. */
function keepSelected(
  selected: string | undefined,
  items: readonly { readonly name: string }[],
): string | undefined {
  return items.some(({ name }) => name === selected) ? selected : items[0]?.name;
}

function setFailed(state: TuiState, part: LoadedPart, load: Load): TuiState {
  const next = patch(state, part, { load });
  // Agents come with the tools.
  return part === "tools" ? patch(next, "agents", { load }) : next;
}

function setDocument(
  state: TuiState,
  event: Extract<TuiEvent, { kind: "document" | "document failed" }>,
): TuiState {
  const { feature } = state;
  // Another document may have been opened meanwhile.
  if (feature?.name !== event.feature || feature.document !== event.path) return state;
  const text = event.kind === "document" ? event.text : undefined;
  const failure = event.kind === "document failed" ? event.failure : undefined;
  return { ...state, feature: { ...feature, text, failure } };
}

function setTools(
  state: TuiState,
  { tools, agents, missing }: Extract<TuiEvent, { kind: "tools" }>,
): TuiState {
  const isSelectedGone = !tools.some(({ name }) => name === state.tools.selected);
  return {
    ...state,
    tools: {
      ...state.tools,
      load: loaded,
      items: tools,
      ...(isSelectedGone ? { selected: undefined, form: undefined } : {}),
    },
    agents: {
      ...state.agents,
      load: loaded,
      items: agents,
      selected: keepSelected(state.agents.selected, agents),
    },
    features: { ...state.features, missing },
  };
}

/**
 * When the selected call is gone, no other one is selected: a key on its way must not approve
 * a different call.
 */
function setApprovals(state: TuiState, pending: TuiState["approvals"]["pending"]): TuiState {
  const { selected, pending: before } = state.approvals;
  const isThere = pending.some(({ token }) => token === selected);
  const first = before.length === 0 ? pending[0]?.token : undefined;
  return patch(state, "approvals", { load: loaded, pending, selected: isThere ? selected : first });
}

function reduceRun(state: TuiState, event: RunEvent): TuiState {
  switch (event.kind) {
    case "run started":
      return addRun(state, event.run);
    case "run logged":
      return updateRun(state, event.run, (run) => ({ ...run, logPath: event.path }));
    case "output":
      return updateRun(state, event.run, (run) => ({
        ...run,
        output: appendOutput(run.output, event.lines),
      }));
    case "progress":
      return updateRun(state, event.run, (run) => {
        const message = event.progress.message ?? run.progress?.message;
        return { ...run, progress: { ...event.progress, ...(message ? { message } : {}) } };
      });
    case "run ended":
      return endRun(state, event);
  }
}

function addRun(state: TuiState, run: RunView): TuiState {
  // Runs that are still at work are never dropped.
  const kept = state.runs.filter((old, index) => index < runsMax - 1 || isAtWork(old));
  const next = { ...state, runs: [run, ...kept] };
  switch (run.kind) {
    case "step": {
      const shown = { ...next, shownRun: run.id, screen: "run" } as const;
      return patch(shown, "features", { draft: undefined });
    }
    case "tool":
      return patch(next, "tools", { run: run.id });
    case "agent":
      return patch(next, "agents", { run: run.id, task: "" });
  }
}

function updateRun(state: TuiState, id: string, change: (run: RunView) => RunView): TuiState {
  return { ...state, runs: state.runs.map((run) => (run.id === id ? change(run) : run)) };
}

function endRun(
  state: TuiState,
  { run: id, state: ended }: Extract<TuiEvent, { kind: "run ended" }>,
): TuiState {
  // After a step, a feature opens on what the step has written, not on the last open document.
  const isStale = findRun(state, id)?.kind === "step" && state.screen !== "feature";
  return {
    ...updateRun(state, id, (run) => ({ ...run, state: ended })),
    feature: isStale ? undefined : state.feature,
    questions: state.questions.filter(({ run }) => run !== id),
  };
}

function addNotice(
  state: TuiState,
  { level, text, retry }: Extract<TuiEvent, { kind: "notice" }>,
): TuiState {
  const last = state.notices.at(-1);
  if (last?.text === text && last.level === level) return state;
  const notice: Notice = { id: (last?.id ?? 0) + 1, level, text, retry };
  return { ...state, notices: [...state.notices, notice].slice(-noticesMax) };
}

/** The immediate effect of an intention on the state: screens, selections, typed text. */
export function reduceIntention(state: TuiState, intention: Intention): TuiState {
  switch (intention.kind) {
    case "set":
      return patch(state, intention.section, intention.fields);
    case "go":
      return go(state, intention.screen);
    case "resize":
      return { ...state, size: intention.size };
    case "help":
      return { ...state, isHelpShown: intention.isShown };
    case "scroll": {
      const scrolls = { ...state.scrolls, [intention.view]: Math.max(0, intention.to) };
      return { ...state, scrolls };
    }
    case "dismiss":
      return { ...state, notices: state.notices.filter(({ id }) => id !== intention.notice) };
    case "quit":
      return quit(state);
    case "confirm": {
      const isQuitting = intention.isYes && state.confirmation?.intention.kind === "quit";
      return { ...state, confirmation: undefined, isQuitting };
    }
    case "open feature":
      return openFeature(state, intention.name);
    case "open document":
      return openDocument(state, intention.path);
    case "show run":
      return { ...state, shownRun: intention.run, screen: "run" };
    case "cancel run":
      return markCancelling(state, intention.run);
    case "fill question":
    case "answer question":
      return updateQuestion(state, intention);
    case "select tool":
      return selectTool(state, intention.name);
    case "fill tool":
      return updateToolForm(state, (form) => fillForm(form, intention.field, intention.text));
    case "call tool":
      return updateToolForm(state, showProblems);
    default:
      // The session carries out the others; events report what changed.
      return state;
  }
}

function patch<S extends Section>(
  state: TuiState,
  section: S,
  fields: Partial<TuiState[S]>,
): TuiState {
  return { ...state, [section]: { ...state[section], ...fields } };
}

/** While something runs, quitting needs a second press. */
function quit(state: TuiState): TuiState {
  const running = state.runs.filter(isAtWork).map(({ tool }) => tool);
  if (running.length === 0 || state.confirmation?.intention.kind === "quit")
    return { ...state, isQuitting: true };
  const [verb, object] = running.length === 1 ? ["is", "it"] : ["are", "them"];
  const message = `${running.join(", ")} ${verb} still running. Cancel ${object} and quit?`;
  return { ...state, confirmation: { message, intention: { kind: "quit" } } };
}

/** Informational notices end with the screen; warnings and errors stay until dismissed. */
function go(state: TuiState, screen: ScreenName): TuiState {
  if (state.target.kind !== "hall" && hallScreens.includes(screen)) return state;
  const notices = state.notices.filter(({ level }) => level !== "info");
  return { ...state, screen, isHelpShown: false, notices };
}

/** Opens the document that the next step would read. */
function openFeature(state: TuiState, name: string): TuiState {
  const found = state.features.items.find((feature) => feature.name === name);
  if (!found) return state;
  const usual = ["tasks.md", "plan.md", "spec.md"].find((file) => found.files.includes(file));
  const opened = state.feature?.name === name ? state.feature : undefined;
  const document = usual ?? found.files[0];
  const feature = opened ?? { name, document, text: undefined, failure: undefined };
  return { ...patch(state, "features", { selected: name }), feature, screen: "feature" };
}

function openDocument(state: TuiState, document: string): TuiState {
  const { feature } = state;
  if (!feature) return state;
  return { ...state, feature: { ...feature, document, text: undefined, failure: undefined } };
}

function markCancelling(state: TuiState, id: string): TuiState {
  const runs = state.runs.map((run) =>
    run.id === id && run.state.kind === "running"
      ? { ...run, state: { kind: "cancelling" } as const }
      : run,
  );
  return { ...state, runs };
}

function updateQuestion(
  state: TuiState,
  intention: Extract<Intention, { kind: "fill question" | "answer question" }>,
): TuiState {
  const update = (form: Form): Form => {
    if (intention.kind === "fill question") return fillForm(form, intention.field, intention.text);
    return intention.action === "accept" ? showProblems(form) : form;
  };
  const questions = state.questions.map((question) =>
    question.id === intention.question ? { ...question, form: update(question.form) } : question,
  );
  return { ...state, questions };
}

/** Each tool's form keeps what was typed. */
function selectTool(state: TuiState, name: string | undefined): TuiState {
  const { items, selected, form: current, forms: kept } = state.tools;
  const forms = selected !== undefined && current ? { ...kept, [selected]: current } : kept;
  const tool = items.find((item) => item.name === name);
  const known = tool && Object.hasOwn(forms, tool.name) ? forms[tool.name] : undefined;
  const form = known ?? (tool && createForm(tool.inputSchema));
  return patch(state, "tools", { forms, form, selected: tool?.name });
}

function updateToolForm(state: TuiState, change: (form: Form) => Form): TuiState {
  const { form } = state.tools;
  return form ? patch(state, "tools", { form: change(form) }) : state;
}

function showProblems(form: Form): Form {
  const read = readForm(form);
  return { ...form, problems: "problems" in read ? read.problems : {} };
}
