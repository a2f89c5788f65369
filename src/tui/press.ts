import type { Editing } from "./editing.ts";
import { formEditing } from "./form-keys.ts";
import type { Key } from "./keyboard.ts";
import { formOf, questionBindings, questionFocus } from "./question.ts";
import { screens } from "./screens/screens.ts";
import { type ScreenName, screensOf, type TuiState } from "./state.ts";
import { type Act, type Binding, type Moment, on, type } from "./view.ts";

/** What a key leads to. Whoever asks first has the keys: a confirmation, a question of a server, help, then the screen. */
export function press(moment: Moment, key: Key): readonly Act[] {
  const editing = editingOf(moment);
  const bindings = bindingsOf(moment);
  const isHeard = (name: string): boolean =>
    editing === undefined || key.text === undefined || isCommand(name, editing);
  const found = bindings.find(({ keys }) =>
    keys.some((name) => name === key.name && isHeard(name)),
  );
  if (found) return [found.act() ?? []].flat();
  return (editing && type(editing, moment.view, key)) ?? [];
}

/** What is no text yet although a text could begin with it. */
function isCommand(name: string, { text, isSearch = false }: Editing): boolean {
  return text === "" && (name === "?" || (isSearch && /^[1-9]$/.test(name)));
}

/** All that keys do at this moment, the most wanted first. Help shows the same. */
export function bindingsOf(moment: Moment): readonly Binding[] {
  const own = ownBindings(moment);
  // What a screen has a key for, nothing else is told of.
  const taken = new Set(own.flatMap(({ keys }) => keys));
  const rest = everywhere(moment).map((binding) => ({
    ...binding,
    keys: binding.keys.filter((key) => !taken.has(key)),
  }));
  return [...own, ...rest.filter(({ keys }) => keys.length > 0)];
}

/** Those of whatever has the keys. */
export function ownBindings(moment: Moment): readonly Binding[] {
  const { state } = moment;
  switch (layerOf(moment)) {
    case "confirmation":
      return [
        on("y enter", "yes", () => ({ kind: "confirm", isYes: true })),
        on("n esc", "no", () => ({ kind: "confirm", isYes: false })),
      ];
    case "question":
      return questionBindings(moment);
    case "help":
      return [on("esc ? f1 q", "close", () => ({ kind: "help", isShown: false }))];
    case "screen":
      return screens[state.screen].bindings(moment);
  }
}

export type Layer = "confirmation" | "question" | "help" | "screen";

export function layerOf(moment: Moment): Layer {
  const { state } = moment;
  if (state.confirmation) return "confirmation";
  if (isQuestionShown(moment)) return "question";
  return state.isHelpShown ? "help" : "screen";
}

/** The text that is being typed. */
export function editingOf(moment: Moment): Editing | undefined {
  const { state, view } = moment;
  switch (layerOf(moment)) {
    case "confirmation":
    case "help":
      return undefined;
    case "question": {
      const [question] = state.questions;
      return question && formEditing(formOf(question), view);
    }
    case "screen":
      return screens[state.screen].editing?.(moment);
  }
}

/** A question does not come between a person and what they are typing: it waits until it is called. */
function isQuestionShown(moment: Moment): boolean {
  const { state, view } = moment;
  const [question] = state.questions;
  if (!question) return false;
  const typed = screens[state.screen].editing?.(moment)?.text ?? "";
  return typed === "" || view.focus[questionFocus] === question.id;
}

/** The question that has the keys without having been called for. */
export function surprisingQuestion(moment: Moment): string | undefined {
  const [question] = moment.state.questions;
  return question &&
    layerOf(moment) === "question" &&
    moment.view.focus[questionFocus] !== question.id
    ? question.id
    : undefined;
}

/** Screens with a tab of their own; a feature is behind the list of them. */
export function tabsOf(state: TuiState): readonly ScreenName[] {
  return screensOf(state).filter((name) => name !== "feature");
}

function everywhere(moment: Moment): readonly Binding[] {
  const { state } = moment;
  const quit = (keys: string): Binding => on(keys, "quit", () => ({ kind: "quit" }));
  if (layerOf(moment) !== "screen") return [quit("ctrl+c")];
  const tabs = tabsOf(state);
  const go = (screen: ScreenName | undefined) => () => screen && ({ kind: "go", screen } as const);
  const at = tabs.indexOf(state.screen === "feature" ? "features" : state.screen);
  return [
    ...waiting(moment),
    on("? f1", "keys", () => ({ kind: "help", isShown: true })),
    on("tab", "next screen", go(tabs[(at + 1) % tabs.length])),
    on("shift+tab", "previous screen", go(tabs[(at - 1 + tabs.length) % tabs.length])),
    ...tabs.map((name, index) =>
      on(`${index + 1} alt+${index + 1}`, screens[name].title, go(name)),
    ),
    state.connection.kind === "lost"
      ? on("ctrl+r", "connect now", () => ({ kind: "reconnect" }))
      : on("ctrl+r", "read again", () => ({ kind: "refresh", screen: state.screen })),
    quit("q ctrl+c"),
  ];
}

/** What stands in the line below a screen until somebody does something about it. */
function waiting({ state }: Moment): readonly Binding[] {
  const [question] = state.questions;
  const notice = state.notices.at(-1);
  const retry = notice?.retry;
  return [
    ...(question
      ? [
          on("ctrl+g", "answer the question", () => ({
            kind: "focus",
            on: questionFocus,
            part: question.id,
          })),
        ]
      : []),
    ...(notice
      ? [on("ctrl+x", "dismiss the notice", () => ({ kind: "dismiss", notice: notice.id }))]
      : []),
    ...(notice && retry
      ? [on("ctrl+y", "try it again", () => [{ kind: "dismiss", notice: notice.id }, retry])]
      : []),
  ];
}
