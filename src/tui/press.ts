import { type Editing, typeKey } from "./editing.ts";
import type { KeyPress } from "./keyboard.ts";
import { formEditing } from "./parts/form.ts";
import { formOf, questionBindings, questionFocus } from "./parts/question.ts";
import { screens } from "./screens/screens.ts";
import { type ScreenName, screensOf, type TuiState } from "./state.ts";
import { bindingsFrom, type KeyAction, type KeyBinding, on, type Snapshot } from "./view.ts";

/** The actions of a key. A confirmation has the keys first, then a question, help, and the screen. */
export function press(snapshot: Snapshot, key: KeyPress): readonly KeyAction[] {
  const editing = editingOf(snapshot);
  // Printable keys are text while something is typed.
  const isText = editing !== undefined && key.text !== undefined;
  const found = isText
    ? undefined
    : bindingsOf(snapshot).find(({ keys }) => keys.includes(key.name));
  if (found) return [found.run() ?? []].flat();
  return (editing && typeKey(editing, snapshot.view, key)) ?? [];
}

/** All active bindings, most important first. */
export function bindingsOf(snapshot: Snapshot): readonly KeyBinding[] {
  const own = ownBindings(snapshot);
  const taken = new Set(own.flatMap(({ keys }) => keys));
  const rest = globalBindings(snapshot).map((binding) => ({
    ...binding,
    keys: binding.keys.filter((key) => !taken.has(key)),
  }));
  return [...own, ...rest.filter(({ keys }) => keys.length > 0)];
}

/** The bindings of the layer that has the keys. */
export function ownBindings(snapshot: Snapshot): readonly KeyBinding[] {
  switch (layerOf(snapshot)) {
    case "confirmation":
      return [
        on("y enter", "yes", { kind: "confirm", isYes: true }),
        on("n esc", "no", { kind: "confirm", isYes: false }),
      ];
    case "question":
      return questionBindings(snapshot);
    case "help":
      return [on("esc ? f1", "close", { kind: "help", isShown: false })];
    case "screen":
      return screens[snapshot.state.screen].bindings(snapshot);
  }
}

export type KeyLayer = "confirmation" | "question" | "help" | "screen";

export function layerOf(snapshot: Snapshot): KeyLayer {
  const { state } = snapshot;
  if (state.confirmation) return "confirmation";
  if (isQuestionShown(snapshot)) return "question";
  return state.isHelpShown ? "help" : "screen";
}

/** The text field that has the keys. */
export function editingOf(snapshot: Snapshot): Editing | undefined {
  const { state, view } = snapshot;
  switch (layerOf(snapshot)) {
    case "confirmation":
    case "help":
      return undefined;
    case "question": {
      const [question] = state.questions;
      return question && formEditing(formOf(question), view);
    }
    case "screen":
      return screens[state.screen].editing?.(snapshot);
  }
}

/** A question does not interrupt typing; Ctrl-G brings it up. */
function isQuestionShown(snapshot: Snapshot): boolean {
  const { state, view } = snapshot;
  const [question] = state.questions;
  if (!question) return false;
  const typed = screens[state.screen].editing?.(snapshot)?.text ?? "";
  return typed === "" || view.focus[questionFocus] === question.id;
}

/** The visible question, unless the user brought it up; its keys are guarded. */
export function unexpectedQuestion(snapshot: Snapshot): string | undefined {
  const [question] = snapshot.state.questions;
  const isExpected = snapshot.view.focus[questionFocus] === question?.id;
  return layerOf(snapshot) === "question" && !isExpected ? question?.id : undefined;
}

/** A feature has no tab of its own; it is reached through the list. */
export function tabsOf(state: TuiState): readonly ScreenName[] {
  return screensOf(state).filter((name) => name !== "feature");
}

function globalBindings(snapshot: Snapshot): readonly KeyBinding[] {
  const { state } = snapshot;
  const quit = (keys: string): KeyBinding => on(keys, "quit", { kind: "quit" });
  const layer = layerOf(snapshot);
  if (layer !== "screen" && layer !== "help") return [quit("ctrl+c")];
  const tabs = tabsOf(state);
  const at = tabs.indexOf(state.screen === "feature" ? "features" : state.screen);
  const go = (screen: ScreenName | undefined) => screen && ({ kind: "go", screen } as const);
  return bindingsFrom(
    noticeBindings(state),
    on("? f1", "keys", { kind: "help", isShown: true }),
    on("tab", "next screen", go(tabs[(at + 1) % tabs.length])),
    on("shift+tab", "previous screen", go(tabs[(at - 1 + tabs.length) % tabs.length])),
    tabs.map((name, index) => on(`${index + 1} alt+${index + 1}`, screens[name].title, go(name))),
    state.connection.kind === "lost"
      ? on("ctrl+r", "connect now", { kind: "reconnect" })
      : on("ctrl+r", "reload", { kind: "refresh", screen: state.screen }),
    quit("q ctrl+c"),
  );
}

/** Keys for the notice line: a waiting question or the last notice. */
function noticeBindings({ questions: [question], notices }: TuiState): readonly KeyBinding[] {
  const notice = notices.at(-1);
  const retry = notice?.retry;
  return bindingsFrom(
    question &&
      on("ctrl+g", "answer the question", { kind: "focus", on: questionFocus, part: question.id }),
    notice && on("ctrl+x", "dismiss the notice", { kind: "dismiss", notice: notice.id }),
    notice && retry && on("ctrl+y", "retry", [{ kind: "dismiss", notice: notice.id }, retry]),
  );
}
