import { isObject } from "../../base/json.ts";
import { fitRows, type Line } from "../parts/line.ts";
import { isScrolledBack, outputBindings, outputLines } from "../parts/output.ts";
import { progressLine } from "../parts/progress.ts";
import { isAtWork, runEndLines, runStateLine } from "../parts/run-state.ts";
import { wrap } from "../parts/width.ts";
import { type FeatureView, findRun, type RunView, type TuiState } from "../state.ts";
import { type Binding, type Moment, on } from "../view.ts";
import { nextStep } from "./features.ts";
import { type BodyProps, bodyRows, neighbour, type Screen } from "./screen.ts";

/** One run as it goes: what it says, how far it is, how it ended. */
export const runScreen: Screen = { name: "run", title: "Run", bindings, body };

/** The one that was chosen, or the newest. */
function shownRun(state: TuiState): RunView | undefined {
  return findRun(state, state.shownRun) ?? state.runs[0];
}

function bindings({ state }: Moment): readonly Binding[] {
  const run = shownRun(state);
  if (!run) return [on("esc", "features", () => ({ kind: "go", screen: "features" }))];
  return [
    ...lifeBindings(run, state),
    ...otherRuns(state, run),
    ...outputBindings(run, state, { page: pageOf(state), byLine: true }),
  ];
}

function pageOf(state: TuiState): number {
  return Math.max(1, bodyRows(state) - 6);
}

function lifeBindings(run: RunView, state: TuiState): readonly Binding[] {
  if (isAtWork(run))
    return [
      on("esc", "cancel", () =>
        run.state.kind === "running" ? { kind: "cancel run", run: run.id } : undefined,
      ),
    ];
  const feature = featureOf(run, state);
  const mayRetry = "failure" in run.state ? run.state.failure.mayRetry : true;
  return [
    ...(feature ? doneBindings(run, feature) : []),
    ...(feature
      ? [on("enter", "open the feature", () => ({ kind: "open feature", name: feature.name }))]
      : []),
    ...(feature && feature.phase !== "done"
      ? [
          on("s", `next step: ${nextStep(feature)}`, () => ({
            kind: "run step",
            feature: feature.name,
          })),
        ]
      : []),
    ...(mayRetry
      ? [
          on("r", "failure" in run.state ? "retry" : "run again", () => ({
            kind: "retry run",
            run: run.id,
          })),
        ]
      : []),
    on("esc", "features", () => ({ kind: "go", screen: "features" })),
  ];
}

/** Tasks that were given back are a person's: one key says that they are done, and goes on. */
function doneBindings({ tool, state }: RunView, feature: FeatureView): readonly Binding[] {
  const told =
    tool === "speckit.implement" && state.kind === "completed"
      ? state.result.structuredContent
      : undefined;
  const tasks = isObject(told) && Array.isArray(told.tasks) ? told.tasks.filter(isObject) : [];
  const completed = tasks.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
  if (completed.length === 0) return [];
  const says =
    completed.length === 1
      ? `${completed[0]} is done, go on`
      : `${completed[0]} to ${completed.at(-1)} are done, go on`;
  return [
    on("d", says, () => ({
      kind: "run step",
      feature: feature.name,
      step: "implement",
      arguments: { completed },
    })),
  ];
}

/** What it was about; a new feature has its name only when it is there, and is then the one worked on. */
function featureOf(
  { tool, about }: RunView,
  { features: { items } }: TuiState,
): FeatureView | undefined {
  return (
    items.find(({ name }) => name === about) ??
    (tool === "speckit.specify" ? items.find(({ isActive }) => isActive) : undefined)
  );
}

function otherRuns({ runs }: TuiState, { id }: RunView): readonly Binding[] {
  if (runs.length < 2) return [];
  const go = (step: number) => () => {
    const next = neighbour(runs, (run) => run.id === id, step);
    return next && ({ kind: "show run", run: next.id } as const);
  };
  return [on("left", "newer run", go(-1)), on("right", "older run", go(1))];
}

function body({ state, now, columns, rows }: BodyProps): readonly Line[] {
  const run = shownRun(state);
  if (!run) {
    const text = "Nothing has been run yet. s on a feature runs its next step.";
    return [[{ text, role: "quiet" }]];
  }
  const head = [titleLine(run, state, now), progressOf(run, columns)];
  const foot = [...runEndLines(run, columns), ...logLines(run, state, columns)];
  const outputRows = Math.max(1, rows - head.length - foot.length - 1);
  return [
    ...head,
    [{ text: "─".repeat(columns), role: "quiet" }],
    ...fitRows(outputLines(run, state, { columns, rows: outputRows }), outputRows),
    ...foot,
  ];
}

function titleLine(run: RunView, { runs }: TuiState, now: number): Line {
  const at = runs.length > 1 ? `  (${runs.indexOf(run) + 1} of ${runs.length})` : "";
  return [
    { text: run.tool, role: "title" },
    { text: `  ${run.about}  ` },
    ...runStateLine(run, now),
    { text: at, role: "quiet" },
  ];
}

function progressOf({ progress, state }: RunView, columns: number): Line {
  // What is done is done, whatever was told last.
  if (state.kind === "completed") return [];
  return progress
    ? progressLine(progress, columns)
    : [{ text: "no progress told yet", role: "quiet" }];
}

/** The whole path, so that it can be copied. */
function logLines(run: RunView, state: TuiState, columns: number): readonly Line[] {
  const path = wrap(run.logPath === undefined ? "no log" : `log: ${run.logPath}`, columns).map(
    (text): Line => [{ text, role: "quiet" }],
  );
  return isScrolledBack(run, state)
    ? [[{ text: "scrolled back: End follows again", role: "warning" }], ...path]
    : path;
}
