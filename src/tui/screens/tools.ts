import type { FormInHand } from "../form-keys.ts";
import { formBindings, formEditing } from "../form-keys.ts";
import { callResultLines } from "../parts/call-result.ts";
import { formLines } from "../parts/form.ts";
import { fitRows, type Line } from "../parts/line.ts";
import { outputBindings } from "../parts/output.ts";
import { isAtWork, loadLines } from "../parts/run-state.ts";
import { type Column, nameWidth, tableLines } from "../parts/table.ts";
import { textFieldLines } from "../parts/text-field.ts";
import { wrapUpTo } from "../parts/width.ts";
import { findRun, foundTools, type RunView, type ToolView, type TuiState } from "../state.ts";
import { type Binding, cursorOf, type Moment, on } from "../view.ts";
import { type BodyProps, bodyRows, neighbour, type Screen } from "./screen.ts";

/** Every tool of the server: found by typing, called with a form. */
export const toolsScreen: Screen = { name: "tools", title: "Tools", bindings, editing, body };

const searchId = "search";
/** The tool whose form is open; the others are a list that the search narrows. */
const part = "tools";

function openTool({ state, view }: Pick<Moment, "state" | "view">): ToolView | undefined {
  return view.focus[part] === "form"
    ? state.tools.items.find(({ name }) => name === state.tools.selected)
    : undefined;
}

function handOf({ tools }: TuiState): FormInHand | undefined {
  const { form, selected } = tools;
  return (
    form && {
      id: `tool ${selected}`,
      form,
      fill: (field, text) => ({ kind: "fill tool", field, text }),
      send: { kind: "call tool" },
    }
  );
}

/** The last call, where it was of the tool that is shown. */
function runOf(state: TuiState): RunView | undefined {
  const run = findRun(state, state.tools.run);
  return run?.tool === state.tools.selected ? run : undefined;
}

function bindings(moment: Moment): readonly Binding[] {
  const { state, view } = moment;
  const hand = handOf(state);
  if (!openTool(moment) || !hand) return listBindings(state);
  const run = runOf(state);
  const isRunning = run !== undefined && isAtWork(run);
  return [
    isRunning
      ? on("esc", "cancel the call", () => ({ kind: "cancel run", run: run.id }))
      : on("esc", "all tools", () => ({ kind: "focus", on: part, part: "list" })),
    ...formBindings(hand, view, "call"),
    ...(run
      ? [
          on("ctrl+o", "show the run", () => ({ kind: "show run", run: run.id })),
          ...outputBindings(run, state, { page: pageOf(state), byLine: false }),
        ]
      : []),
  ];
}

function pageOf(state: TuiState): number {
  return Math.max(1, Math.floor(bodyRows(state) / 2) - 3);
}

function listBindings(state: TuiState): readonly Binding[] {
  const found = foundTools(state.tools);
  const selected = found.find(({ name }) => name === state.tools.selected) ?? found[0];
  const go = (step: number) => () => {
    const next = neighbour(found, ({ name }) => name === selected?.name, step);
    return next && ({ kind: "select tool", name: next.name } as const);
  };
  return [
    ...(selected
      ? [
          on("enter", "open", () => [
            { kind: "select tool", name: selected.name },
            { kind: "focus", on: part, part: "form" },
          ]),
        ]
      : []),
    ...(state.tools.search === ""
      ? []
      : [on("esc", "clear the search", () => ({ kind: "search tools", text: "" }))]),
    on("up", "up", go(-1)),
    on("down", "down", go(1)),
    on("pageup", "page up", go(-pageOf(state))),
    on("pagedown", "page down", go(pageOf(state))),
  ];
}

function editing(moment: Moment): ReturnType<NonNullable<Screen["editing"]>> {
  const hand = handOf(moment.state);
  if (openTool(moment) && hand) return formEditing(hand, moment.view);
  return {
    id: searchId,
    isSearch: true,
    text: moment.state.tools.search,
    change: (text) => ({ kind: "search tools", text }),
  };
}

function body(props: BodyProps): readonly Line[] {
  const tool = openTool(props);
  return tool ? callLines(tool, props) : listLines(props);
}

function listLines({ state, view, columns, rows }: BodyProps): readonly Line[] {
  const { tools } = state;
  const found = foundTools(tools);
  const selected = found.find(({ name }) => name === tools.selected) ?? found[0];
  const field = textFieldLines({
    label: "search: ",
    text: tools.search,
    cursor: cursorOf(view, { id: searchId, text: tools.search }),
    columns,
    rows: 1,
    placeholder: "type to narrow the list",
  });
  const foot: readonly Line[] = [
    [{ text: `${found.length} of ${tools.items.length} tools`, role: "quiet" }],
    ...loadLines(tools.load, columns),
  ];
  const tableRows = Math.max(2, rows - foot.length - 1);
  const table = tableLines({
    columns: columnsOf(tools.items, columns),
    items: found,
    isSelected: (tool) => tool === selected,
    width: columns,
    rows: tableRows,
    empty: "Nothing fits.",
  });
  return [...fitRows(field, 1), ...table, ...foot];
}

function columnsOf(tools: readonly ToolView[], width: number): readonly Column<ToolView>[] {
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
    {
      title: "what it does (! may destroy)",
      text: ({ title, description }) =>
        (title === undefined ? description : `${title}: ${description}`).split("\n")[0] ?? "",
    },
  ];
}

function callLines(
  tool: ToolView,
  { state, view, now, columns, rows }: BodyProps,
): readonly Line[] {
  const hand = handOf(state);
  const run = runOf(state);
  const head: readonly Line[] = [
    [
      { text: tool.name, role: "title" },
      ...(tool.isDestructive ? [{ text: "  ! may destroy", role: "warning" as const }] : []),
    ],
    ...wrapUpTo(tool.description, columns, Math.max(3, Math.floor(rows / 5))).map(
      (text): Line => [{ text, role: "quiet" }],
    ),
    [],
  ];
  const room = rows - head.length;
  const form = hand
    ? formLines(hand, { view, columns, rows: run ? Math.floor(room / 2) : room })
    : [];
  const result = run ? callResultLines({ run, state, now, columns, rows: room - form.length }) : [];
  return [...head, ...form, ...result];
}
