import type { Editing } from "../editing.ts";
import { set } from "../events.ts";
import {
  type ActiveForm,
  formBindings,
  formEditing,
  formLines,
  textFieldLines,
} from "../parts/form.ts";
import { fitRows, type ScreenLine, textLine } from "../parts/line.ts";
import { callResultLines, loadLines, outputBindings } from "../parts/run.ts";
import { nameWidth, tableLines } from "../parts/table.ts";
import { wrapUpTo } from "../parts/text.ts";
import {
  findRun,
  foundTools,
  isAtWork,
  type RunView,
  type ToolView,
  type TuiState,
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

/** All tools of the server: search, fill in a form, call. */
export const toolsScreen: Screen = {
  title: "Tools",

  bindings(snapshot) {
    const { state, view } = snapshot;
    const form = openForm(snapshot);
    if (!form) return listBindings(snapshot);
    const run = runOf(state);
    return bindingsFrom(
      run && isAtWork(run)
        ? on("esc", "cancel the call", { kind: "cancel run", run: run.id })
        : on("esc", "all tools", { kind: "focus", on: focusName, part: "list" }),
      formBindings(form, view, "call"),
      run && on("ctrl+o", "show the run", { kind: "show run", run: run.id }),
      run && outputBindings(run, state, { page: pageOf(state), byLine: false }),
    );
  },

  editing(snapshot) {
    const form = openForm(snapshot);
    if (form) return formEditing(form, snapshot.view);
    return isSearching(snapshot) ? searchField(snapshot.state) : undefined;
  },

  body(options) {
    const form = openForm(options);
    return form ? callLines(form, options) : listLines(options);
  },
};

/** The focus of this screen: the list, its search, or the form of the selected tool. */
const focusName = "tools";

function isSearching({ view }: Pick<Snapshot, "view">): boolean {
  return view.focus[focusName] === "search";
}

interface ToolForm extends ActiveForm {
  readonly tool: ToolView;
}

function openForm({
  state: { tools },
  view,
}: Pick<Snapshot, "state" | "view">): ToolForm | undefined {
  const { form, selected } = tools;
  const tool = tools.items.find(({ name }) => name === selected);
  if (view.focus[focusName] !== "form" || !tool || !form) return undefined;
  return {
    tool,
    id: `tool ${selected}`,
    form,
    fill: (field, text) => ({ kind: "fill tool", field, text }),
    send: { kind: "call tool" },
  };
}

/** The last call, if it was one of the selected tool. */
function runOf(state: TuiState): RunView | undefined {
  const run = findRun(state, state.tools.run);
  return run?.tool === state.tools.selected ? run : undefined;
}

function pageOf(state: TuiState): number {
  return Math.max(1, Math.floor(bodyRows(state) / 2) - 3);
}

function listBindings(snapshot: Snapshot): readonly KeyBinding[] {
  const { state } = snapshot;
  const toList = { kind: "focus", on: focusName, part: "list" } as const;
  const found = foundTools(state.tools);
  const tool = currentTool(state, found);
  const go = (step: number) => () => {
    const next = neighbour(found, (one) => one === tool, step);
    return next && ({ kind: "select tool", name: next.name } as const);
  };
  return bindingsFrom(
    tool &&
      on("enter", "open", [
        { kind: "select tool", name: tool.name },
        { kind: "focus", on: focusName, part: "form" },
      ]),
    !isSearching(snapshot) && on("/", "search", { kind: "focus", on: focusName, part: "search" }),
    (isSearching(snapshot) || state.tools.search !== "") &&
      on("esc", "end the search", [set("tools", { search: "" }), toList]),
    on("up k", "up", go(-1)),
    on("down j", "down", go(1)),
    on("pageup", "page up", go(-pageOf(state))),
    on("pagedown", "page down", go(pageOf(state))),
  );
}

/** The selected tool, or the first that matches the search. */
function currentTool({ tools }: TuiState, found: readonly ToolView[]): ToolView | undefined {
  return found.find(({ name }) => name === tools.selected) ?? found[0];
}

function searchField({ tools }: TuiState): Editing {
  const change: Editing["change"] = (search) => set("tools", { search });
  return { id: "search", text: tools.search, change };
}

function listLines(options: BodyOptions): readonly ScreenLine[] {
  const { state, columns, rows } = options;
  const view = isSearching(options) ? options.view : undefined;
  const { items, load } = state.tools;
  const found = foundTools(state.tools);
  const current = currentTool(state, found);
  const field = textFieldLines(searchField(state), {
    label: "search: ",
    view,
    columns,
    rows: 1,
    placeholder: view ? "a word of the name or description" : "press / to search",
  });
  const foot = [
    textLine(`${found.length} of ${items.length} tools`, "quiet"),
    ...loadLines(load, columns),
  ];
  const table = tableLines({
    columns: [
      { title: "tool", width: nameWidth(items, columns), text: "name", role: "accent" },
      {
        title: "",
        width: 1,
        text: ({ isDestructive }) => (isDestructive ? "!" : ""),
        role: "warning",
      },
      { title: "description (! destructive)", text: describeTool },
    ],
    items: found,
    isSelected: (tool) => tool === current,
    width: columns,
    rows: Math.max(2, rows - foot.length - 1),
    empty: "No matching tools.",
  });
  return [...fitRows(field, 1), ...table, ...foot];
}

function describeTool({ title, description }: ToolView): string {
  const text = title === undefined ? description : `${title}: ${description}`;
  return text.split("\n")[0] ?? "";
}

function callLines(
  form: ToolForm,
  { state, view, now, columns, rows }: BodyOptions,
): readonly ScreenLine[] {
  const { name, description, isDestructive } = form.tool;
  const run = runOf(state);
  const about = wrapUpTo(description, columns, Math.max(3, Math.floor(rows / 5)));
  const head: readonly ScreenLine[] = [
    [
      { text: name, role: "title" },
      { text: isDestructive ? "  ! destructive" : "", role: "warning" },
    ],
    ...about.map((text) => textLine(text, "quiet")),
    [],
  ];
  const room = rows - head.length;
  const fields = formLines(form, { view, columns, rows: run ? Math.floor(room / 2) : room });
  const resultRows = room - fields.length;
  const result = run ? callResultLines(run, { state, now, columns, rows: resultRows }) : [];
  return [...head, ...fields, ...result];
}
