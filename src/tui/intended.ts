import { createForm, fillForm, readForm } from "./form.ts";
import type { Intention } from "./intentions.ts";
import { hallScreens, type ScreenName, type TuiState } from "./state.ts";

/** What an intention changes at once, before anything is done about it: screens, selections, what is typed. */
export function intend(state: TuiState, intention: Intention): TuiState {
  switch (intention.kind) {
    case "go":
      return go(state, intention.screen);
    case "resize":
      return { ...state, size: intention.size };
    case "help":
      return { ...state, isHelpShown: intention.isShown };
    case "scroll":
      return {
        ...state,
        scrolls: { ...state.scrolls, [intention.view]: Math.max(0, intention.to) },
      };
    case "dismiss":
      return { ...state, notices: state.notices.filter(({ id }) => id !== intention.notice) };
    case "quit":
      return quit(state);
    case "confirm":
      return {
        ...state,
        confirmation: undefined,
        isQuitting: intention.isYes && state.confirmation?.intention.kind === "quit",
      };
    case "select feature":
      return { ...state, features: { ...state.features, selected: intention.name } };
    case "draft feature":
      return { ...state, features: { ...state.features, draft: intention.text } };
    case "open feature":
      return openFeature(state, intention.name);
    case "open document":
      return state.feature
        ? {
            ...state,
            feature: {
              ...state.feature,
              document: intention.path,
              text: undefined,
              failure: undefined,
            },
          }
        : state;
    case "show run":
      return { ...state, shownRun: intention.run, screen: "run" };
    case "cancel run":
      return markCancelling(state, intention.run);
    case "fill question":
    case "answer question":
      return intendQuestion(state, intention);
    case "search tools":
      return { ...state, tools: { ...state.tools, search: intention.text } };
    case "select tool":
      return selectTool(state, intention.name);
    case "fill tool":
      return withToolForm(state, (form) => fillForm(form, intention.field, intention.text));
    case "call tool":
      return withToolForm(state, showProblems);
    case "select agent":
      return { ...state, agents: { ...state.agents, selected: intention.name } };
    case "type task":
      return { ...state, agents: { ...state.agents, task: intention.text } };
    case "type lisp":
      return { ...state, lisp: { ...state.lisp, input: intention.text } };
    case "lisp mode":
      return { ...state, lisp: { ...state.lisp, mode: intention.mode } };
    case "select server":
      return { ...state, servers: { ...state.servers, selected: intention.name } };
    case "hide logs":
      return { ...state, servers: { ...state.servers, logs: undefined } };
    case "select approval":
      return { ...state, approvals: { ...state.approvals, selected: intention.token } };
    // Nothing is seen of these before they are done.
    case "refresh":
    case "reconnect":
    case "open page":
    case "specify":
    case "run step":
    case "retry run":
    case "ask agent":
    case "evaluate":
    case "restart server":
    case "show logs":
    case "approve":
    case "switch worktree":
    case "delete worktree":
      return state;
  }
}

/** A slip of a key must not end what runs; whoever says it twice means it. */
function quit(state: TuiState): TuiState {
  const running = state.runs
    .filter(({ state: { kind } }) => kind === "running" || kind === "cancelling")
    .map(({ tool }) => tool);
  if (running.length === 0 || state.confirmation?.intention.kind === "quit")
    return { ...state, isQuitting: true };
  const message = `${running.join(", ")} ${running.length === 1 ? "is" : "are"} still running. Quit, and cancel ${running.length === 1 ? "it" : "them"}?`;
  return { ...state, confirmation: { message, intention: { kind: "quit" } } };
}

/** What was only told is old on the next screen; what went wrong stays until somebody has seen to it. */
function go(state: TuiState, screen: ScreenName): TuiState {
  if (state.target.kind !== "hall" && hallScreens.includes(screen)) return state;
  return {
    ...state,
    screen,
    isHelpShown: false,
    notices: state.notices.filter(({ level }) => level !== "info"),
  };
}

/** On its first document: the one the next step would read. */
function openFeature(state: TuiState, name: string): TuiState {
  const found = state.features.items.find((feature) => feature.name === name);
  if (!found) return state;
  const document =
    ["tasks.md", "plan.md", "spec.md"].find((file) => found.files.includes(file)) ?? found.files[0];
  const isSame = state.feature?.name === name;
  const feature =
    isSame && state.feature
      ? state.feature
      : { name, document, text: undefined, failure: undefined };
  return { ...state, feature, features: { ...state.features, selected: name }, screen: "feature" };
}

function markCancelling(state: TuiState, id: string): TuiState {
  const runs = state.runs.map((run) =>
    run.id === id && run.state.kind === "running"
      ? { ...run, state: { kind: "cancelling" } as const }
      : run,
  );
  return { ...state, runs };
}

function intendQuestion(
  state: TuiState,
  intention: Extract<Intention, { kind: "fill question" | "answer question" }>,
): TuiState {
  const questions = state.questions.map((question) => {
    if (question.id !== intention.question) return question;
    if (intention.kind === "fill question")
      return { ...question, form: fillForm(question.form, intention.field, intention.text) };
    return intention.action === "accept"
      ? { ...question, form: showProblems(question.form) }
      : question;
  });
  return { ...state, questions };
}

/** Forms stay as they were left. */
function selectTool(state: TuiState, name: string | undefined): TuiState {
  const { tools } = state;
  const forms =
    tools.selected !== undefined && tools.form
      ? { ...tools.forms, [tools.selected]: tools.form }
      : tools.forms;
  const tool = tools.items.find((item) => item.name === name);
  const form =
    tool &&
    ((Object.hasOwn(forms, tool.name) ? forms[tool.name] : undefined) ??
      createForm(tool.inputSchema));
  return { ...state, tools: { ...tools, forms, form, selected: tool?.name } };
}

function withToolForm(
  state: TuiState,
  change: (form: NonNullable<TuiState["tools"]["form"]>) => NonNullable<TuiState["tools"]["form"]>,
): TuiState {
  const { form } = state.tools;
  return form ? { ...state, tools: { ...state.tools, form: change(form) } } : state;
}

function showProblems(
  form: NonNullable<TuiState["tools"]["form"]>,
): NonNullable<TuiState["tools"]["form"]> {
  const read = readForm(form);
  return { ...form, problems: "problems" in read ? read.problems : {} };
}
