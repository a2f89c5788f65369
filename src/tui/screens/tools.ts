import type { Editing } from "../editing.ts";
import {
  type ActiveForm,
  formBindings,
  formEditing,
  formLines,
  textFieldLines,
} from "../parts/form.ts";
import { fitRows, type Line, textLine } from "../parts/line.ts";
import { outputBindings } from "../parts/output.ts";
import { callResultLines, loadLines } from "../parts/run.ts";
import { type Column, nameWidth, tableLines } from "../parts/table.ts";
import { wrapUpTo } from "../parts/text.ts";
import {
  findRun,
  foundTools,
  isAtWork,
  type RunView,
  type ToolsState,
  type ToolView,
  type TuiState,
} from "../state.ts";
import {
  type BodyOptions,
  bindingsFrom,
  bodyRows,
  cursorOf,
  type KeyBinding,
  neighbour,
  on,
  type Screen,
  type Snapshot,
} from "../view.ts";

/** All tools of the server: search, fill in a form, call. */
export const toolsScreen: Screen = { name: "tools", title: "Tools", bindings, editing, body };

const searchId = "search";
/** The focus of this screen: the list, or the form of the selected tool. */
const focusName = "tools";

function openTool({ state, view }: Pick<Snapshot, "state" | "view">): ToolView | undefined {
  if (view.focus[focusName] !== "form") return undefined;
  return state.tools.items.find(({ name }) => name === state.tools.selected);
}

function formOf({ tools: { form, selected } }: TuiState): ActiveForm | undefined {
  return (
    form && {
      id: `tool ${selected}`,
      form,
      fill: (field, text) => ({ kind: "fill tool", field, text }),
      send: { kind: "call tool" },
    }
  );
}

/** The last call, if it was one of the selected tool. */
function runOf(state: TuiState): RunView | undefined {
  const run = findRun(state, state.tools.run);
  return run?.tool === state.tools.selected ? run : undefined;
}

/** The selected tool, or the first that matches the search. */
function currentTool(tools: ToolsState): ToolView | undefined {
  const found = foundTools(tools);
  return found.find(({ name }) => name === tools.selected) ?? found[0];
}

function bindings(snapshot: Snapshot): readonly KeyBinding[] {
  const { state, view } = snapshot;
  const form = formOf(state);
  if (!openTool(snapshot) || !form) return listBindings(state);
  const run = runOf(state);
  return bindingsFrom(
    run && isAtWork(run)
      ? on("esc", "cancel the call", () => ({ kind: "cancel run", run: run.id }))
      : on("esc", "all tools", () => ({ kind: "focus", on: focusName, part: "list" })),
    formBindings(form, view, "call"),
    run && on("ctrl+o", "show the run", () => ({ kind: "show run", run: run.id })),
    run && outputBindings(run, state, { page: pageOf(state), byLine: false }),
  );
}

function pageOf(state: TuiState): number {
  return Math.max(1, Math.floor(bodyRows(state) / 2) - 3);
}

function listBindings(state: TuiState): readonly KeyBinding[] {
  const tool = currentTool(state.tools);
  const go = (step: number) => () => {
    const next = neighbour(foundTools(state.tools), ({ name }) => name === tool?.name, step);
    return next && ({ kind: "select tool", name: next.name } as const);
  };
  return bindingsFrom(
    tool &&
      on("enter", "open", () => [
        { kind: "select tool", name: tool.name },
        { kind: "focus", on: focusName, part: "form" },
      ]),
    state.tools.search !== "" &&
      on("esc", "clear the search", () => ({ kind: "search tools", text: "" })),
    on("up", "up", go(-1)),
    on("down", "down", go(1)),
    on("pageup", "page up", go(-pageOf(state))),
    on("pagedown", "page down", go(pageOf(state))),
  );
}

function editing(snapshot: Snapshot): Editing | undefined {
  const { state, view } = snapshot;
  const form = formOf(state);
  if (openTool(snapshot) && form) return formEditing(form, view);
  const change = (text: string) => ({ kind: "search tools", text }) as const;
  return { id: searchId, isSearch: true, text: state.tools.search, change };
}

function body(options: BodyOptions): readonly Line[] {
  const tool = openTool(options);
  return tool ? callLines(tool, options) : listLines(options);
}

function listLines({ state: { tools }, view, columns, rows }: BodyOptions): readonly Line[] {
  const found = foundTools(tools);
  const current = currentTool(tools);
  const field = textFieldLines({
    label: "search: ",
    text: tools.search,
    cursor: cursorOf(view, { id: searchId, text: tools.search }),
    columns,
    rows: 1,
    placeholder: "type to filter",
  });
  const foot = [
    textLine(`${found.length} of ${tools.items.length} tools`, "quiet"),
    ...loadLines(tools.load, columns),
  ];
  const table = tableLines({
    columns: columnsOf(tools.items, columns),
    items: found,
    isSelected: (tool) => tool === current,
    width: columns,
    rows: Math.max(2, rows - foot.length - 1),
    empty: "No matching tools.",
  });
  return [...fitRows(field, 1), ...table, ...foot];
}

function columnsOf(tools: readonly ToolView[], width: number): readonly Column<ToolView>[] {
  const describe = ({ title, description }: ToolView): string =>
    title === undefined ? description : `${title}: ${description}`;
  return [
    {
      title: "tool",
      width: nameWidth(tools, width),
      text: ({ name }) => name,
      role: () => "accent",
    },
    {
      title: "",
      width: 1,
      text: ({ isDestructive }) => (isDestructive ? "!" : ""),
      role: () => "warning",
    },
    { title: "description (! destructive)", text: (tool) => describe(tool).split("\n")[0] ?? "" },
  ];
}

function callLines(
  tool: ToolView,
  { state, view, now, columns, rows }: BodyOptions,
): readonly Line[] {
  const active = formOf(state);
  const run = runOf(state);
  const description = wrapUpTo(tool.description, columns, Math.max(3, Math.floor(rows / 5)));
  const head: readonly Line[] = [
    [
      { text: tool.name, role: "title" },
      { text: tool.isDestructive ? "  ! destructive" : "", role: "warning" },
    ],
    ...description.map((text) => textLine(text, "quiet")),
    [],
  ];
  const room = rows - head.length;
  const formRows = run ? Math.floor(room / 2) : room;
  const form = active ? formLines(active, { view, columns, rows: formRows }) : [];
  const result = run ? callResultLines(run, { state, now, columns, rows: room - form.length }) : [];
  return [...head, ...form, ...result];
}
