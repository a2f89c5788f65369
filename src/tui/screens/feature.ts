import { join } from "node:path";
import type { Line } from "../parts/line.ts";
import { markdownLines } from "../parts/markdown.ts";
import { failureLines } from "../parts/run-state.ts";
import { firstShown } from "../parts/table.ts";
import {
  type FeatureState,
  type FeatureView,
  type StepName,
  stepNames,
  type TuiState,
} from "../state.ts";
import { type Binding, type Moment, on } from "../view.ts";
import { describeWorktree, nextStep, worktreeOf } from "./features.ts";
import { type BodyProps, bodyRows, neighbour, type Screen } from "./screen.ts";

/** One feature: its documents as they read, and the next step. */
export const featureScreen: Screen = { name: "feature", title: "Feature", bindings, body };

const stepKeys: Readonly<Record<StepName, string>> = {
  specify: "y",
  clarify: "c",
  plan: "p",
  tasks: "t",
  implement: "i",
};
const headRows = 3;

function bindings({ state }: Moment): readonly Binding[] {
  const back = on("esc", "all features", () => ({ kind: "go", screen: "features" }));
  const { feature: opened } = state;
  const feature = opened && viewOf(state, opened);
  if (!feature) return [back];
  const { document } = opened;
  return [
    ...(feature.phase === "done"
      ? []
      : [
          on("s enter", `next step: ${nextStep(feature)}`, () => ({
            kind: "run step",
            feature: feature.name,
          })),
        ]),
    ...(document === undefined
      ? []
      : [on("e", "edit", () => ({ kind: "edit file", path: join(feature.directory, document) }))]),
    back,
    ...documentBindings(feature, opened),
    // A feature is specified from its description, on the list.
    ...stepNames
      .slice(1)
      .map((step) =>
        on(stepKeys[step], step, () => ({ kind: "run step", feature: feature.name, step })),
      ),
    ...scrollBindings(state, opened),
  ];
}

function viewOf({ features }: TuiState, { name }: FeatureState): FeatureView | undefined {
  return features.items.find((item) => item.name === name);
}

function documentBindings({ files }: FeatureView, { document }: FeatureState): readonly Binding[] {
  const go = (step: number) => () => {
    const next = neighbour(files, (file) => file === document, step);
    return next === undefined || next === document
      ? undefined
      : ({ kind: "open document", path: next } as const);
  };
  return [on("right l", "next document", go(1)), on("left h", "previous document", go(-1))];
}

function scrollName({ name, document }: FeatureState): string {
  return `document ${name}/${document}`;
}

function scrollBindings(state: TuiState, feature: FeatureState): readonly Binding[] {
  const page = bodyRows(state) - headRows - 1;
  const last = Math.max(0, markdownLines(feature.text ?? "", state.size.columns).length - page - 1);
  const at = Math.min(state.scrolls[scrollName(feature)] ?? 0, last);
  const to = (row: number) => () =>
    ({ kind: "scroll", view: scrollName(feature), to: Math.min(last, row) }) as const;
  return [
    on("down j", "line on", to(at + 1)),
    on("up k", "line back", to(at - 1)),
    on("pagedown space", "page on", to(at + page)),
    on("pageup b", "page back", to(at - page)),
    on("home g", "to the start", to(0)),
    on("end G", "to the end", to(last)),
  ];
}

function body({ state, columns, rows }: BodyProps): readonly Line[] {
  const { feature: opened } = state;
  const feature = opened && viewOf(state, opened);
  if (!feature) return [[{ text: "No feature is open. Esc leads to the list.", role: "quiet" }]];
  return [
    titleLine(feature, state),
    documentsLine(feature, opened, columns),
    [],
    ...documentLines(opened, state, { columns, rows: rows - headRows }),
  ];
}

function titleLine(feature: FeatureView, state: TuiState): Line {
  const { name, phase, tasks, branch, openQuestions } = feature;
  const worktree = describeWorktree(worktreeOf(state, feature));
  const more = [
    ...(tasks ? [`${tasks.done}/${tasks.total} tasks`] : []),
    ...(openQuestions > 0 ? [`${openQuestions} open`] : []),
    branch === undefined ? "no branch" : `branch ${branch}`,
    ...(worktree === "" ? [] : [worktree]),
  ];
  const next = phase === "done" ? "done" : `next: ${nextStep(feature)}`;
  return [
    { text: name, role: "title" },
    { text: "  " },
    { text: next, role: phase === "done" ? "good" : "accent" },
    { text: `  ${more.join(" · ")}`, role: "quiet" },
  ];
}

/** The open document in the middle of the others. */
function documentsLine({ files }: FeatureView, { document }: FeatureState, columns: number): Line {
  if (files.length === 0) return [{ text: "It has no documents yet.", role: "quiet" }];
  const width = Math.max(1, Math.floor(columns / 16));
  const first = firstShown(files.indexOf(document ?? ""), files.length, width);
  const shown = files.slice(first, first + width);
  const names = shown.flatMap((file) => [
    file === document ? ({ text: `[${file}]`, role: "selected" } as const) : { text: ` ${file} ` },
    { text: " " },
  ]);
  return [
    { text: first > 0 ? "‹ " : "", role: "quiet" },
    ...names,
    { text: first + width < files.length ? "›" : "", role: "quiet" },
  ];
}

function documentLines(
  feature: FeatureState,
  { scrolls }: TuiState,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly Line[] {
  const { text, failure, document } = feature;
  if (failure) return failureLines(failure, columns);
  if (text === undefined)
    return [[{ text: document === undefined ? "" : "reading …", role: "quiet" }]];
  const all = markdownLines(text, columns);
  const at = Math.min(scrolls[scrollName(feature)] ?? 0, Math.max(0, all.length - rows));
  const left = all.length - at - rows;
  return left > 0 ? [...all.slice(at, at + rows - 1), more(left + 1)] : all.slice(at, at + rows);
}

function more(lines: number): Line {
  return [{ text: `↓ ${lines} more lines`, role: "quiet" }];
}
