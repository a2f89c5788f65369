import { join } from "node:path";
import { sanitize } from "../../base/sanitize.ts";
import {
  fitRows,
  hangingLines,
  type Role,
  type ScreenLine,
  textLine,
  wrapLines,
} from "../parts/line.ts";
import { failureLines } from "../parts/run.ts";
import { firstShown } from "../parts/table.ts";
import type { FeatureState, FeatureView, TuiState } from "../state.ts";
import { stepBindings } from "../steps.ts";
import {
  type BodyOptions,
  bindingsFrom,
  bodyRows,
  type KeyBinding,
  neighbour,
  on,
  type Screen,
  scrollBindings,
} from "../view.ts";
import { draftBindings, draftField, draftLines, nextStep, nextStepBinding } from "./features.ts";

/** One feature: its documents and its next step. */
export const featureScreen: Screen = {
  title: "Feature",

  bindings({ state }) {
    const back = on("esc", "all features", { kind: "go", screen: "features" });
    const { feature: opened } = state;
    const feature = opened && viewOf(state, opened);
    if (state.features.draft) return draftBindings(state.features.draft);
    if (!feature) return [back];
    const { document, text = "" } = opened;
    const page = bodyRows(state) - headRows - 1;
    const count = markdownLines(text, state.size.columns).length;
    return bindingsFrom(
      nextStepBinding("s enter", feature),
      document !== undefined &&
        on("e", "edit", { kind: "edit file", path: join(feature.directory, document) }),
      back,
      documentBindings(feature, opened),
      stepBindings(state, feature),
      scrollBindings(scrollName(opened), state, { page, last: count - page - 1 }),
    );
  },

  editing: ({ state }) => draftField(state),

  body({ rows, ...options }) {
    const { state, view, columns } = options;
    const { feature: opened } = state;
    const feature = opened && viewOf(state, opened);
    if (!feature) return [textLine("No feature is open. Esc shows the list.", "quiet")];
    const draft = draftLines(state, view, columns);
    const room = { ...options, rows: rows - draft.length };
    return [
      titleLine(feature),
      documentsLine(feature, opened, columns),
      [],
      ...fitRows(documentLines(opened, room), room.rows - headRows),
      ...draft,
    ];
  },
};

const headRows = 3;

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

function titleLine(feature: FeatureView): ScreenLine {
  const { name, phase, tasks, openQuestions } = feature;
  const more = [
    tasks && `${tasks.done}/${tasks.total} tasks`,
    openQuestions > 0 && `${openQuestions} open`,
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
function documentsLine(
  { files }: FeatureView,
  { document }: FeatureState,
  columns: number,
): ScreenLine {
  if (files.length === 0) return textLine("No documents yet.", "quiet");
  const width = Math.max(1, Math.floor(columns / 16));
  const first = firstShown(files.indexOf(document ?? ""), files.length, width);
  const names = files
    .slice(first, first + width)
    .flatMap(
      (file): ScreenLine => [
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
  { state, columns, rows: bodyRowCount }: BodyOptions,
): readonly ScreenLine[] {
  const { text, failure, document } = feature;
  if (failure) return failureLines(failure, columns);
  if (text === undefined) return document === undefined ? [] : [textLine("loading …", "quiet")];
  const rows = bodyRowCount - headRows;
  const all = markdownLines(text, columns);
  const at = Math.min(state.scrolls[scrollName(feature)] ?? 0, Math.max(0, all.length - rows));
  const left = all.length - at - rows;
  if (left <= 0) return all.slice(at, at + rows);
  return [...all.slice(at, at + rows - 1), textLine(`↓ ${left + 1} more lines`, "quiet")];
}

/**
 * A Markdown document as lines of a terminal: headings, code and check boxes get a style, and wrapped
 * list items a hanging indent. Every character stays as it is in the file.
 */
export function markdownLines(text: string, columns: number): readonly ScreenLine[] {
  if (last.text === text && last.columns === columns) return last.lines;
  let isCode = false;
  const lines = sanitize(text)
    .split("\n")
    .flatMap((line) => {
      const isFence = /^\s*(?:```|~~~)/.test(line);
      if (isFence) isCode = !isCode;
      return isFence || isCode ? wrapLines(line, columns, "code") : showLine(line, columns);
    });
  last = { text, columns, lines };
  return lines;
}

// Only one document is open at a time, and every frame and key asks for it.
let last: { text: string; columns: number; lines: readonly ScreenLine[] } = {
  text: "",
  columns: 0,
  lines: [],
};

function showLine(line: string, columns: number): readonly ScreenLine[] {
  const [, marks] = /^(#{1,6})\s/.exec(line) ?? [];
  if (marks) return wrapLines(line, columns, marks.length <= 2 ? "title" : "strong");
  const role = line.includes("[NEEDS CLARIFICATION") ? "warning" : "plain";
  const [, sign, box, words = ""] =
    /^(\s*(?:[-*+]|\d+[.)]|>)\s+(?:(\[[ xX]\])\s+)?)(.*)$/.exec(line) ?? [];
  if (sign === undefined) return wrapLines(line, columns, role);
  return hangingLines({ text: sign, role: boxRole(box) }, { text: words, role }, columns);
}

function boxRole(box: string | undefined): Role {
  if (box === undefined) return "accent";
  return box === "[ ]" ? "warning" : "good";
}
