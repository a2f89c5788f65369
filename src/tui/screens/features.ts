import type { Line } from "../parts/line.ts";
import { loadLines } from "../parts/run-state.ts";
import { type Column, tableLines } from "../parts/table.ts";
import { textFieldLines } from "../parts/text-field.ts";
import type { FeatureView, TuiState, Worktree } from "../state.ts";
import { type Binding, cursorOf, type Moment, on } from "../view.ts";
import { type BodyProps, neighbour, type Screen } from "./screen.ts";

/** All features of the project: where each stands, and where it is worked on. */
export const featuresScreen: Screen = {
  name: "features",
  title: "Features",
  bindings,
  editing,
  body,
};

const draftId = "draft";
const draftRows = 5;

function selectedFeature({ features: { items, selected } }: TuiState): FeatureView | undefined {
  return items.find(({ name }) => name === selected);
}

export function worktreeOf({ worktrees }: TuiState, { branch }: FeatureView): Worktree | undefined {
  return branch === undefined
    ? undefined
    : worktrees.items.find((worktree) => worktree.branch === branch);
}

function bindings({ state }: Moment): readonly Binding[] {
  const { draft } = state.features;
  if (draft !== undefined) {
    return [
      on("enter", "specify it", () => ({ kind: "specify" })),
      on("esc", "give it up", () => ({ kind: "draft feature", text: undefined })),
    ];
  }
  const [open, ...rest] = selectionBindings(state);
  return [
    ...(open ? [open] : []),
    on("n", "new feature", () => ({ kind: "draft feature", text: "" })),
    ...rest,
    ...move(state),
  ];
}

function selectionBindings(state: TuiState): readonly Binding[] {
  const feature = selectedFeature(state);
  if (!feature) return [];
  const worktree = worktreeOf(state, feature);
  return [
    on("enter", "open", () => ({ kind: "open feature", name: feature.name })),
    ...(feature.phase === "done"
      ? []
      : [
          on("s", `next step: ${nextStep(feature)}`, () => ({
            kind: "run step",
            feature: feature.name,
          })),
        ]),
    on("w", "work in its worktree", () => ({ kind: "switch worktree", feature: feature.name })),
    ...(state.features.folder === state.target.folder
      ? []
      : [
          on("m", "work in the main folder", () => ({
            kind: "switch worktree",
            feature: undefined,
          })),
        ]),
    ...(worktree && !worktree.isMain
      ? [on("d", "delete its worktree", () => ({ kind: "delete worktree", path: worktree.path }))]
      : []),
  ];
}

/** What goes on where it stopped is called so. */
export function nextStep({ phase, run }: FeatureView): string {
  return run && !run.isAtWork ? `go on with ${run.step}` : phase;
}

function move({ features: { items, selected } }: TuiState): readonly Binding[] {
  const go = (step: number) => () => {
    const next = neighbour(items, ({ name }) => name === selected, step);
    return next && ({ kind: "select feature", name: next.name } as const);
  };
  return [on("up k", "up", go(-1)), on("down j", "down", go(1))];
}

function editing({ state: { features } }: Moment): ReturnType<NonNullable<Screen["editing"]>> {
  return features.draft === undefined
    ? undefined
    : { id: draftId, text: features.draft, change: (text) => ({ kind: "draft feature", text }) };
}

function body({ state, view, columns, rows }: BodyProps): readonly Line[] {
  const { features } = state;
  const below = [
    ...detailLines(state),
    ...missingLines(features.missing),
    ...loadLines(features.load, columns),
  ];
  const draft = features.draft;
  const field =
    draft === undefined
      ? []
      : draftLines(draft, cursorOf(view, { id: draftId, text: draft }), columns);
  const tableRows = Math.max(2, rows - below.length - field.length - 1);
  const table = tableLines({
    columns: columnsOf(state, columns),
    items: features.items,
    isSelected: ({ name }) => name === features.selected,
    width: columns,
    rows: tableRows,
    empty:
      features.load.kind === "loaded" ? "No features yet. Press n and describe the first one." : "",
  });
  return [...table, [], ...below, ...field];
}

function draftLines(draft: string, cursor: number, columns: number): readonly Line[] {
  return [
    [{ text: "What should it do, and for whom? Why is it wanted?", role: "strong" }],
    ...textFieldLines({
      label: "> ",
      text: draft,
      cursor,
      columns,
      rows: draftRows,
      placeholder: "a description in plain words",
    }),
  ];
}

function columnsOf(state: TuiState, width: number): readonly Column<FeatureView>[] {
  const isWide = width >= 100;
  return [
    { title: "No.", width: 4, text: ({ number, isActive }) => number + (isActive ? "*" : "") },
    {
      title: "feature",
      text: ({ name, number }) =>
        name.startsWith(`${number}-`) ? name.slice(number.length + 1) : name,
    },
    { title: "branch", width: isWide ? 30 : 18, text: ({ branch }) => branch ?? "none" },
    {
      title: "next step",
      width: 10,
      text: ({ phase }) => phase,
      role: ({ phase }) => (phase === "done" ? "good" : "accent"),
    },
    {
      title: "tasks",
      width: 7,
      side: "left",
      text: ({ tasks }) => (tasks ? `${tasks.done}/${tasks.total}` : ""),
    },
    {
      title: "worktree",
      width: isWide ? 16 : 12,
      text: (feature) => describeWorktree(worktreeOf(state, feature)),
    },
  ];
}

export function describeWorktree(worktree: Worktree | undefined): string {
  if (!worktree) return "";
  const { isDirty, ahead, behind, isCurrent } = worktree;
  const against = `${ahead ? ` ↑${ahead}` : ""}${behind ? ` ↓${behind}` : ""}`;
  return `${isCurrent ? "*" : ""}${isDirty ? "dirty" : "clean"}${against}`;
}

function detailLines(state: TuiState): readonly Line[] {
  const feature = selectedFeature(state);
  const folder: Line = [{ text: "steps work in ", role: "quiet" }, { text: state.features.folder }];
  if (!feature) return [folder];
  const { run, openQuestions } = feature;
  const said = [
    ...(run
      ? [run.isAtWork ? `${run.step} is at work on it` : `${run.step} did not finish; s goes on`]
      : []),
    ...(openQuestions > 0
      ? [`${openQuestions} open question${openQuestions === 1 ? "" : "s"}`]
      : []),
  ];
  return [folder, ...said.map((text): Line => [{ text, role: "warning" }])];
}

function missingLines(missing: readonly string[]): readonly Line[] {
  return missing.length === 0
    ? []
    : [
        [
          {
            text: `! The server does not offer ${missing.join(", ")}: those steps cannot run here.`,
            role: "warning",
          },
        ],
      ];
}
