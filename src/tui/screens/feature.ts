import { join } from "node:path";
import { type Line, textLine } from "../parts/line.ts";
import { markdownLines } from "../parts/markdown.ts";
import { failureLines } from "../parts/run.ts";
import { firstShown } from "../parts/table.ts";
import {
  type FeatureState,
  type FeatureView,
  stepNames,
  type TuiState,
  type WorkflowStep,
} from "../state.ts";
import {
  type BodyOptions,
  bindingsFrom,
  bodyRows,
  type KeyBinding,
  neighbour,
  on,
  type Screen,
  type Snapshot,
} from "../view.ts";
import { describeWorktree, nextStep, nextStepBinding, worktreeOf } from "./features.ts";

/** One feature: its documents and its next step. */
export const featureScreen: Screen = { name: "feature", title: "Feature", bindings, body };

const stepKeys: Readonly<Record<WorkflowStep, string>> = {
  specify: "y",
  clarify: "c",
  plan: "p",
  tasks: "t",
  implement: "i",
};
const headRows = 3;

function bindings({ state }: Snapshot): readonly KeyBinding[] {
  const back = on("esc", "all features", () => ({ kind: "go", screen: "features" }));
  const { feature: opened } = state;
  const feature = opened && viewOf(state, opened);
  if (!feature) return [back];
  const { document } = opened;
  const edit = (path: string) => () =>
    ({ kind: "edit file", path: join(feature.directory, path) }) as const;
  return bindingsFrom(
    nextStepBinding("s enter", feature),
    document !== undefined && on("e", "edit", edit(document)),
    back,
    documentBindings(feature, opened),
    // `specify` starts from a description, on the list.
    stepNames
      .slice(1)
      .map((step) =>
        on(stepKeys[step], step, () => ({ kind: "run step", feature: feature.name, step })),
      ),
    scrollBindings(state, opened),
  );
}

function viewOf({ features }: TuiState, { name }: FeatureState): FeatureView | undefined {
  return features.items.find((item) => item.name === name);
}

function documentBindings(
  { files }: FeatureView,
  { document }: FeatureState,
): readonly KeyBinding[] {
  const go = (step: number) => () => {
    const path = neighbour(files, (file) => file === document, step);
    if (path === undefined || path === document) return undefined;
    return { kind: "open document", path } as const;
  };
  return [on("right l", "next document", go(1)), on("left h", "previous document", go(-1))];
}

function scrollName({ name, document }: FeatureState): string {
  return `document ${name}/${document}`;
}

function scrollBindings(state: TuiState, feature: FeatureState): readonly KeyBinding[] {
  const page = bodyRows(state) - headRows - 1;
  const last = Math.max(0, markdownLines(feature.text ?? "", state.size.columns).length - page - 1);
  const at = Math.min(state.scrolls[scrollName(feature)] ?? 0, last);
  const to = (row: number) => () =>
    ({ kind: "scroll", view: scrollName(feature), to: Math.min(last, row) }) as const;
  return [
    on("down j", "line forward", to(at + 1)),
    on("up k", "line back", to(at - 1)),
    on("pagedown space", "page forward", to(at + page)),
    on("pageup b", "page back", to(at - page)),
    on("home g", "to the start", to(0)),
    on("end G", "to the end", to(last)),
  ];
}

function body({ state, columns, rows }: BodyOptions): readonly Line[] {
  const { feature: opened } = state;
  const feature = opened && viewOf(state, opened);
  if (!feature) return [textLine("No feature is open. Esc shows the list.", "quiet")];
  return [
    titleLine(feature, state),
    documentsLine(feature, opened, columns),
    [],
    ...documentLines(opened, state, { columns, rows: rows - headRows }),
  ];
}

function titleLine(feature: FeatureView, state: TuiState): Line {
  const { name, phase, tasks, branch, openQuestions } = feature;
  const more = [
    tasks && `${tasks.done}/${tasks.total} tasks`,
    openQuestions > 0 && `${openQuestions} open`,
    branch === undefined ? "no branch" : `branch ${branch}`,
    describeWorktree(worktreeOf(state, feature)),
  ].filter(Boolean);
  const isDone = phase === "done";
  return [
    { text: name, role: "title" },
    { text: "  " },
    { text: isDone ? "done" : `next: ${nextStep(feature)}`, role: isDone ? "good" : "accent" },
    { text: `  ${more.join(" · ")}`, role: "quiet" },
  ];
}

/** The open document, with its neighbours on both sides. */
function documentsLine({ files }: FeatureView, { document }: FeatureState, columns: number): Line {
  if (files.length === 0) return textLine("No documents yet.", "quiet");
  const width = Math.max(1, Math.floor(columns / 16));
  const first = firstShown(files.indexOf(document ?? ""), files.length, width);
  const names = files
    .slice(first, first + width)
    .flatMap(
      (file): Line => [
        file === document ? { text: `[${file}]`, role: "selected" } : { text: ` ${file} ` },
        { text: " " },
      ],
    );
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
  if (text === undefined) return document === undefined ? [] : [textLine("loading …", "quiet")];
  const all = markdownLines(text, columns);
  const at = Math.min(scrolls[scrollName(feature)] ?? 0, Math.max(0, all.length - rows));
  const left = all.length - at - rows;
  if (left <= 0) return all.slice(at, at + rows);
  return [...all.slice(at, at + rows - 1), textLine(`↓ ${left + 1} more lines`, "quiet")];
}
