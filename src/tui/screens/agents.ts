import type { Editing } from "../editing.ts";
import { textFieldLines } from "../parts/form.ts";
import { type Line, textLine } from "../parts/line.ts";
import { outputBindings } from "../parts/output.ts";
import { callResultLines, loadLines } from "../parts/run.ts";
import { type Column, nameWidth, tableLines } from "../parts/table.ts";
import { wrapUpTo } from "../parts/text.ts";
import { type AgentsState, findRun, isAtWork, type ToolView } from "../state.ts";
import {
  type BodyOptions,
  bindingsFrom,
  bodyRows,
  cursorOf,
  type KeyBinding,
  on,
  type Screen,
  type Snapshot,
  selectBindings,
} from "../view.ts";

/** Agents take a task in plain words; their progress is shown below it. */
export const agentsScreen: Screen = { name: "agents", title: "Agents", bindings, editing, body };

const taskId = "task";
const taskRows = 3;
const aboutRows = 8;

function bindings({ state }: Snapshot): readonly KeyBinding[] {
  const { items, selected, task } = state.agents;
  const run = findRun(state, state.agents.run);
  const page = Math.max(1, Math.floor(bodyRows(state) / 3));
  const isReady = selected !== undefined && task.trim() !== "";
  return bindingsFrom(
    isReady && on("enter", "ask", () => ({ kind: "ask agent" })),
    run && isAtWork(run) && on("esc", "cancel", () => ({ kind: "cancel run", run: run.id })),
    selectBindings(items, ({ name }) => name === selected, {
      select: ({ name }) => ({ kind: "select agent", name }),
      letters: false,
    }),
    run && on("ctrl+o", "show the run", () => ({ kind: "show run", run: run.id })),
    run && outputBindings(run, state, { page, byLine: false }),
  );
}

function editing({ state }: Snapshot): Editing {
  return { id: taskId, text: state.agents.task, change: (text) => ({ kind: "type task", text }) };
}

function body({ state, view, now, columns, rows }: BodyOptions): readonly Line[] {
  const { agents } = state;
  const run = findRun(state, agents.run);
  const field = textFieldLines({
    label: "task: ",
    text: agents.task,
    cursor: cursorOf(view, { id: taskId, text: agents.task }),
    columns,
    rows: taskRows,
    placeholder: "what should the agent do?",
  });
  const loading = loadLines(agents.load, columns);
  const about = run ? [] : aboutLines(agents, columns);
  const otherRows = field.length + loading.length + about.length + 1;
  const tableRows = run
    ? Math.min(agents.items.length + 1, Math.floor(rows / 3))
    : rows - otherRows;
  const table = tableLines({
    columns: columnsOf(agents.items, columns),
    items: agents.items,
    isSelected: ({ name }) => name === agents.selected,
    width: columns,
    rows: Math.max(2, tableRows),
    empty:
      agents.load.kind === "loaded"
        ? "The server offers no agents. `guildhall build` creates them."
        : "",
  });
  const result = run
    ? callResultLines(run, { state, now, columns, rows: rows - tableRows - otherRows })
    : [];
  return [...table, [], ...about, ...field, ...loading, ...result];
}

function columnsOf(agents: readonly ToolView[], width: number): readonly Column<ToolView>[] {
  return [
    {
      title: "agent",
      width: nameWidth(agents, width),
      text: ({ name }) => name,
      role: () => "accent",
    },
    { title: "description", text: ({ description }) => description.split("\n")[0] ?? "" },
  ];
}

/** The full description of the selected agent, while no result needs the room. */
function aboutLines({ items, selected }: AgentsState, columns: number): readonly Line[] {
  const agent = items.find(({ name }) => name === selected);
  if (!agent) return [];
  const lines = wrapUpTo(agent.description, columns, aboutRows);
  return [...lines.map((text) => textLine(text, "quiet")), []];
}
