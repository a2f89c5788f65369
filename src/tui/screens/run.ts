import { isObject } from "../../base/json.ts";
import { fitRows, type ScreenLine, textLine, wrapLines } from "../parts/line.ts";
import {
  isScrolledBack,
  outputBindings,
  outputLines,
  progressLine,
  runEndLines,
  runStateSpans,
} from "../parts/run.ts";
import { type FeatureView, findRun, isAtWork, type RunView, type TuiState } from "../state.ts";
import { bindingsFrom, bodyRows, type KeyBinding, neighbour, on, type Screen } from "../view.ts";
import { nextStepBinding } from "./features.ts";

/** One run: its output, progress and end. */
export const runScreen: Screen = {
  title: "Run",

  bindings({ state }) {
    const run = shownRun(state);
    if (!run) return [toFeatures];
    const page = Math.max(1, bodyRows(state) - 6);
    const cancel = on("esc", "cancel", () =>
      run.state.kind === "running" ? { kind: "cancel run", run: run.id } : undefined,
    );
    return bindingsFrom(
      isAtWork(run) ? cancel : endedBindings(run, state),
      otherRuns(state, run),
      outputBindings(run, state, { page, byLine: true }),
    );
  },

  body({ state, now, columns, rows }) {
    const run = shownRun(state);
    if (!run)
      return [textLine("Nothing has run yet. Press s on a feature to run its next step.", "quiet")];
    const head = [
      titleLine(run, state, now),
      progressOf(run, columns),
      textLine("─".repeat(columns), "quiet"),
    ];
    const foot = [...runEndLines(run, columns), ...logLines(run, state, columns)];
    const outputRows = Math.max(1, rows - head.length - foot.length);
    const output = outputLines(run, state, { columns, rows: outputRows });
    return [...head, ...fitRows(output, outputRows), ...foot];
  },
};

const toFeatures = on("esc", "features", { kind: "go", screen: "features" });

/** The selected run, or the newest. */
function shownRun(state: TuiState): RunView | undefined {
  return findRun(state, state.shownRun) ?? state.runs[0];
}

function endedBindings(run: RunView, state: TuiState): readonly KeyBinding[] {
  const feature = featureOf(run, state);
  const failure = "failure" in run.state ? run.state.failure : undefined;
  return bindingsFrom(
    feature && doneBinding(run, feature),
    feature && on("enter", "open the feature", { kind: "open feature", name: feature.name }),
    feature && nextStepBinding("s", feature),
    (!failure || failure.mayRetry) &&
      on("r", failure ? "retry" : "run again", { kind: "retry run", run: run.id }),
    toFeatures,
  );
}

/** Marks the tasks that were handed to the user as done and continues. */
function doneBinding(
  { tool, state, arguments: before }: RunView,
  { name }: FeatureView,
): KeyBinding | undefined {
  if (tool !== "speckit.implement" || state.kind !== "completed") return undefined;
  const { structuredContent } = state.result;
  const tasks = isObject(structuredContent) ? structuredContent.tasks : undefined;
  const completed = (Array.isArray(tasks) ? tasks.filter(isObject) : [])
    .map(({ id }) => id)
    .filter((id) => typeof id === "string");
  const [first] = completed;
  if (first === undefined) return undefined;
  const label =
    completed.length === 1
      ? `${first} is done, continue`
      : `${first} to ${completed.at(-1)} are done, continue`;
  const filter = before.task_filter;
  const args = { completed, ...(filter === undefined ? {} : { task_filter: filter }) };
  return on("d", label, {
    kind: "run step",
    feature: name,
    step: "implement",
    arguments: args,
    isConfirmed: true,
  });
}

/** A new feature gets its name from the server, and is then the active one. */
function featureOf(
  { tool, about }: RunView,
  { features: { items } }: TuiState,
): FeatureView | undefined {
  const named = items.find(({ name }) => name === about);
  return named ?? (tool === "speckit.specify" ? items.find(({ isActive }) => isActive) : undefined);
}

function otherRuns({ runs }: TuiState, { id }: RunView): readonly KeyBinding[] {
  if (runs.length < 2) return [];
  const go = (step: number) => () => {
    const next = neighbour(runs, (run) => run.id === id, step);
    return next && ({ kind: "show run", run: next.id } as const);
  };
  return [on("left", "newer run", go(-1)), on("right", "older run", go(1))];
}

function titleLine(run: RunView, { runs }: TuiState, now: number): ScreenLine {
  const position = runs.length > 1 ? `  (${runs.indexOf(run) + 1} of ${runs.length})` : "";
  return [
    { text: run.tool, role: "title" },
    { text: `  ${run.about}  ` },
    ...runStateSpans(run, now),
    { text: position, role: "quiet" },
  ];
}

function progressOf({ progress, state }: RunView, columns: number): ScreenLine {
  if (state.kind === "completed") return [];
  return progress ? progressLine(progress, columns) : textLine("no progress yet", "quiet");
}

/** Shows the whole path, so that it can be copied. */
function logLines(run: RunView, state: TuiState, columns: number): readonly ScreenLine[] {
  const text = run.logPath === undefined ? "no log" : `log: ${run.logPath}`;
  const path = wrapLines(text, columns, "quiet");
  if (!isScrolledBack(run, state)) return path;
  return [textLine("scrolled back: End follows the output again", "warning"), ...path];
}
