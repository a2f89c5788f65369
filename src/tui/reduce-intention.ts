import type { Intention, Section } from "./events.ts";
import { createForm, type Form, fillForm, readForm } from "./form.ts";
import { hallScreens, isAtWork, type ScreenName, type TuiState } from "./state.ts";

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

export function patch<S extends Section>(
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
