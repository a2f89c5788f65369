import { plural } from "../../base/text.ts";
import type { Editing } from "../editing.ts";
import { set } from "../events.ts";
import { textFieldLines } from "../parts/form.ts";
import { type Line, textLine } from "../parts/line.ts";
import { loadLines } from "../parts/run.ts";
import { type Column, tableLines } from "../parts/table.ts";
import type { FeatureView, TuiState, Worktree } from "../state.ts";
import { bindingsFrom, type KeyBinding, on, type Screen, selectBindings } from "../view.ts";

/** All features of the project, with their next steps and worktrees. */
export const featuresScreen: Screen = {
  title: "Features",

  bindings({ state }) {
    const { draft, items, selected } = state.features;
    if (draft !== undefined)
      return [
        on("enter", "create the feature", { kind: "specify" }),
        on("esc", "discard", set("features", { draft: undefined })),
      ];
    const feature = selectedFeature(state);
    return bindingsFrom(
      feature && on("enter", "open", { kind: "open feature", name: feature.name }),
      on("n", "new feature", set("features", { draft: "" })),
      feature && nextStepBinding("s", feature),
      feature && worktreeBindings(state, feature),
      selectBindings(items, ({ name }) => name === selected, {
        select: ({ name }) => set("features", { selected: name }),
      }),
    );
  },

  editing: ({ state }) => draftField(state),

  body({ state, view, columns, rows }) {
    const { items, selected, missing, load } = state.features;
    const field = draftField(state);
    const placeholder = "a description in plain words";
    const layout = { label: "> ", view, columns, rows: draftRows, placeholder };
    const below = [
      ...detailLines(state),
      ...missingLines(missing),
      ...loadLines(load, columns),
      ...(field ? [draftTitle, ...textFieldLines(field, layout)] : []),
    ];
    const none = "No features yet. Press n and describe the first one.";
    const table = tableLines({
      columns: columnsOf(state, columns),
      items,
      isSelected: ({ name }) => name === selected,
      width: columns,
      rows: Math.max(2, rows - below.length - 1),
      empty: load.kind === "loaded" ? none : "",
    });
    return [...table, [], ...below];
  },
};

const draftRows = 5;
const draftTitle = textLine("What should the feature do, for whom, and why?", "strong");

function draftField({ features: { draft } }: TuiState): Editing | undefined {
  if (draft === undefined) return undefined;
  return { id: "draft", text: draft, change: (text) => set("features", { draft: text }) };
}

function selectedFeature({ features: { items, selected } }: TuiState): FeatureView | undefined {
  return items.find(({ name }) => name === selected);
}

export function worktreeOf({ worktrees }: TuiState, { branch }: FeatureView): Worktree | undefined {
  if (branch === undefined) return undefined;
  return worktrees.items.find((worktree) => worktree.branch === branch);
}

function worktreeBindings(state: TuiState, feature: FeatureView): readonly KeyBinding[] {
  const worktree = worktreeOf(state, feature);
  const isElsewhere = state.features.folder !== state.target.folder;
  return bindingsFrom(
    on("w", "use its worktree", { kind: "switch worktree", feature: feature.name }),
    isElsewhere && on("m", "use the main folder", { kind: "switch worktree", feature: undefined }),
    worktree &&
      !worktree.isMain &&
      on("d", "delete its worktree", { kind: "delete worktree", path: worktree.path }),
  );
}

export function nextStepBinding(keys: string, feature: FeatureView): KeyBinding | undefined {
  if (feature.phase === "done") return undefined;
  return on(keys, `next step: ${nextStep(feature)}`, { kind: "run step", feature: feature.name });
}

export function nextStep({ phase, run }: FeatureView): string {
  return run && !run.isAtWork ? `resume ${run.step}` : phase;
}

function columnsOf(state: TuiState, width: number): readonly Column<FeatureView>[] {
  const isWide = width >= 100;
  const shortName = ({ name, number }: FeatureView): string =>
    name.startsWith(`${number}-`) ? name.slice(number.length + 1) : name;
  return [
    { title: "No.", width: 4, text: ({ number, isActive }) => number + (isActive ? "*" : "") },
    { title: "feature", text: shortName },
    { title: "branch", width: isWide ? 30 : 18, text: ({ branch }) => branch ?? "none" },
    {
      title: "next step",
      width: 10,
      text: "phase",
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
  const distance = `${ahead ? ` ↑${ahead}` : ""}${behind ? ` ↓${behind}` : ""}`;
  return `${isCurrent ? "*" : ""}${isDirty ? "dirty" : "clean"}${distance}`;
}

function detailLines(state: TuiState): readonly Line[] {
  const folder: Line = [
    { text: "working folder: ", role: "quiet" },
    { text: state.features.folder },
  ];
  const feature = selectedFeature(state);
  if (!feature) return [folder];
  const { run, openQuestions } = feature;
  const running = run?.isAtWork && `${run.step} is running`;
  const interrupted = run && !run.isAtWork && `${run.step} was interrupted; s resumes it`;
  const open = openQuestions > 0 && plural(openQuestions, "open question");
  const notes = [running, interrupted, open].filter((text) => typeof text === "string");
  return [folder, ...notes.map((text) => textLine(text, "warning"))];
}

function missingLines(missing: readonly string[]): readonly Line[] {
  if (missing.length === 0) return [];
  const text = `! The server does not offer ${missing.join(", ")}; those steps cannot run.`;
  return [textLine(text, "warning")];
}
