import { plural } from "../../base/text.ts";
import type { Editing } from "../editing.ts";
import { type Change, set } from "../events.ts";
import { textFieldLines } from "../parts/form.ts";
import { type ScreenLine, textLine } from "../parts/line.ts";
import { loadLines } from "../parts/run.ts";
import { type Column, tableLines } from "../parts/table.ts";
import { type FeatureView, type StepDraft, stepNames, type TuiState } from "../state.ts";
import { stepBindings, steps } from "../steps.ts";
import {
  bindingsFrom,
  type KeyBinding,
  on,
  type Screen,
  selectBindings,
  type View,
} from "../view.ts";

/** All features of the project, with their next steps. */
export const featuresScreen: Screen = {
  title: "Features",

  bindings({ state }) {
    const { draft, items, selected } = state.features;
    if (draft) return draftBindings(draft);
    const feature = selectedFeature(state);
    return bindingsFrom(
      feature && on("enter", "open", { kind: "open feature", name: feature.name }),
      on("n", "new feature", set("features", { draft: newFeature })),
      feature && nextStepBinding("s", feature),
      stepBindings(state, feature),
      selectBindings(items, ({ name }) => name === selected, {
        select: ({ name }) => set("features", { selected: name }),
      }),
    );
  },

  editing: ({ state }) => draftField(state),

  body({ state, view, columns, rows }) {
    const { items, selected, missing, load } = state.features;
    const below = [
      ...detailLines(state),
      ...missingLines(missing),
      ...loadLines(load, columns),
      ...draftLines(state, view, columns),
    ];
    const none = "No features yet. Press n and describe the first one.";
    const table = tableLines({
      columns: tableColumns,
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
const newFeature: StepDraft = { step: "specify", feature: undefined, text: "" };

export function draftField({ features: { draft } }: TuiState): Editing | undefined {
  if (!draft) return undefined;
  const change = (text: string): Change => set("features", { draft: { ...draft, text } });
  return { id: "draft", text: draft.text, change };
}

export function draftBindings({ step, feature }: StepDraft): readonly KeyBinding[] {
  const label = step === "specify" && feature === undefined ? "create the feature" : `run ${step}`;
  return [
    on("enter", label, { kind: "send draft" }),
    on("esc", "discard", set("features", { draft: undefined })),
  ];
}

export function draftLines(state: TuiState, view: View, columns: number): readonly ScreenLine[] {
  const field = draftField(state);
  const input = state.features.draft && steps[state.features.draft.step].input;
  if (!field || !input) return [];
  const layout = { label: "> ", view, columns, rows: draftRows, placeholder: input.placeholder };
  return [textLine(input.title, "strong"), ...textFieldLines(field, layout)];
}

function selectedFeature({ features: { items, selected } }: TuiState): FeatureView | undefined {
  return items.find(({ name }) => name === selected);
}

export function nextStepBinding(keys: string, feature: FeatureView): KeyBinding | undefined {
  if (feature.phase === "done") return undefined;
  return on(keys, `next step: ${nextStep(feature)}`, { kind: "run step", feature: feature.name });
}

export function nextStep({ phase, run }: FeatureView): string {
  return run && !run.isAtWork ? `resume ${run.step}` : phase;
}

const shortName = ({ name, number }: FeatureView): string =>
  name.startsWith(`${number}-`) ? name.slice(number.length + 1) : name;

const tableColumns: readonly Column<FeatureView>[] = [
  { title: "No.", width: 4, text: ({ number, isActive }) => number + (isActive ? "*" : "") },
  { title: "feature", text: shortName },
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
];

function detailLines(state: TuiState): readonly ScreenLine[] {
  const feature = selectedFeature(state);
  if (!feature) return [];
  const { run, openQuestions } = feature;
  const running = run?.isAtWork && `${run.step} is running`;
  const interrupted = run && !run.isAtWork && `${run.step} was interrupted; s resumes it`;
  const open = openQuestions > 0 && plural(openQuestions, "open question");
  const notes = [running, interrupted, open].filter((text) => typeof text === "string");
  return notes.map((text) => textLine(text, "warning"));
}

function missingLines(lacking: readonly string[]): readonly ScreenLine[] {
  const missing = lacking.filter((tool) => stepNames.some((step) => tool === `speckit.${step}`));
  if (missing.length === 0) return [];
  const text = `! The server does not offer ${missing.join(", ")}; those steps cannot run.`;
  return [textLine(text, "warning")];
}
